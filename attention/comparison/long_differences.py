"""B minus A of long sequences, a block of pairs at a time, in memory of the order of the tokens.

A first walk over each side finds the log-sum-exps of its rows (`log_sum_exps`). A second one computes the weights of both
sides from them, block by block, subtracts these in their own precision, and keeps one pair per tile (`subtract`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import pairwise
from math import lcm
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention.comparison.pooling import Differences
from attention.maps.blocks import Blocks, KeyRange, classify_blocks, edges
from attention.maps.exact import each_head
from attention.maps.jobs import report_progress, results
from attention.maps.picture import HeadMaps, vectors
from attention.maps.pooling import ceil
from attention.maps.quadtree import Ends
from attention.maps.scratch import room
from attention.maps.sizes import HEIGHT, STEP, fitting, sizes, working
from attention.maps.tiles import stretches
from attention.maps.zoom import fill

VECTOR = 16  # float32 numbers that a CPU adds at once
MASKED = -3  # order of a pair whose difference is zero: masked on both sides, visible on both (-2), or on one (-1)
Progress = Callable[[float], object] | None
Cancels = Callable[[], bool] | None


class LongSide(NamedTuple):
    """One head of one side: its log-sum-exps, as `maps` of a single tile, and the query and key `(1 n d)` that they are of."""

    maps: HeadMaps
    query: Float[Tensor, "1 n d"]
    key: Float[Tensor, "1 n d"]


class Subtracted(NamedTuple):
    """The `cells` of one head, and of each of its queries the sums over the keys of |b - a| and of b - a, in float64."""

    cells: Differences
    sums: Float[Tensor, "2 q"]


def of_head(
    head: int, group: range, query: Float[Tensor, "h n d"], key: Float[Tensor, "g n d"]
) -> tuple[Tensor, Tensor]:
    """Returns the query and the key of a head as `(1 n d)`, from those of a `group` of heads."""
    at = head - group.start
    return query[at : at + 1], key[at * len(key) // len(query)][None]


def log_sum_exps(
    head: int,
    heads: int,
    query: Float[Tensor, "1 n d"],
    key: Float[Tensor, "1 n d"],
    options: dict[str, Any],
    executor: Executor | None = None,
    progress: Progress = None,
    cancelled: Cancels = None,
) -> HeadMaps:
    """Returns the map of one of `heads` heads without a picture; `options` are arguments of `head_maps`.

    Raises what `head_maps` raises.
    """
    watched = {"executor": executor, "progress": progress, "cancelled": cancelled}
    no_picture = {"held": range(head, head + 1), "of": heads, "side": 1, "stats": False, "pool": "mean"}
    return next(each_head(query, key, **(options | no_picture | watched)))


def subtract(
    a: LongSide,
    b: LongSide,
    rows: Ends,
    cols: Ends,
    side: int,
    executor: Executor | None = None,
    progress: Progress = None,
    cancelled: Cancels = None,
) -> Subtracted:
    """Returns B minus A of one head, in a window of at most `side` cells per side; blocks that both mask are skipped.

    Tiles are those of `pool_differences`, counted from the first row and column of the window. Weights are float64 where a map
    is, otherwise float32. Raises ValueError for sides of different lengths, and Cancelled.
    """
    if a.maps.tokens != b.maps.tokens:
        raise ValueError(f"A has {a.maps.tokens:,} tokens and B has {b.maps.tokens:,}: both need equally many.")
    tile = ceil(max(rows[1] - rows[0], cols[1] - cols[0]), side)
    dtype = torch.promote_types(*(_precision(each) for each in (a, b)))
    group = _rows_together(tile)
    jobs = [
        _Band((a, b), (first, min(first + group, rows[1])), rows, cols, tile, dtype) for first in range(*rows, group)
    ]
    done = results(jobs[::-1], [len(jobs)], executor, cancelled, _subtract_rows)
    parts = list(report_progress(done, len(jobs), progress))[::-1]
    cells = {name: torch.cat([part.cells[name] for part in parts], 1).T[None].contiguous() for name in _FIELDS}
    queries, keys = rows[1] - rows[0], cols[1] - cols[0]
    return Subtracted(
        Differences(**cells, tile=tile, queries=queries, keys=keys), torch.cat([part.sums for part in parts], 1)
    )


def _rows_together(tile: int) -> int:
    """Returns the rows of a band: whole rows of tiles and, as torch is slow otherwise, a multiple of its vectors' length."""
    if tile > HEIGHT:
        return tile
    step = lcm(tile, VECTOR)
    return step * max(1, HEIGHT // step)


def _precision(side: LongSide) -> torch.dtype:
    q, k = vectors(side.maps, side.maps.first, side.query, side.key)
    return working(q, k, side.maps.scoring)


@dataclass(frozen=True, eq=False)
class _Band:
    """Some `part` of the rows of the window: whole rows of tiles."""

    sides: tuple[LongSide, LongSide]
    part: Ends
    rows: Ends
    cols: Ends
    tile: int
    dtype: torch.dtype


_FIELDS = {
    "change": torch.float32,
    "a": torch.float32,
    "b": torch.float32,
    "in_a": torch.bool,
    "in_b": torch.bool,
    "place": torch.int64,
}


class _Found(NamedTuple):
    """The fields of `Differences` by tile, each `(columns, rows)`, and the sums of the rows."""

    cells: dict[str, Tensor]
    sums: Float[Tensor, "2 r"]


class _Piece(NamedTuple):
    """Adjacent keys of a block of rows: on each side, whether pairs there may be visible (`seen`) and masked (`cut`)."""

    start: int
    stop: int
    seen: list[bool]
    cut: list[bool]


def _pieces(blocks: list[Blocks], row: int, widest: int) -> Iterator[_Piece]:
    """Yields the keys that one row of blocks attends to on either side, in pieces of up to `widest` keys."""
    piece = None
    seen, cut = (torch.stack([getattr(each, name)[row] for each in blocks], 1).tolist() for name in ("seen", "cut"))
    for (left, right), *classes in zip(pairwise(blocks[0].cols), seen, cut, strict=True):
        if piece is not None and (list(piece[2:]) != classes or right - piece.start > widest):
            yield piece
            piece = None
        if any(classes[0]):
            piece = _Piece(left if piece is None else piece.start, right, *classes)
    if piece is not None:
        yield piece


def _subtract_rows(band: _Band) -> _Found:
    """Computes the rows of a band."""
    first, last = band.part
    down = edges(band.part, HEIGHT if band.tile > HEIGHT else last - first)  # blocks end where tiles do
    across = edges(band.cols, fitting(STEP, band.tile))
    scorings = [each.maps.scoring for each in band.sides]
    blocks = [classify_blocks(each.rule, band.sides[0].maps.tokens, each.span, down, across) for each in scorings]
    shape = ceil(band.cols[1] - band.cols[0], band.tile), ceil(last - first, band.tile)
    order = torch.full(shape, float(MASKED), dtype=band.dtype)
    found = _Found(
        {name: torch.zeros(shape, dtype=dtype) for name, dtype in _FIELDS.items()},
        torch.zeros(2, last - first, dtype=torch.float64),
    )
    with torch.inference_mode():
        for row, ends in enumerate(pairwise(down.tolist())):
            widest = max(STEP, sizes(band.dtype).cells // (ends[1] - ends[0]))
            for piece in _pieces(blocks, row, widest):
                _subtract_piece(band, piece, range(*ends), order, found)
    return found


def _subtract_piece(band: _Band, piece: _Piece, rows: range, order: Tensor, found: _Found) -> None:
    """Subtracts a block of pairs, adds it to the sums of its rows, and keeps the first pairs of its tiles."""
    a, b = (_weights(side, at, piece, rows, band.dtype) for at, side in enumerate(band.sides))
    change = torch.sub(b, a, out=_space("change", piece, rows, band.dtype))
    size = torch.abs(change, out=_space("size", piece, rows, band.dtype))
    own = slice(rows.start - band.part[0], rows.stop - band.part[0])
    found.sums[0, own] += size.sum(0)
    found.sums[1, own] += change.sum(0)
    in_a, in_b = (_visible(side, at, piece, rows) for at, side in enumerate(band.sides))
    if in_a.ndim or in_b.ndim:
        size = torch.where(size > 0, size, _rank(in_a, in_b).to(size.dtype))
    fields = {"change": change, "a": a, "b": b, "in_a": in_a, "in_b": in_b}
    wide, high, keys = len(rows), min(band.tile, len(rows)), piece.start - band.cols[0]
    top = (rows.start - band.part[0]) // band.tile
    for column, start, stop, tall in stretches(keys, len(size), band.tile):
        best, key, row = _first_of_tiles(size[start:stop].view(-1, tall, wide), high)
        key += start
        if not in_a.ndim and not in_b.ndim:
            best = torch.where(best > 0, best, _rank(in_a, in_b).to(best.dtype))
        cells = {name: each[key, row] if each.ndim else each for name, each in fields.items()}
        cells["place"] = (rows.start - band.rows[0] + row) % band.tile * band.tile + (keys + key) % band.tile
        where = slice(column, column + len(best)), slice(top, top + best.shape[1])
        better = best > order[where]
        order[where] = torch.where(better, best, order[where])
        for name, each in found.cells.items():
            each[where] = torch.where(better, cells[name].to(each.dtype), each[where])


def _first_of_tiles(size: Float[Tensor, "p t r"], high: int) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the largest number of each tile of `t` keys x `high` rows, with its key and row, each `(p q)`.

    Keys are pooled first, as torch vectorises that; only the rows that have the numbers are searched for their keys.
    """
    tall = size.shape[1]
    best, at = F.max_pool2d(size.amax(1)[None], (1, high), ceil_mode=True, return_indices=True)
    rows = at[0] % size.shape[2]
    keys = size.gather(2, rows[:, None].expand(-1, tall, -1)).argmax(1)
    return best[0], torch.arange(len(size))[:, None] * tall + keys, rows


def _space(name: str, piece: _Piece, rows: range, dtype: torch.dtype) -> Float[Tensor, "w r"]:
    shape = piece.stop - piece.start, len(rows)
    return room(f"difference {name}", shape[0] * shape[1], torch.empty(0, dtype=dtype)).view(shape)


def _weights(side: LongSide, at: int, piece: _Piece, rows: range, dtype: torch.dtype) -> Float[Tensor, "w r"]:
    """Returns the weights of one side, key by key."""
    weights = _space("ab"[at], piece, rows, dtype)
    if not piece.seen[at]:
        return weights.zero_()
    ends = piece.start, piece.stop
    fill(side.maps, side.query, side.key, rows, KeyRange(*ends, (ends,) if piece.cut[at] else ()), weights.mT[None])
    return weights


def _visible(side: LongSide, at: int, piece: _Piece, rows: range) -> Bool[Tensor, "w r"] | Bool[Tensor, ""]:
    """Returns which pairs of one side are visible; a single value if it is that of all."""
    if not piece.cut[at]:
        return torch.tensor(piece.seen[at])
    places, keys = (torch.arange(each.start, each.stop, dtype=torch.int32) for each in (rows, piece))
    return side.maps.scoring.sees(places[None], keys[:, None], side.maps.tokens, side.query)


def _rank(in_a: Bool[Tensor, "..."], in_b: Bool[Tensor, "..."]) -> Int[Tensor, "..."]:
    """Returns the order of pairs whose difference is zero."""
    return (in_a ^ in_b).to(torch.int8) + (in_a | in_b).to(torch.int8) + MASKED
