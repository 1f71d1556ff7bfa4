"""How a map is cut up: the precision of its scores, blocks of rows, pieces of keys, jobs.

A block of rows meets its keys in pieces, and what is computed of a piece passes over it several times: it should stay near
the cache that a core has to itself, which is asked of the CPU (runtime/processor.py), but take long enough to be worth its calls.
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

PRECISE = 4096  # up to this many tokens in float64: it costs milliseconds, and every number is right to 1e-6
FEW = 2048  # up to this many tokens every head is of float64; up to PRECISE, one whose scores may exceed MILD
MILD = 16.0  # a head of float32 between the two: weights are right to 1e-6 as well, but lse and entropy to 1e-5
HEIGHT, STEP = 512, 128  # rows of a block, and columns from one edge to the next, on a CPU
SMALLEST, LARGEST = 2**21, 2**22  # bytes of a piece: threads wait for each other at the calls around smaller ones
TALL, WIDE, ROOMY = 4096, 2048, 2**27  # the same on an accelerator, of float32, and bytes of a piece there
BAND = 2**26  # cells of a job: a tenth of a second on two cores, so that a cancelled map ends soon
SHARES, JOB = 16, 2**20  # jobs that the square of a head makes at the least, unless they had fewer cells than this


class Sizes(NamedTuple):
    """Rows of a block, keys from one edge to the next, and cells of a piece."""

    height: int
    step: int
    cells: int


def sizes(dtype: torch.dtype, device: torch.device | str = "cpu") -> Sizes:
    """Those that suit scores of a dtype on a device."""
    if torch.device(device).type == "cpu":
        return Sizes(HEIGHT, STEP, piece() // dtype.itemsize)
    return Sizes(TALL * 4 // dtype.itemsize, WIDE, ROOMY // dtype.itemsize)


def piece() -> int:
    """Bytes of the scores of a piece on this CPU: half of a large second cache, of which a product needs some itself.

    Pieces twice as large as a second cache of 1 MB, in twice as tall blocks, took 0.6 to 0.85 of the time: two threads that
    compute pieces of 0.3 ms each wait for the interpreter as often as these end.
    """
    return min(max(processor.caches().get(2, 0) // 2, SMALLEST), LARGEST)


def job(tokens: int, rows: int) -> int:
    """Cells of a job where a map has so many tokens and rows."""
    return min(BAND, max(JOB, tokens * rows // SHARES))


def precision(query: Float[Tensor, "*h n d"]) -> torch.dtype:
    """What parts of a square are computed in: float64 up to PRECISE tokens, or for a query of float64."""
    return torch.float64 if query.shape[-2] <= PRECISE or query.dtype == torch.float64 else torch.float32


def working(
    query: Float[Tensor, "n d"], key: Float[Tensor, "n d"], scoring: Scoring, bound: float | None = None
) -> torch.dtype:
    """What the whole map of a head is computed in: the same, or float32 where weights are as right, its scores being mild.

    `bound`: what no score exceeds, for those who know it.
    """
    if query.dtype == torch.float64 or not FEW < len(query) <= PRECISE:
        return precision(query)
    bound = scoring.score_bound(length(query), length(key)) if bound is None else bound
    return torch.float32 if bound <= MILD else torch.float64


def fitting(size: int, tile: int) -> int:
    """A number of tokens near a size, whole tiles where they are not far larger."""
    return size if tile > 2 * size else max(1, round(size / tile)) * tile


def down(rows: Ends, height: int, tile: int = 1) -> Int[Tensor, " i"]:
    """The edges of blocks of rows, the first of which has half of the height, unless only whole ones are of whole tiles.

    Of two threads one is then amid a product while the other ends a block and begins one, in many short calls, at which they
    would wait for each other.
    """
    half = height // 2 if height // 2 % tile == 0 or height % tile else height
    return torch.cat([torch.tensor(rows[:1]), edges((min(rows[0] + half, rows[1]), rows[1]), height)])


def bands(rule: Rule, n: int, span: int, rows: Ends, cols: Ends, tile: int, wanted: Sizes) -> list[Blocks]:
    """The blocks of the rows, as many for a job as make it worth its while.

    Their height does not depend on the tile, and two may share a row of tiles: torch reduces the rows beyond a multiple of
    its vectors one by one, so that a map in blocks of 252 rows took 1.1 to 1.2 times as long as in those of 256.
    """
    blocks = classify_blocks(
        rule, n, span, down(rows, wanted.height, tile), across(n, cols, fitting(wanted.step, tile))
    )
    return list(blocks.bands(max(1, job(n, rows[1] - rows[0]) // (n * wanted.height))))[::-1]


def across(n: int, cols: Ends, step: int) -> Int[Tensor, " j"]:
    """The edges of blocks of keys of a size, with those of the window."""
    return torch.tensor(sorted({*range(cols[0] % step, n, step), 0, n, *cols}))
