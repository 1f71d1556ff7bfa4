"""The difference of two sides as cells: the difference of largest size in each tile, with its sign and its place."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention.comparison.sides import Side


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


def pool_differences(a: Side, b: Side, side: int) -> Differences:
    """Returns the differences of two sides of equal sizes, at most `side` cells per side of each head.

    Where all differences of a tile are zero, a pair that is visible on one side alone comes first, then one that is visible.
    """
    heads, queries, keys = a.size
    tile = -(-max(queries, keys) // side)
    shared = _ranks(a.mask, b.mask) if tile > 1 and a.mask.ndim == b.mask.ndim == 2 else None
    found = zip(*(_pool_head(a, b, head, tile, shared) for head in range(heads)), strict=True)
    change, one, two, in_a, in_b, place = map(torch.stack, found)
    return Differences(change, one, two, in_a, in_b, place, tile, queries, keys)


def _ranks(in_a: Bool[Tensor, "q k"], in_b: Bool[Tensor, "q k"]) -> Float[Tensor, "q k"]:
    """Returns the order of pairs whose difference is zero, below zero: visible on one side, on both, on neither."""
    return ((in_a ^ in_b).to(torch.int8) + (in_a | in_b).to(torch.int8)).float() - 3


def _pool_head(a: Side, b: Side, head: int, tile: int, ranks: Float[Tensor, "q k"] | None) -> tuple[Tensor, ...]:
    """Returns the parts of `Differences` of one head; `ranks`: those of its masks, if all heads share them."""
    one, two = a.weights[head].float(), b.weights[head].float()
    in_a, in_b = (side.mask if side.mask.ndim == 2 else side.mask[head] for side in (a, b))
    change = two - one
    if tile == 1:
        return change, one, two, in_a, in_b, torch.zeros_like(change, dtype=torch.int64)
    size = change.abs()
    size = torch.where(size > 0, size, _ranks(in_a, in_b) if ranks is None else ranks)
    at = F.max_pool2d(size[None, None], tile, ceil_mode=True, return_indices=True)[1][0, 0]
    keys = change.shape[1]
    place = at // keys % tile * tile + at % keys % tile
    return *(part.flatten()[at.flatten()].view_as(at) for part in (change, one, two, in_a, in_b)), place
