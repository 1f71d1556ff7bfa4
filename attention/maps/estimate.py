"""Estimates how long a map will take, and how much memory, before it is started."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter

import torch

from attention.maps.blocks import classify_blocks, edges
from attention.maps.exact import SIDE, head_maps
from attention.maps.sizes import HEIGHT, STEP, down, piece
from attention.masks import Rule
from attention.runtime.threads import cores

SAMPLE = 8192, 64, 2048  # tokens, channels and queries of the measurement: long enough for float32
PRODUCT = 0.5  # share of a cell's time spent on its product of q and k in a sample
PIXEL = 4  # time to normalise a pixel of a row, in cells: most of the work of a narrow window
THREADS = min(2, cores())  # threads that compute blocks at the same time
PIECES = 4  # memory of a thread, in pieces: scores, exponentials, and what is computed from them
THRESHOLDS = 3  # time of sparsemax and entmax, in that of a softmax
FLOAT = 4  # bytes of a number
ROOM = 2**26  # bytes of queries and keys held at once; at least those of one head


@dataclass(frozen=True)
class Estimate:
    """`seconds` for all heads, and peak memory in `bytes`."""

    seconds: float
    bytes: int


def estimate(
    tokens: int,
    heads: int,
    d_model: int,
    rule: Rule,
    span: int,
    rate: float,
    made_of: int | None = None,
    room: int = ROOM,
    sparse: bool = False,
) -> Estimate:
    """Estimates maps of all heads with statistics; `rate`: cells per second at the number of channels of SAMPLE.

    `sparse`: whether the threshold of every row is to be found, for which the scores of a block of rows are held.

    Memory is the sum of the `made_of` bytes that queries and keys are computed from (default: `d_model` float32
    channels of all tokens), queries and keys in float32 of as many heads as fit into `room`, five float64 numbers per
    query, and the blocks of each thread.
    """
    pairs = 2 * FLOAT * tokens * d_model
    held = FLOAT * tokens * d_model if made_of is None else made_of
    held += max(min(pairs, room), pairs // heads) + 5 * 8 * tokens * heads
    cell = 1 - PRODUCT + PRODUCT * d_model / heads / SAMPLE[1]
    work = cell * cells(rule, tokens, span) * (THRESHOLDS if sparse else 1) + PIXEL * tokens * min(tokens, SIDE)
    blocks = PIECES * piece() + sparse * FLOAT * tokens * HEIGHT
    return Estimate(heads * work / rate, held + THREADS * blocks)


@lru_cache(maxsize=64)
def cells(rule: Rule, tokens: int, span: int) -> int:
    """The number of cells of a head's square that are computed; blocks that the rule masks are not."""
    rows, cols = down((0, tokens), HEIGHT), edges((0, tokens), STEP)
    seen = classify_blocks(rule, tokens, span, rows, cols).seen
    return int((seen.double() * cols.diff()).sum(-1) @ rows.diff().double())


@lru_cache(maxsize=1)
def measured_rate() -> float:
    """Cells per second of all threads, with statistics: measured once, on a band of one head, in some milliseconds."""
    tokens, channels, queries = SAMPLE
    random = torch.Generator().manual_seed(0)
    query, key = (torch.randn(1, tokens, channels, generator=random) for _ in range(2))
    seconds = []
    for _ in range(2):  # the first also warms up
        start = perf_counter()
        head_maps(query, key, "full", rows=(0, queries), tile=64)
        seconds.append(perf_counter() - start)
    return THREADS * queries * tokens / min(seconds)
