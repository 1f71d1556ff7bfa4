"""Scores and weights of any pairs of tokens, at any length: the settings of head_maps apart from the pixels.

Float32 exponentials that underflow take a CPU up to 28 times as long as others, so masked and faint pairs never reach
it as such. Which exponential is faster depends on the CPU (runtime/processor.py): scores are in its units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention.maps.tiles import EXTREME, GREATEST, Pool
from attention.masks import MASKS, Rule
from attention.operations.forgetting import near_sums
from attention.operations.positions import POSITIONS
from attention.operations.query_scale import OFF
from attention.operations.softcap import soft_cap
from attention.operations.softmax import SOFTMAXES
from attention.operations.sparse import Threshold
from attention.runtime import processor

At = range | Tensor  # positions of some tokens: a range, or a tensor that broadcasts
HIDDEN = -1e30  # score of a masked pair: finite, so that no product with its weight of zero is NaN
LEAST = -86.0  # smallest exponent: below it a float32 underflows, which takes a CPU up to 28 times as long
FAINT = 1e-37  # a little more than exp(LEAST): smaller results become zero


class Exponential(NamedTuple):
    """A way to compute weights: `power` of a score multiplied by `unit` is e to the score, or what takes its place.

    `faint`: whether scores far below zero must not reach it.
    """

    unit: float
    power: Callable[..., Tensor]
    faint: bool = True


def _sparse(power: int, scores: Tensor, out: Tensor) -> Tensor:
    """Writes the weights of scores above a threshold, in units of 1 / `power`."""
    torch.clamp(scores, min=0, out=out)
    return out if power == 1 else out.pow_(power)


EXPONENTIALS = {"exp": Exponential(1.0, torch.exp), "exp2": Exponential(math.log2(math.e), torch.exp2)}


def way_of(softmax: str, like: Tensor) -> Exponential:
    """How a softmax computes weights of the dtype and device of `like` from scores minus the statistic of their row."""
    how = SOFTMAXES[softmax]
    if isinstance(how, Threshold):
        return Exponential(1 / how.power, partial(_sparse, how.power), faint=False)
    if how.halves > 1:
        return EXPONENTIALS["exp"]
    return exponential(like) if how.distributes else Exponential(1.0, torch.sigmoid, faint=False)


def exponential(like: Tensor) -> Exponential:
    """The fastest exponential for the dtype and device of `like`."""
    return EXPONENTIALS[processor.exponential(like.dtype) if like.is_cpu else "exp2"]


@dataclass(frozen=True)
class Scoring:
    """How scores are computed: the settings of `head_maps` apart from the pixels; `sinks` and `kept` are those of all heads."""

    mask: str | Rule
    span: int
    scale: float
    softcap: float | None = None
    positions: str = "none"
    softmax: str = "standard"
    sinks: tuple[float, ...] = ()
    query_scale: str = OFF
    kept: Float[Tensor, "h n"] | None = field(default=None, compare=False, repr=False)

    @property
    def rule(self) -> Rule:
        """The mask rule itself."""
        return MASKS[self.mask] if isinstance(self.mask, str) else self.mask

    def sink(self, head: int) -> float:
        """What a head adds to the denominator, as a logit."""
        return self.sinks[head] if self.sinks else SOFTMAXES[self.softmax].sink

    def products(
        self,
        left: Float[Tensor, "l d"],
        right: Float[Tensor, "r d"],
        out: Float[Tensor, "l r"],
        unit: float,
        begun: bool = False,
    ) -> Float[Tensor, "l r"]:
        """Scaled products of queries and keys, in either order, multiplied by the `unit` of an exponential.

        If `begun`, they are added to what `out` holds.
        """
        return torch.addmm(out, left, right.T, beta=int(begun), alpha=self.scale * unit, out=out)

    @property
    def halves(self) -> int:
        """The number of softmaxes of a head, each of a part of its channels."""
        return SOFTMAXES[self.softmax].halves

    @property
    def top_pool(self) -> Pool:
        """How the largest weight of a tile is found: by magnitude if weights may be negative."""
        return EXTREME if SOFTMAXES[self.softmax].signed else GREATEST

    @property
    def adjusts(self) -> bool:
        """Whether scores are more than scaled products."""
        return bool(self.softcap) or self.adds

    @property
    def adds(self) -> bool:
        """Whether positions or forgetting add something to scores."""
        return POSITIONS[self.positions].to_scores is not None or self.kept is not None

    def score_biases(self, q: At, k: At, head: int, heads: int, like: Tensor) -> Iterator[Tensor]:
        """Yields what positions and forgetting add to the scores of these pairs."""
        rows, cols = column(q, like), row(k, like)
        if to_scores := POSITIONS[self.positions].to_scores:
            yield to_scores(rows, cols, torch.tensor(head, device=like.device), heads)
        if self.kept is not None:
            kept = self.kept[head].to(like.device)
            left, right = kept[rows], kept[cols]
            ref = left.flatten()[:1]
            yield (near_sums(left, ref, like.dtype) - near_sums(right, ref, like.dtype)).abs_().neg_()

    def falls(self, head: int, heads: int, n: int, device: torch.device) -> Float[Tensor, " n"] | None:
        """Sums up to each token of what scores lose from there on: their differences are the bias; None if nothing falls."""
        rule, at = POSITIONS[self.positions], torch.arange(n, device=device)
        kept = None if self.kept is None else self.kept[head].to(device)
        if not rule.is_linear or rule.to_scores is None:
            return kept
        found = rule.to_scores(at, torch.zeros_like(at), torch.tensor(head, dtype=torch.float64, device=device), heads)
        return found if kept is None else found + kept

    def adjust_scores(self, scores: Tensor, q: At, k: At, head: int, heads: int, unit: float) -> Tensor:
        """Applies softcap, position bias and forgetting to scaled products in place; `q` and `k` broadcast to them."""
        soft_cap(scores, self.softcap and self.softcap * unit)
        for bias in self.score_biases(q, k, head, heads, scores):
            scores.add_(bias, alpha=unit)
        return scores

    def sees(self, q: At, k: At, n: int, like: Tensor) -> Bool[Tensor, ...]:
        """The values of the mask rule for every pair of these positions."""
        rows, cols = column(q, like), row(k, like)
        return self.rule(rows, cols, n, self.span).expand(np.broadcast_shapes(rows.shape, cols.shape))

    def score_bound(self, longest: float, other: float) -> float:
        """An upper bound of absolute scores, from the norms of the longest query and key; infinite if unknown."""
        return math.inf if self.adds else self.product_bound(longest, other)

    def product_bound(self, longest: float, other: float) -> float:
        """The same before positions and forgetting: an upper bound of scores, as nothing above zero is added."""
        return min(longest * other * abs(self.scale), self.softcap or math.inf)

    def sees_itself(self, n: int) -> bool:
        """Whether every one of n queries sees its own token, to whose score nothing is added."""
        at = torch.arange(n, dtype=torch.int32)
        return bool(self.rule(at, at, n, self.span).all())


def column(at: At, like: Tensor) -> Int[Tensor, ...]:
    """Positions of queries as a column; int32 is exact and takes half the memory."""
    return at if isinstance(at, Tensor) else row(at, like).T


def row(at: At, like: Tensor) -> Int[Tensor, ...]:
    """Positions of keys as a row."""
    if isinstance(at, Tensor):
        return at
    return torch.arange(at.start, at.stop, dtype=torch.int32, device=like.device)[None]


def factors(seen: Bool[Tensor, "*c"], like: Tensor) -> Float[Tensor, "*c"]:
    """One if a key is visible, zero if it is masked."""
    return seen.view(torch.uint8).to(like.device, like.dtype)  # bytes convert several times as fast as booleans


def penalty(factors: Float[Tensor, "*c"]) -> Float[Tensor, "*c"]:
    """What is added to scores: zero if a key is visible, HIDDEN if it is masked."""
    return factors.sub(1).mul_(-HIDDEN)


def exponentials(scores: Tensor, out: Tensor, way: Exponential, faint: bool) -> Tensor:
    """Writes e to the scores, which are in units of `way`, into `out`.

    If some scores may be `faint`, they are raised to LEAST first, and their exponentials become zero.
    """
    if not (faint and way.faint):
        return way.power(scores, out=out)
    return F.threshold(way.power(scores.clamp_(min=LEAST * way.unit), out=out), FAINT, 0.0, inplace=True)
