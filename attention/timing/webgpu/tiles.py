"""Tiles of the WebGPU kernels: how many queries, keys and channels a workgroup and each of its threads computes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tile:
    """The shape of a workgroup: `rows` by `columns` threads, each with 4 `queries` queries and 4 `keys` keys.

    `channels`: channels of keys in workgroup memory at a time. `part`: of 4 keys of a thread, those whose weights are in
    workgroup memory at a time. `keep`: all channels of the queries stay in workgroup memory. `unroll`: steps of a sum per
    iteration.
    """

    rows: int = 8
    columns: int = 8
    queries: int = 2
    keys: int = 2
    channels: int = 16
    part: int = 2
    keep: bool = False
    unroll: int = 4

    @property
    def name(self) -> str:
        """A short name: threads, queries and keys per thread, then channels, part and unrolled steps."""
        kept = " kept" if self.keep else ""
        sizes = f"{self.rows}x{self.columns} threads of {4 * self.queries}x{4 * self.keys}"
        return f"{sizes}, {self.channels} {self.part} {self.unroll}{kept}"

    @property
    def label(self) -> str:
        """What a reader is told of it."""
        return f"{self.rows} by {self.columns} threads, each with {4 * self.queries} queries by {4 * self.keys} keys"

    @property
    def tile_queries(self) -> int:
        """Queries of a workgroup."""
        return 4 * self.rows * self.queries

    def values(self, d_head: int, half: bool) -> dict[str, int | str]:
        """The values of the templates for this tile; see `fits`."""
        threads, d4 = self.rows * self.columns, d_head // 4
        bq4, bk4, kc = self.rows * self.queries, self.columns * self.keys, self.columns * self.part
        query4 = d4 if self.keep else self.channels // 4
        named = {
            "HALF": int(half),
            "D4": d4,
            "ROWS": self.rows,
            "COLS": self.columns,
            "THREADS": threads,
            "TM": self.queries,
            "TG": self.keys,
            "TX": d4 // self.columns,
            "BQ4": bq4,
            "BK4": bk4,
            "Q4": query4,
            "DK": self.channels,
            "KC": kc,
            "JC": self.part,
            "HALVES": 4 // self.part,
            "UNROLL": self.unroll,
            "KEEP": int(self.keep),
            "QUERIES": "kept" if self.keep else "left",
            "KEPT": bq4 * d_head,
            "LEFT": bq4 * max(kc, self.columns, 0 if self.keep else self.channels),
            "RIGHT": max(bk4 * self.channels, kc * d4),
            "QUERY_LOADS": -(-bq4 * query4 // threads),
            "KEY_LOADS": -(-bk4 * self.channels // 4 // threads),
            "VALUE_LOADS": -(-kc * d4 // threads),
            "WEIGHT_LOADS": -(-bq4 * kc // 4 // threads),
            "SOFTMAX": SOFTMAX,
        }
        elements = {f"E{h}{j}": h * self.part + j for h in range(4 // self.part) for j in range(self.part)}
        return {**named, **elements}

    def memory(self, d_head: int) -> int:
        """Bytes of workgroup memory."""
        values = self.values(d_head, False)
        return 16 * (int(values["LEFT"]) + int(values["RIGHT"]) + (int(values["KEPT"]) if self.keep else 0))

    def fits(self, d_head: int) -> bool:
        """Whether the tile divides this width."""
        return d_head % (4 * self.columns) == 0 and d_head % self.channels == 0


def decode_values(d_head: int, half: bool, subgroups: bool = False) -> dict[str, int | str]:
    """The values of the templates that decode: one query against all keys, with subgroup operations or without."""
    d4 = d_head // 4
    sizes = {"D4": d4, "OWN": d4 // 4, "THREADS": 4 * DECODING_SETS, "SETS": DECODING_SETS, "OUTS": DECODING_SETS * d4}
    return {"HALF": int(half), "SUBGROUPS": int(subgroups), "SOFTMAX": SOFTMAX, **sizes}


D_HEADS = (32, 64, 96, 128)
SOFTMAX = 256  # threads of a row of scores
DECODING_SETS = 16  # sets of four threads of a workgroup, each with a key at a time
DECODING = f"{4 * DECODING_SETS} threads for one query"  # what a reader is told of it
# Of 17 tiles that were tried on an H100, the two fastest in 16 KiB of workgroup memory, and two for GPUs with fewer registers
TILES = (Tile(rows=16), Tile(), Tile(rows=16, queries=1), Tile(queries=1, keys=1))
SMALL = Tile(queries=1, keys=1, channels=4, part=1, unroll=1)  # the shortest text, for tests
