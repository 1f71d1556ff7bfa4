"""Compares all mask rules: a picture, the pairs kept, the work saved, and how far information travels.

It works for any number of queries and keys, as pairs are counted block by block. A kernel skips blocks that are fully
masked, and computes all pairs of the other blocks, so it saves less work than the number of masked pairs suggests.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int, UInt8
from torch import Tensor

from attention.analysis.mask_reach import reach
from attention.maps.blocks import count_pairs, edges, visible
from attention.masks import MASKS, Rule

SIDE = 96  # maximum number of cells per side of a picture
FAINT = 64  # of 255: the ink of a tile with very few visible pairs
BLOCK = 128  # queries and keys per block; FlexAttention skips fully masked ones (Dong et al. 2024)


@dataclass(frozen=True, eq=False)
class Exhibit:
    """Facts about a mask rule for `tokens` queries and `keys` keys.

    `pixels (p r)`: the ink per tile of `tile` tokens, 0 if it keeps no pair and 255 if it keeps all. `pairs`: the exact
    number of pairs kept, of `whole`. `blocks`: the share of blocks of 128 x 128 pairs with a visible pair. `back`, `ahead`:
    see `reach`; None for keys of another sequence, from which nothing passes to the next layer. `empty`: the fully masked
    queries; `blind`: their number.
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
        """The number of fully masked queries."""
        return len(self.empty)

    @property
    def share(self) -> float:
        """The share of all pairs that the rule keeps."""
        return self.pairs / self.whole

    @property
    def whole(self) -> int:
        """The number of all pairs."""
        return self.tokens * self.keys


def gallery(tokens: int, span: int, layers: int, keys: int = 0) -> list[Exhibit]:
    """Returns the facts about every rule of `masks.MASKS` at this length and span, with its reach after `layers` layers."""
    return [exhibit(name, rule, tokens, span, layers, keys) for name, rule in MASKS.items()]


def exhibit(name: str, rule: Rule, tokens: int, span: int, layers: int, keys: int = 0) -> Exhibit:
    """Returns the facts about one rule; `keys`: the number of keys of another sequence, 0 for self-attention."""
    m = keys or tokens
    tile = -(-max(tokens, m) // SIDE)
    pairs, seen = count_pairs(rule, m, span, tile, tokens)
    back, ahead = (None, None) if keys else reach(rule, tokens, span, layers)
    blocks = float(visible(rule, m, span, BLOCK, (0, tokens)).float().mean())
    empty, ink = (seen == 0).nonzero()[:, 0], ink_levels(pairs, (tokens, m), tile)
    return Exhibit(name, rule, tokens, m, ink, tile, int(pairs.sum()), blocks, back, ahead, empty)


def of_table(table: Bool[Tensor, "q k"]) -> Rule:
    """Returns a mask that is given pair by pair as a rule for the gallery."""

    def allows(q, k, n, span):
        """The source's own mask, given pair by pair."""
        return table[q, k]

    return Rule(allows, "the source itself", users="this source")


def ink_levels(pairs: Int[Tensor, "p r"], sizes: tuple[int, int], tile: int) -> UInt8[Tensor, "p r"]:
    """Returns the ink per tile, from the share of its pairs that are kept; any kept pair gives at least `FAINT`."""
    down, across = (edges((0, size), tile).diff() for size in sizes)
    share = pairs / (down[:, None] * across)
    return torch.where(pairs > 0, FAINT + (255 - FAINT) * share, 0).round().to(torch.uint8)


def flops(pairs: int, d_model: int, share: float = 1.0) -> float:
    """Returns the floating-point operations of q kᵀ and of weights times v in one layer: 4 d_model per pair, times `share`."""
    return 4.0 * pairs * d_model * share
