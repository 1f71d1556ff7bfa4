"""A score and a weight of any pairs of tokens, at any length: what head_maps was asked for, apart from the pixels.

Exponentials of float32 that underflow take a CPU up to 28 times as long as others, so hidden pairs and faint ones are
kept from it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention.masks import MASKS, Rule
from attention.scores import POSITIONS, capped

At = range | Tensor  # where some tokens stand: a stretch, or positions that broadcast
HIDDEN = -1e30  # the score of a hidden pair: finite, so that no product with its weight of zero is NaN
LEAST = -86.0  # the least exponent: below it a float32 underflows, which takes a CPU up to 28 times as long
LOG2_E = math.log2(math.e)
FAINT = 1e-37  # a little more than exp(LEAST): what is fainter is nothing


@dataclass(frozen=True)
class Scoring:
    """How scores come about: what `head_maps` was asked for, apart from the pixels."""

    mask: str | Rule
    span: int
    scale: float
    softcap: float | None = None
    positions: str = "none"
    softmax: str = "standard"

    @property
    def rule(self) -> Rule:
        """The mask rule itself."""
        return MASKS[self.mask] if isinstance(self.mask, str) else self.mask

    def scores(self, query: Tensor, key: Tensor, q: At, k: At, head: int, heads: int, out: Tensor) -> Tensor:
        """Scores with softcap and position bias, before the mask; `q` and `k` say where queries and keys stand."""
        torch.addmm(out, query, key.T, beta=0, alpha=self.scale, out=out)
        return self.adjusted(out, q, k, head, heads)

    def adjusted(self, scores: Tensor, q: At, k: At, head: int, heads: int) -> Tensor:
        """Scaled scores with softcap and position bias, in place; positions broadcast as a column and a row do."""
        capped(scores, self.softcap)
        if to_scores := POSITIONS[self.positions].to_scores:
            number = torch.tensor(head, device=scores.device)
            scores.add_(to_scores(column(q, scores), row(k, scores), number, heads))
        return scores

    def sees(self, q: At, k: At, n: int, like: Tensor) -> Bool[Tensor, ...]:
        """What the mask rule says about every pair of these positions."""
        rows, cols = column(q, like), row(k, like)
        return self.rule(rows, cols, n, self.span).expand(torch.broadcast_shapes(rows.shape, cols.shape))

    def bound(self, query: Float[Tensor, "r d"], longest: float) -> float:
        """What no score of these queries exceeds, up or down, for keys no longer than this; infinite if unknown."""
        if POSITIONS[self.positions].to_scores:
            return math.inf
        bound = float(query.norm(dim=-1).max()) * longest * abs(self.scale)
        return min(bound, self.softcap or math.inf)


def column(at: At, like: Tensor) -> Int[Tensor, ...]:
    """Positions of queries, down; short integers are exact, and half the memory."""
    return at if isinstance(at, Tensor) else row(at, like).T


def row(at: At, like: Tensor) -> Int[Tensor, ...]:
    """Positions of keys, across."""
    if isinstance(at, Tensor):
        return at
    return torch.arange(at.start, at.stop, dtype=torch.int32, device=like.device)[None]


def penalty(seen: Bool[Tensor, "*c"], like: Tensor) -> Float[Tensor, "*c"]:
    """What is added to scores: nothing where a query sees a key, HIDDEN where not."""
    seen = seen.view(torch.uint8)  # bytes convert several times as fast as booleans
    return seen.to(like.device, like.dtype).sub_(1).mul_(-HIDDEN)


def exponentials(scores: Tensor, out: Tensor, faint: bool) -> Tensor:
    """exp(scores) into `out`; where some may be `faint`, they are raised to LEAST first and become zero after.

    As powers of two, which torch computes in less than half of the time on some CPUs. The product rounds once more: a
    weight of float32 is right to 6e-8 of the score's size.
    """
    if not faint:
        return torch.mul(scores, LOG2_E, out=out).exp2_()
    return F.threshold(torch.mul(scores.clamp_(min=LEAST), LOG2_E, out=out).exp2_(), FAINT, 0.0, inplace=True)
