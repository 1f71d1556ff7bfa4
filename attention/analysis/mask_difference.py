"""Which pairs two masks both keep, and which one keeps alone, at any length."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.maps.blocks import count_pairs, edges
from attention.masks import Rule


@dataclass(frozen=True, eq=False)
class MaskDifference:
    """The numbers of pairs per tile of `tile` x `tile` tokens that masks A and B both keep, or one of them keeps alone.

    `sizes`: numbers of queries and of keys.
    """

    both: Int[Tensor, "p r"]
    only_a: Int[Tensor, "p r"]
    only_b: Int[Tensor, "p r"]
    tile: int
    sizes: tuple[int, int]

    @property
    def cells(self) -> Float[Tensor, "p r"]:
        """The share of the pairs of each tile that B keeps alone, or minus the share of A if it is larger; NaN without any."""
        down, across = (edges((0, size), self.tile).diff() for size in self.sizes)
        alone = torch.where(self.only_a > self.only_b, -self.only_a, self.only_b) / (down[:, None] * across)
        return alone.float().masked_fill(self.both + self.only_a + self.only_b == 0, torch.nan)


def mask_difference(a: Rule, b: Rule, spans: tuple[int, int], sizes: tuple[int, int], side: int) -> MaskDifference:
    """Returns the difference of two rules, each with its span, in at most `side` tiles per side."""
    queries, keys = sizes
    tile = -(-max(sizes) // side)
    one, two = _with_span(a, spans[0]), _with_span(b, spans[1])
    both, only_a, only_b = (count_pairs(each, keys, 0, tile, queries)[0] for each in (one & two, one - two, two - one))
    return MaskDifference(both, only_a, only_b, tile, sizes)


def _with_span(rule: Rule, span: int) -> Rule:
    """Returns a rule whose span is fixed, so that it can be combined with one of another span."""

    def allows(q, k, n, _):
        return rule.allows(q, k, n, span)

    allows.__doc__ = rule.help
    return Rule(allows, rule.source)
