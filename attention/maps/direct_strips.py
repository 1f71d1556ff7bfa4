"""Weights of some queries that are no softmax: those of a sigmoid, those above a threshold, differences of two softmaxes."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attention.maps.blocks import KeyRange
from attention.maps.scoring import exponentials
from attention.maps.strips import NOTHING, RowJob, Strip, ceil
from attention.maps.tiles import EXTREME, add, pool_maxima
from attention.operations.differential import HALVES
from attention.operations.softmax import SOFTMAXES
from attention.operations.sparse import Threshold
from attention.operations.thresholds import find_threshold, weigh_above

CHUNK = 2**19  # cells whose thresholds are found together: with the memory of each step they stay in a cache


def strip_class(job: RowJob) -> type[Strip]:
    """The kind of strip that computes the weights of a job."""
    how = SOFTMAXES[job.scoring.softmax]
    if isinstance(how, Threshold):
        return ThresholdStrip
    if how.halves > 1:
        return DifferentialStrip
    return Strip if how.distributes else SigmoidStrip


class SigmoidStrip(Strip):
    """A sigmoid of every score: the weights of a piece depend on no other. They have no entropy and no mean distance."""

    def take(self, span: KeyRange, shown: list[Tensor]) -> None:
        scores, powers = self.space.piece(span.stop - span.start, len(self.query))
        self.fill_scores(scores, span, shown)
        self.pool(torch.sigmoid(scores.sub_(self._shift), out=powers), span.start)

    @property
    def _shift(self) -> float:
        return self.job.scoring.sink(self.job.head)

    def weights(self) -> tuple[Float[Tensor, "r p"], Float[Tensor, "r p"] | None, Tensor]:
        none = torch.full_like(self.total, torch.nan)
        return finish(self, torch.full_like(self.total, self._shift), none, none)


class DifferentialStrip(Strip):
    """The difference of two softmaxes. All keys are taken twice: for both log-sum-exps, then for the weights."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.parts = [*zip(self.query.chunk(HALVES, -1), self.key.chunk(HALVES, -1), strict=True)]
        self.lse = torch.full((HALVES, len(self.query)), NOTHING * 10, dtype=torch.float64, device=self.query.device)
        self.spans: list[KeyRange] = []

    def take(self, span: KeyRange, shown: list[Tensor]) -> None:
        self.spans.append(span)
        scores, _ = self.space.piece(span.stop - span.start, len(self.places[0]))
        for at, lse in enumerate(self.lse):
            self._fill_half(at, scores, span, shown)
            torch.logaddexp(lse, scores.logsumexp(0).double(), out=lse)

    def _fill_half(self, at: int, scores: Float[Tensor, "w r"], span: KeyRange, shown: list[Tensor]) -> None:
        self.query, self.key = self.parts[at]
        self.fill_scores(scores, span, shown)

    def weights(self) -> tuple[Float[Tensor, "r p"], Float[Tensor, "r p"] | None, Tensor]:
        lse = self.lse.masked_fill(self.lse < NOTHING, torch.inf)  # of fully masked rows
        factor = self.job.scoring.sink(self.job.head)
        for span in self.spans:
            scores, shown = self.space.piece(span.stop - span.start, len(self.places[0]))[0], self.visible_parts(span)
            each = []
            for at in range(HALVES):
                self._fill_half(at, scores, span, shown)
                scores.sub_(lse[at].to(scores.dtype))
                each.append(exponentials(scores, torch.empty_like(scores), self.way, faint=True))
            self._pool_difference(each[0].sub_(each[1], alpha=factor), span.start)
        none = torch.full_like(self.total, torch.nan)
        self.reach(len(self.sums))
        numbers = [
            *self.lse.masked_fill(self.lse < NOTHING, -torch.inf),
            *((none, self.top, none) if self.job.stats else ()),
        ]
        return self.sums.T, None if self.tops is None else self.tops.T, self.as_asked(torch.stack(numbers))

    def _pool_difference(self, weights: Float[Tensor, "w r"], start: int) -> None:
        """Adds a piece to its tiles, as `pool`, where the largest weight of a tile is that of the largest magnitude."""
        job = self.job
        at = start - job.cols[0] if job.cols[0] <= start < job.cols[1] else None
        if at is not None:
            self.reach(at // job.tile)
            add(self.sums, weights, at, job.tile, self.known)
            if self.tops is not None:
                pool_maxima(self.tops, weights, at, job.tile, self.known, EXTREME)
            self.known = max(self.known, ceil(at + len(weights), job.tile))
        self.top = torch.maximum(self.top, weights.amax(0))


class ThresholdStrip(Strip):
    """Sparsemax or entmax. Scores are held until all keys were taken, as the threshold of a row depends on all of them."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        how = SOFTMAXES[self.job.scoring.softmax]
        assert isinstance(how, Threshold), how
        self.way, self.power = self.way._replace(unit=1.0), how.power
        self.held = self.query.new_empty(len(self.job.key), len(self.query))
        self.spans: list[tuple[int, slice]] = []  # the first key of each piece, and its place in `held`

    def take(self, span: KeyRange, shown: list[Tensor]) -> None:
        start = self.spans[-1][1].stop if self.spans else 0
        place = slice(start, start + span.stop - span.start)
        self.fill_scores(self.held[place], span, shown)
        self.spans.append((span.start, place))

    def weights(self) -> tuple[Float[Tensor, "r p"], Float[Tensor, "r p"] | None, Tensor]:
        found = self._thresholds()
        entropy = torch.zeros_like(self.total)
        for start, place in self.spans:
            powers = weigh_above(self.held[place].sub_(found), self.power)
            total = self.pool(powers, start)
            if self.job.stats:
                scratch = self.space.piece(*powers.shape)[0]
                entropy += torch.special.entr(powers, out=scratch).sum(0)
                self.away += self.distances(powers, start, total, scratch)
        del self.held  # before the next rows take as much
        return finish(self, found.double(), entropy, self.away)

    def _thresholds(self) -> Float[Tensor, " r"]:
        """The threshold of every row; infinite for a fully masked one."""
        queries, keys = len(self.query), self.spans[-1][1].stop if self.spans else 0
        if not keys:
            return self.query.new_full((queries,), torch.inf)
        parts = self.held[:keys].split(max(1, CHUNK // keys), 1)
        found = torch.cat([find_threshold(part, self.power, 0)[0] for part in parts])
        return found.masked_fill_(found < NOTHING, torch.inf)


def finish(
    strip: Strip, statistic: Tensor, entropy: Tensor, away: Tensor
) -> tuple[Float[Tensor, "r p"], Float[Tensor, "r p"] | None, Tensor]:
    """What `Strip.weights` returns, of weights that were pooled as they are."""
    strip.reach(len(strip.sums))
    tops = None if strip.tops is None else strip.tops.T
    numbers = torch.stack([statistic, entropy, strip.top, away] if strip.job.stats else [statistic])
    return strip.sums.T, tops, strip.as_asked(numbers)
