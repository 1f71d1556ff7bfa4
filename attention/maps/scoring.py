"""A score and a weight of any pairs of tokens, at any length: what head_maps was asked for, apart from the pixels.

Exponentials of float32 that underflow take a CPU up to 28 times as long as others, so hidden pairs and faint ones are
kept from it. Which exponential is faster depends on the CPU (runtime/processor.py): scores come in its units.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention.masks import MASKS, Rule
from attention.runtime import processor
from attention.scores import POSITIONS, soft_cap

At = range | Tensor  # where some tokens stand: a stretch, or positions that broadcast
HIDDEN = -1e30  # the score of a hidden pair: finite, so that no product with its weight of zero is NaN
LEAST = -86.0  # the least exponent: below it a float32 underflows, which takes a CPU up to 28 times as long
FAINT = 1e-37  # a little more than exp(LEAST): what is fainter is nothing


class Exponential(NamedTuple):
    """A way to take exponentials: the `power` of a score that was multiplied by `unit` is e to the score."""

    unit: float
    power: Callable[..., Tensor]


EXPONENTIALS = {"exp": Exponential(1.0, torch.exp), "exp2": Exponential(math.log2(math.e), torch.exp2)}


def exponential(like: Tensor) -> Exponential:
    """The one that is fastest where a tensor is."""
    return EXPONENTIALS[processor.exponential(like.dtype) if like.is_cpu else "exp2"]


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

    def products(
        self, left: Float[Tensor, "l d"], right: Float[Tensor, "r d"], out: Float[Tensor, "l r"], unit: float
    ) -> Float[Tensor, "l r"]:
        """Scaled products of queries and keys, whichever is `left`, in units of which one is e."""
        return torch.addmm(out, left, right.T, beta=0, alpha=self.scale * unit, out=out)

    @property
    def adjusts(self) -> bool:
        """Whether scores are more than scaled products."""
        return bool(self.softcap) or POSITIONS[self.positions].to_scores is not None

    def adjust_scores(self, scores: Tensor, q: At, k: At, head: int, heads: int, unit: float) -> Tensor:
        """Scaled products with softcap and position bias, before the mask, in place; `q` and `k` broadcast to them."""
        soft_cap(scores, self.softcap and self.softcap * unit)
        if to_scores := POSITIONS[self.positions].to_scores:
            number = torch.tensor(head, device=scores.device)
            scores.add_(to_scores(column(q, scores), row(k, scores), number, heads), alpha=unit)
        return scores

    def sees(self, q: At, k: At, n: int, like: Tensor) -> Bool[Tensor, ...]:
        """What the mask rule says about every pair of these positions."""
        rows, cols = column(q, like), row(k, like)
        return self.rule(rows, cols, n, self.span).expand(np.broadcast_shapes(rows.shape, cols.shape))

    def score_bound(self, longest: float, other: float) -> float:
        """What no score exceeds, up or down, by the lengths of the longest query and key; infinite if unknown."""
        if POSITIONS[self.positions].to_scores:
            return math.inf
        return min(longest * other * abs(self.scale), self.softcap or math.inf)


def column(at: At, like: Tensor) -> Int[Tensor, ...]:
    """Positions of queries, down; short integers are exact, and half the memory."""
    return at if isinstance(at, Tensor) else row(at, like).T


def row(at: At, like: Tensor) -> Int[Tensor, ...]:
    """Positions of keys, across."""
    if isinstance(at, Tensor):
        return at
    return torch.arange(at.start, at.stop, dtype=torch.int32, device=like.device)[None]


def factors(seen: Bool[Tensor, "*c"], like: Tensor) -> Float[Tensor, "*c"]:
    """One where a query sees a key, zero where not."""
    return seen.view(torch.uint8).to(like.device, like.dtype)  # bytes convert several times as fast as booleans


def penalty(factors: Float[Tensor, "*c"]) -> Float[Tensor, "*c"]:
    """What is added to scores: nothing where a query sees a key, HIDDEN where not."""
    return factors.sub(1).mul_(-HIDDEN)


def exponentials(scores: Tensor, out: Tensor, way: Exponential, faint: bool) -> Tensor:
    """e to the scores, which are in its units, into `out`; where some may be `faint`, they are raised to LEAST first,
    and become zero after.
    """
    if not faint:
        return way.power(scores, out=out)
    return F.threshold(way.power(scores.clamp_(min=LEAST * way.unit), out=out), FAINT, 0.0, inplace=True)
