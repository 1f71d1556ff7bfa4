"""Weights of some queries that are no softmax: those of a sigmoid, and those above a threshold."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attention.maps.blocks import Span
from attention.maps.strips import NOTHING, Job, Strip
from attention.operations.softmax import SOFTMAXES
from attention.operations.sparse import Threshold
from attention.operations.thresholds import find_threshold, weigh_above

CHUNK = 2**20  # cells whose thresholds are found together: with the memory of each step they stay in a cache


def strip_class(job: Job) -> type[Strip]:
    """The kind of strip that computes the weights of a job."""
    how = SOFTMAXES[job.scoring.softmax]
    if isinstance(how, Threshold):
        return ThresholdStrip
    return Strip if how.distributes else SigmoidStrip


class SigmoidStrip(Strip):
    """A sigmoid of every score: the weights of a piece depend on no other. They have no entropy and no mean distance."""

    def take(self, span: Span, shown: list[Tensor]) -> None:
        scores, powers = self.space.piece(span.stop - span.start, len(self.query))
        self.fill_scores(scores, span, shown)
        self.pool(torch.sigmoid(scores.sub_(self._shift), out=powers), span.start)

    @property
    def _shift(self) -> float:
        return self.job.scoring.sink(self.job.head)

    def weights(self) -> tuple[Float[Tensor, "r p"], Float[Tensor, "r p"] | None, Tensor]:
        none = torch.full_like(self.total, torch.nan)
        return finish(self, torch.full_like(self.total, self._shift), none, none)


class ThresholdStrip(Strip):
    """Sparsemax or entmax. Scores are held until all keys were taken, as the threshold of a row depends on all of them."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        how = SOFTMAXES[self.job.scoring.softmax]
        assert isinstance(how, Threshold), how
        self.way, self.power = self.way._replace(unit=1.0), how.power
        self.held = self.query.new_empty(len(self.job.key), len(self.query))
        self.spans: list[tuple[int, slice]] = []  # the first key of each piece, and its place in `held`

    def take(self, span: Span, shown: list[Tensor]) -> None:
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
