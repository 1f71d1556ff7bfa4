"""The difference of two sides as cells: the difference of largest size in each tile, with its sign and its place."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int, Int64
from torch import Tensor

from attention.comparison.sides import Side
from attention.trace import SHARED

PLACE = 30  # bits of the place of a pair in its tile
WITHOUT_SIGN = 0x7FFFFFFF  # the bits of a float32 that order numbers by their size


@dataclass(frozen=True, eq=False)
class Differences:
    """One cell per tile of `tile` x `tile` tokens, each about the pair with the largest difference in it.

    `change (h p r)`: B minus A there, in float32; `a`, `b`: the weights of both sides; `in_a`, `in_b`: whether the key is
    visible; `place`: row x tile + column within the tile. A tile counts as masked on both sides only if all of it is.
    """

    change: Float[Tensor, "h p r"]
    a: Float[Tensor, "h p r"]
    b: Float[Tensor, "h p r"]
    in_a: Bool[Tensor, "h p r"]
    in_b: Bool[Tensor, "h p r"]
    place: Int[Tensor, "h p r"]
    tile: int
    queries: int
    keys: int


def pool_differences(a: Side, b: Side, side: int, executor: Executor | None = None) -> Differences:
    """Returns the differences of two sides of equal sizes, at most `side` cells per side of each head.

    Of pairs with differences of the same size, one that is visible on one side alone comes first, then one that is visible
    on both. Threads of an `executor` share the heads if these are large.
    """
    heads, queries, keys = a.size
    tile = -(-max(queries, keys) // side)
    order = _order(a.mask, b.mask, tile) if tile > 1 and a.mask.ndim == b.mask.ndim == 2 else None
    shared = executor if tile > 1 and a.weights.numel() > SHARED else None
    found = list((shared.map if shared else map)(partial(_pool_head, a, b, tile, order), range(heads)))
    change, one, two, in_a, in_b, place = map(torch.stack, zip(*found, strict=True))
    return Differences(change, one, two, in_a, in_b, place, tile, queries, keys)


def _order(in_a: Bool[Tensor, "q k"], in_b: Bool[Tensor, "q k"], tile: int) -> Int64[Tensor, "q k"]:
    """Returns numbers of 32 bits that order pairs with differences of the same size, those that come first being larger.

    The upper two bits: whether a pair is visible on one side, on both, on neither. Below: its place, counted from the tile's
    end.
    """
    rank = (in_a ^ in_b).long() + (in_a | in_b)
    down, across = (torch.arange(size) % tile for size in rank.shape)
    return (rank << PLACE).add_(tile * tile - 1 - (down[:, None] * tile + across))


def _pool_head(a: Side, b: Side, tile: int, order: Int64[Tensor, "q k"] | None, head: int) -> tuple[Tensor, ...]:
    """Returns the parts of `Differences` of one head; `order`: that of its masks, if all heads share them.

    The bits of a size with those of the order below make one integer, whose maximum finds both. Rows are pooled first, as
    they are contiguous.
    """
    one, two = a.weights[head].float(), b.weights[head].float()
    in_a, in_b = (side.mask if side.mask.ndim == 2 else side.mask[head] for side in (a, b))
    change = two - one
    if tile == 1:
        return change, one, two, in_a, in_b, torch.zeros_like(change, dtype=torch.int64)
    order = _order(in_a, in_b, tile) if order is None else order
    queries, keys = change.shape
    bits = change.view(torch.int32)
    best = torch.full((-(-queries // tile), keys), -1, dtype=torch.int64)
    for row in range(min(tile, queries)):
        marked = (bits[row::tile] & WITHOUT_SIGN).long().mul_(1 << 32).add_(order[row::tile])
        torch.maximum(best[: len(marked)], marked, out=best[: len(marked)])
    best = F.pad(best, (0, -keys % tile), value=-1).unflatten(1, (-1, tile)).amax(2)
    place = tile * tile - 1 - (best & (1 << PLACE) - 1)
    down, across = (torch.arange(size) * tile for size in best.shape)
    within = torch.arange(tile)[:, None] * keys + torch.arange(tile)
    at = within.flatten().index_select(0, place.flatten()) + (down[:, None] * keys + across).flatten()
    return *(part.flatten().index_select(0, at).view_as(best) for part in (change, one, two, in_a, in_b)), place
