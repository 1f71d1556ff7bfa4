"""Every mask rule beside the others: its picture, the pairs it keeps, the work it saves, how far information goes.

A rule is looked at for any number of queries and keys, as what it keeps is counted block by block. What stands in
a block that a rule hides whole need not be computed; the rest of a block is computed and thrown away, so that a kernel
saves less than the pairs promise.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int, UInt8
from torch import Tensor

from attention.analysis.mask_reach import reach
from attention.maps.blocks import count_pairs, edges, visible
from attention.masks import MASKS, Rule

SIDE = 96  # cells a side of a picture at the most
FAINT = 64  # of 255: the ink of a tile that keeps hardly anything
BLOCK = 128  # queries and keys a side of a block that FlexAttention skips whole (Dong et al. 2024, section 4.2)


@dataclass(frozen=True, eq=False)
class Exhibit:
    """What there is to say about a rule at so many tokens, which look at so many `keys`.

    `pixels (p r)`: the ink of a tile of `tile` tokens, 0 where it keeps no pair and 255 where it keeps all. `pairs`: how
    many are kept of `whole`, exact. `blocks`: the share of blocks of 128 x 128 pairs with a pair in them. `back`, `ahead`:
    see `reach`; None where the keys are of another sequence, of which nothing goes on to the next layer. `empty`: the
    queries that see nothing, `blind` of them.
    """

    name: str
    rule: Rule
    tokens: int
    keys: int
    pixels: UInt8[Tensor, "p r"]
    tile: int
    pairs: int
    blocks: float
    back: int | None
    ahead: int | None
    empty: Int[Tensor, " e"]

    @property
    def blind(self) -> int:
        """How many queries see nothing."""
        return len(self.empty)

    @property
    def share(self) -> float:
        """The share of all pairs that the rule keeps."""
        return self.pairs / self.whole

    @property
    def whole(self) -> int:
        """All pairs that there are."""
        return self.tokens * self.keys


def gallery(tokens: int, span: int, layers: int, keys: int = 0) -> list[Exhibit]:
    """Every rule of `masks.MASKS` at this length and span, with its reach after some layers."""
    return [exhibit(name, rule, tokens, span, layers, keys) for name, rule in MASKS.items()]


def exhibit(name: str, rule: Rule, tokens: int, span: int, layers: int, keys: int = 0) -> Exhibit:
    """One rule, looked at; `keys`: so many of another sequence, 0 where one looks at itself."""
    m = keys or tokens
    tile = -(-max(tokens, m) // SIDE)
    pairs, seen = count_pairs(rule, m, span, tile, tokens)
    back, ahead = (None, None) if keys else reach(rule, tokens, span, layers)
    blocks = float(visible(rule, m, span, BLOCK, (0, tokens)).float().mean())
    empty, ink = (seen == 0).nonzero()[:, 0], ink_levels(pairs, (tokens, m), tile)
    return Exhibit(name, rule, tokens, m, ink, tile, int(pairs.sum()), blocks, back, ahead, empty)


def of_table(table: Bool[Tensor, "q k"]) -> Rule:
    """A mask that is no rule, but given pair by pair, as the gallery takes it."""

    def allows(q, k, n, span):
        """This source has its own mask, given pair by pair."""
        return table[q, k]

    return Rule(allows, "the source itself", users="this source")


def ink_levels(pairs: Int[Tensor, "p r"], sizes: tuple[int, int], tile: int) -> UInt8[Tensor, "p r"]:
    """How much ink a tile gets that keeps so many pairs: their share of those that exist, but what is kept is seen."""
    down, across = (edges((0, size), tile).diff() for size in sizes)
    share = pairs / (down[:, None] * across)
    return torch.where(pairs > 0, FAINT + (255 - FAINT) * share, 0).round().to(torch.uint8)


def flops(pairs: int, d_model: int, share: float = 1.0) -> float:
    """Floating-point operations of q kᵀ and of weights times v in one layer: 4 d_model a pair, times the share computed."""
    return 4.0 * pairs * d_model * share
