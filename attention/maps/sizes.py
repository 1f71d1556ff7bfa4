"""How a map is divided: the precision of its scores, blocks of rows, pieces of keys, and jobs.

A block of rows is multiplied with its keys in pieces, and several passes are made over each piece. A piece should
stay near the cache that a core has to itself, which is read from the CPU (runtime/processor.py), but take long enough
to be worth its calls.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.maps.blocks import Blocks, classify_blocks, edges
from attention.maps.pooling import length
from attention.maps.quadtree import Ends
from attention.maps.scoring import Scoring
from attention.masks import Rule
from attention.runtime import processor

PRECISE = 4096  # up to this many tokens in float64: it costs milliseconds, and every number is accurate to 1e-6
FEW = 2048  # up to this many tokens every head is float64; up to PRECISE, heads whose scores may exceed MILD
MILD = 16.0  # such a head in float32 has weights accurate to 1e-6 as well, but lse and entropy only to 1e-5
HEIGHT, STEP = 512, 128  # rows of a block, and columns from one edge to the next, on a CPU
LOW = 96  # rows of a block whose scores are all held: 6 MB of float32 for 16,384 keys
SMALLEST, LARGEST = 2**21, 2**22  # bytes of a piece: with smaller ones, threads wait for each other between calls
TALL, WIDE, ROOMY = 4096, 2048, 2**27  # rows, columns and bytes of a piece on an accelerator, for float32
BAND = 2**26  # cells of a job: a tenth of a second on two cores, so that a cancelled map ends soon
SHARES, JOB = 16, 2**20  # smallest number of jobs per head, unless they would have fewer cells than JOB


class Sizes(NamedTuple):
    """Rows of a block, keys from one edge to the next, and cells of a piece."""

    height: int
    step: int
    cells: int


def sizes(dtype: torch.dtype, device: torch.device | str = "cpu", held: bool = False) -> Sizes:
    """The sizes that suit scores of a dtype on a device; `held`: whether all scores of a block of rows are held at once."""
    if torch.device(device).type == "cpu":
        return Sizes(LOW if held else HEIGHT, STEP, piece() // dtype.itemsize)
    return Sizes(TALL * 4 // dtype.itemsize, WIDE, ROOMY // dtype.itemsize)


def piece() -> int:
    """Bytes of the scores of a piece on this CPU: half of a large level-2 cache, as a product needs some of it too.

    Pieces twice as large as a level-2 cache of 1 MB, in blocks twice as tall, took 0.6 to 0.85 of the time: two
    threads that compute pieces of 0.3 ms each wait for the interpreter at the end of every piece.
    """
    return min(max(processor.caches().get(2, 0) // 2, SMALLEST), LARGEST)


def job(tokens: int, rows: int) -> int:
    """Cells of a job if a map has `tokens` keys and `rows` rows."""
    return min(BAND, max(JOB, tokens * rows // SHARES))


def precision(query: Float[Tensor, "*h n d"]) -> torch.dtype:
    """The dtype in which parts of a square are computed: float64 up to PRECISE tokens, or for a query of float64."""
    return torch.float64 if query.shape[-2] <= PRECISE or query.dtype == torch.float64 else torch.float32


def working(
    query: Float[Tensor, "n d"], key: Float[Tensor, "n d"], scoring: Scoring, bound: float | None = None
) -> torch.dtype:
    """The dtype of the whole map of a head: that of `precision`, or float32 if mild scores make it as accurate.

    `bound`: an upper bound of the scores, if the caller knows it.
    """
    if query.dtype == torch.float64 or not FEW < len(query) <= PRECISE:
        return precision(query)
    bound = scoring.score_bound(length(query), length(key)) if bound is None else bound
    return torch.float32 if bound <= MILD else torch.float64


def fitting(size: int, tile: int) -> int:
    """A number of tokens near `size`: whole tiles unless these are far larger."""
    return size if tile > 2 * size else max(1, round(size / tile)) * tile


def down(rows: Ends, height: int, tile: int = 1) -> Int[Tensor, " i"]:
    """The edges of blocks of rows; the first has half the height, unless only full blocks consist of whole tiles.

    This staggers two threads: one is in the middle of a product while the other ends a block and begins the next, in
    many short calls during which both would otherwise wait for each other.
    """
    half = height // 2 if height // 2 % tile == 0 or height % tile else height
    return torch.cat([torch.tensor(rows[:1]), edges((min(rows[0] + half, rows[1]), rows[1]), height)])


def bands(rule: Rule, n: int, span: int, rows: Ends, cols: Ends, tile: int, wanted: Sizes) -> list[Blocks]:
    """The blocks of the rows, grouped into bands that are large enough for a job, starting with the last rows.

    The height of blocks does not depend on the tile, and two may share a row of tiles: torch reduces the rows beyond
    a multiple of its vector length one by one, so that a map in blocks of 252 rows took 1.1 to 1.2 times as long as
    in blocks of 256.
    """
    blocks = classify_blocks(
        rule, n, span, down(rows, wanted.height, tile), across(n, cols, fitting(wanted.step, tile))
    )
    return list(blocks.bands(max(1, job(n, rows[1] - rows[0]) // (n * wanted.height))))[::-1]


def across(n: int, cols: Ends, step: int) -> Int[Tensor, " j"]:
    """The edges of blocks of keys of size `step`, including those of the window."""
    return torch.tensor(sorted({*range(cols[0] % step, n, step), 0, n, *cols}))
