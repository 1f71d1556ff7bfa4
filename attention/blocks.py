"""Attention in blocks of rows that fit into the cache, over the keys that are visible to any of the rows.

Keys that are masked for a whole block are not even multiplied. Threads share the rows of large squares.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import torch
from jaxtyping import Bool
from torch import Tensor

from attention.operations.mask import HIDDEN
from attention.operations.softcap import soft_cap
from attention.runtime import processor
from attention.runtime.tensor_cache import tensor_lru_cache
from attention.runtime.threads import parallel_for

BLOCK = 2**20  # maximum number of cells of a block of rows: 4 MB of float32, small enough to stay in a cache
ROWS = 256  # maximum number of rows of a block: shorter blocks skip more of a triangle
TALL = 2**23  # cells of a block if nothing is skipped: a product uses both threads better in taller blocks
NEAR, FAR = 2**20, 2**22  # bytes of a thread's own block if nothing is skipped, in the second-level cache or beyond it
APART = 2**25  # cells of all heads from which threads compute blocks of their own: torch's threads would busy-wait
HALF_APART = 2**21  # the same for 16 bits: on busy cores torch's own threads took three times as long


class Block(NamedTuple):
    """Some rows of the square, and the keys that are visible to any of them.

    `hidden (r t)` is True for masked pairs, of keys from `tail` on. `blind (r 1)` marks fully masked rows, None if no
    row is.
    """

    rows: slice
    keys: slice
    tail: int = 0
    hidden: Bool[Tensor, "r t"] | None = None
    blind: Bool[Tensor, "r 1"] | None = None


def by_blocks(
    weights, query, key, value, mask, is_causal, scale, softcap, normalise, bias=None
) -> tuple[Tensor, Tensor]:
    """Computes some rows of a head at a time, over the keys visible to them; all other `weights` become zero.

    `bias` is added to the scores of every head, next to a mask that may be shared. Products of a block start from it.
    """
    queries, keys = weights.shape[-2:]
    skips = is_causal or (mask is not None and mask.dtype == torch.bool)
    shared = mask is None or mask.shape[:-2].numel() == 1
    same = weights.dtype == query.dtype  # else blocks have more bits than the weights that are stored
    alone = shared and weights.numel() >= (APART if same else HALF_APART) and torch.get_num_threads() > 1
    tall = own_block() // query.element_size() if alone else TALL
    height = max(1, min(queries, min(ROWS, BLOCK // keys) if skips else tall // keys))
    output = value.new_zeros(*query.shape[:-1], value.shape[-1])
    square = None if mask is None else mask.expand(*weights.shape)

    def plan_blocks(at: tuple[int, ...]) -> list[Block]:
        return list(_plan(None if square is None else square[at], is_causal, queries, keys, height))

    heads = list(itertools.product(*map(range, weights.shape[:-2])))
    plan = plan_blocks(heads[0]) if shared else []

    def fill(some: Iterable[tuple[tuple[int, ...], Block]]) -> None:
        scratch = query.new_empty(0 if same and not skips else height * keys)
        for at, (rows, cols, tail, hidden, blind) in some:
            whole = weights[at][rows]
            size = whole.shape[0], cols.stop - cols.start
            fits = same and size[1] == keys and whole.is_contiguous()
            block = whole if fits else scratch[: math.prod(size)].view(size)
            begin, beta = (block, 0) if bias is None or softcap else (bias[at].write(rows, cols, block), 1)
            torch.addmm(begin, query[at][rows], key[at][cols].T, beta=beta, alpha=scale, out=block)
            soft_cap(block, softcap)
            if bias is not None and softcap:
                block.add_(bias[at].write(rows, cols, torch.empty_like(block)))
            if hidden is not None:
                block[:, tail:].masked_fill_(hidden, HIDDEN)
            elif square is not None and square.dtype != torch.bool:
                block.add_(square[at][rows, cols])
            normalise(block, at)
            if blind is not None:
                block.masked_fill_(blind, 0)
            if block is not whole:
                whole[:, cols].copy_(block)
                whole[:, : cols.start].zero_()
                whole[:, cols.stop :].zero_()
            torch.mm(block, value[at][cols], out=output[at][rows])

    def blocks() -> Iterator[tuple[tuple[int, ...], Block]]:
        """Yields blocks, of every other head backwards: a triangle's blocks grow, so each thread gets as much."""
        for turn, at in enumerate(heads):
            for block in (plan or plan_blocks(at))[:: 1 if turn % 2 else -1]:
                yield at, block

    threads = min(torch.get_num_threads(), len(heads) * len(plan)) if alone else 1
    parallel_for(fill, [itertools.islice(blocks(), first, None, threads) for first in range(threads)])
    return output, weights


def own_block() -> int:
    """Returns the bytes of a block that one thread computes if nothing is skipped: half of a large second-level cache.

    Half of a small one would hold so few rows that the calls around them cost more than fetching from the third level.
    """
    half = processor.caches().get(2, 0) // 2
    return half if half >= NEAR else FAR


def _plan(mask: Tensor | None, is_causal: bool, queries: int, keys: int, height: int) -> Iterator[Block]:
    """Yields blocks of rows with the keys visible to them, so that masked keys are not even multiplied."""
    for first in range(0, queries, height):
        rows = slice(first, min(first + height, queries))
        if is_causal:
            reach = min(rows.stop, keys)
            tail = min(first, reach)
            yield Block(rows, slice(0, reach), tail, ~until(rows.stop - first, reach - tail, "cpu"))
        elif mask is None:
            yield Block(rows, slice(0, keys))
        else:
            blind = ~seeing(mask[rows])
            part = _visible_block(mask[rows], rows) if mask.dtype == torch.bool else Block(rows, slice(0, keys))
            yield part._replace(blind=blind if blind.any() else None)


def seeing(mask: Tensor) -> Bool[Tensor, "..."]:
    """Returns for each row of a mask whether any key is visible."""
    return (mask if mask.dtype == torch.bool else mask != HIDDEN).any(-1, keepdim=True)


@tensor_lru_cache(8)
def until(queries: int, keys: int, device: torch.device | str) -> Bool[Tensor, "q k"]:
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril_()


def _visible_block(mask: Bool[Tensor, "r k"], rows: slice) -> Block:
    """Returns the block of these rows of a boolean mask: from the first key that any row sees to the last."""
    seen = mask.any(0).nonzero()
    keys = slice(int(seen[0]), int(seen[-1]) + 1) if len(seen) else slice(0, 0)
    partly = (~mask[:, keys].all(0)).nonzero()
    if not len(partly):
        return Block(rows, keys)
    tail = int(partly[0])
    return Block(rows, keys, tail, ~mask[:, keys][:, tail:])
