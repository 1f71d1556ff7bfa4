"""Every mask rule beside the others: its picture, the pairs it keeps, the work it saves, how far information goes.

A rule is looked at for n queries over n keys, at any length, as what it keeps is counted block by block. What stands in
a block that a rule hides whole need not be computed; the rest of a block is computed and thrown away, so that a kernel
saves less than the pairs promise.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Int, UInt8
from torch import Tensor

from attention.analysis.mask_reach import reach
from attention.maps.blocks import edges, kept, visible
from attention.masks import MASKS, Rule

SIDE = 96  # cells a side of a picture at the most
FAINT = 64  # of 255: the ink of a tile that keeps hardly anything
BLOCK = 128  # queries and keys a side of a block that FlexAttention skips whole (Dong et al. 2024, section 4.2)


@dataclass(frozen=True, eq=False)
class Exhibit:
    """What there is to say about a rule at n tokens.

    `pixels (p p)`: the ink of a tile of `tile` tokens, 0 where it keeps no pair and 255 where it keeps all. `pairs`: how
    many are kept of n², exact. `blocks`: the share of blocks of 128 x 128 pairs with a pair in them. `back`, `ahead`: see
    `reach`. `empty`: the queries that see nothing, `blind` of them.
    """

    name: str
    rule: Rule
    tokens: int
    pixels: UInt8[Tensor, "p p"]
    tile: int
    pairs: int
    blocks: float
    back: int
    ahead: int
    empty: Int[Tensor, "e"]

    @property
    def blind(self) -> int:
        """How many queries see nothing."""
        return len(self.empty)

    @property
    def share(self) -> float:
        """The share of all pairs that the rule keeps."""
        return self.pairs / self.tokens**2


def gallery(tokens: int, span: int, layers: int) -> list[Exhibit]:
    """Every rule of `masks.MASKS` at this length and span, with its reach after some layers."""
    return [exhibit(name, rule, tokens, span, layers) for name, rule in MASKS.items()]


def exhibit(name: str, rule: Rule, tokens: int, span: int, layers: int) -> Exhibit:
    """One rule, looked at."""
    tile = -(-tokens // SIDE)
    pairs, seen = kept(rule, tokens, span, tile)
    back, ahead = reach(rule, tokens, span, layers)
    blocks = float(visible(rule, tokens, span, BLOCK).float().mean())
    empty = (seen == 0).nonzero()[:, 0]
    return Exhibit(name, rule, tokens, inked(pairs, tokens, tile), tile, int(pairs.sum()), blocks, back, ahead, empty)


def inked(pairs: Int[Tensor, "p p"], tokens: int, tile: int) -> UInt8[Tensor, "p p"]:
    """How much ink a tile gets that keeps so many pairs: their share of those that exist, but what is kept is seen."""
    sizes = edges((0, tokens), tile).diff()
    share = pairs / (sizes[:, None] * sizes)
    return torch.where(pairs > 0, FAINT + (255 - FAINT) * share, 0).round().to(torch.uint8)


def flops(tokens: int, d_model: int, share: float = 1.0) -> float:
    """Floating-point operations of q kᵀ and of weights times v in one layer: 4 n² d_model, times the share computed."""
    return 4.0 * tokens**2 * d_model * share
