"""Every mask rule beside the others: its picture, the pairs it keeps, the work it saves, how far information goes.

A rule is looked at for n queries over n keys. What stands in a block that a rule hides whole need not be computed; the
rest of a block is computed and thrown away, so that a kernel saves less than the pairs promise.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, UInt8
from torch import Tensor

from attention.masks import MASKS, Rule

SIDE = 96  # cells a side of a picture at the most
BLOCK = 128  # queries and keys a side of a block that FlexAttention skips whole (Dong et al. 2024, section 4.2)


@dataclass(frozen=True, eq=False)
class Exhibit:
    """What there is to say about a rule at n tokens.

    `pixels (p p)`: the share of the pairs in a tile of `tile` tokens that is kept, 0 to 255. `pairs`: how many are kept
    of n², exact. `blocks`: the share of blocks of 128 x 128 pairs with a pair in them. `back`, `ahead`: see `reach`.
    `blind`: queries that see nothing.
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
    blind: int

    @property
    def share(self) -> float:
        """The share of all pairs that the rule keeps."""
        return self.pairs / self.tokens**2


def gallery(tokens: int, span: int, layers: int) -> list[Exhibit]:
    """Every rule of `masks.MASKS` at this length and span, with its reach after some layers."""
    return [exhibit(name, rule, tokens, span, layers) for name, rule in MASKS.items()]


def exhibit(name: str, rule: Rule, tokens: int, span: int, layers: int) -> Exhibit:
    """One rule, looked at."""
    square = rule.square(tokens, tokens, span)
    tile = -(-tokens // SIDE)
    pixels = (shares(square, tile) * 255).round().to(torch.uint8)
    back, ahead = reach(square, layers)
    blocks = float((shares(square, BLOCK) > 0).float().mean())
    blind = tokens - int(square.any(-1).sum())
    return Exhibit(name, rule, tokens, pixels, tile, int(square.sum()), blocks, back, ahead, blind)


def shares(square: Bool[Tensor, "q k"], tile: int) -> Float[Tensor, "p p"]:
    """The share of kept pairs in every tile; the last ones count only the pairs that exist."""
    cells = square.float()
    return cells if tile == 1 else F.avg_pool2d(cells[None], tile, ceil_mode=True)[0]


def reach(square: Bool[Tensor, "q k"], layers: int) -> tuple[int, int]:
    """How far back and how far ahead, in tokens, the farthest lies that any output can depend on after some layers.

    One layer passes on what its mask lets through, and the residual connection what was there: the relation after L
    layers is the L-th boolean power of (mask or identity). Only its farthest entries are asked for, so a power need not
    be computed: the farthest of a query is the farthest of the keys that it sees, from layer to layer.
    """
    at = torch.arange(len(square), dtype=torch.int16)
    seen = square | torch.eye(len(square), dtype=torch.bool)
    back = _farthest(seen, at, layers)
    ahead = len(at) - 1 - _farthest(seen.flip(0, 1), at, layers).flip(0)
    return int((at - back).max()), int((ahead - at).max())


def _farthest(seen: Bool[Tensor, "q k"], at: Tensor, layers: int) -> Tensor:
    """The first token that each query depends on after some layers; stops when no layer brings more."""
    nothing = torch.tensor(len(at), dtype=at.dtype)
    first = at
    for _ in range(layers):
        before, first = first, torch.where(seen, first, nothing).amin(-1)
        if torch.equal(before, first):
            break
    return first


def flops(tokens: int, d_model: int, share: float = 1.0) -> float:
    """Floating-point operations of q kᵀ and of weights times v in one layer: 4 n² d_model, times the share computed."""
    return 4.0 * tokens**2 * d_model * share
