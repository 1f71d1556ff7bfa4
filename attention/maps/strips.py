"""The softmax of some queries over all keys, a piece at a time, pooled by tiles.

Each piece takes a product, one exponential per cell, and sums and maxima by tile; the denominator of a row is known after
its last piece, and the tiles' sums are divided by it then (online softmax: Milakov & Gimelshein 2018, algorithm 3; tiles:
Dao et al. 2022, FlashAttention, section 3.1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.maps.blocks import Blocks, KeyRange, along, differences
from attention.maps.scoring import LEAST, At, Scoring, column, exponentials, factors, penalty, way_of
from attention.maps.scratch import Space
from attention.maps.tiles import add, pool_maxima
from attention.operations.forgetting import near_sums
from attention.operations.normalisers import Softmax
from attention.operations.positions import POSITIONS
from attention.operations.softmax import head_softmax

NOTHING = -1e29  # initial maximum of a row before its first visible key: masked pairs stay far below it
SAFE = 40.0  # scores up to this bound are exponentiated and summed in float32 without subtracting a maximum
STRETCH = 128  # cells that are summed in their own precision


class Tiles(NamedTuple):
    """Sums and maxima by tile."""

    sums: Float[Tensor, "a p"]
    most: Float[Tensor, "a p"] | None

    def rows(self, some: slice) -> Tiles:
        """A view of some rows."""
        return Tiles(self.sums[some], None if self.most is None else self.most[some])


@dataclass(frozen=True, eq=False)
class RowJob:
    """Some rows of one head: the queries from `first` on, all keys, and how the result is pooled.

    Pixels are tiles of `tile` x `tile` cells within `rows` and `cols`. `widest`: the largest number of keys in a
    piece; `longest`: the norm of the longest key, None if no score of the head exceeds SAFE; `greatest`, `stats`:
    whether maxima and statistics are wanted; `into`: memory for sums and maxima, if the job is not to allocate its
    own.
    """

    query: Float[Tensor, "r d"]
    key: Float[Tensor, "n d"]
    first: int
    head: int
    heads: int
    scoring: Scoring
    blocks: Blocks
    tile: int
    rows: tuple[int, int]
    cols: tuple[int, int]
    widest: int
    longest: float | None
    greatest: bool
    stats: bool
    into: Tiles | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Drops `into`, which another process can't write to."""
        return vars(self) | {"into": None}


class Strip:
    """Some queries, their positions, and running sums over the pieces of keys taken so far.

    A piece is stored key by key, so that tiles of any size are pooled along whole rows of queries: along a few
    neighbours torch takes up to ten times as long. With e = exp(score - peak), the state by tile is `sums` and the
    maxima `tops`; by row it is `total`, `moment` and `away`, the sums of e, of e (score - peak) and of e |q - k|, and
    the maximum `top`. Scores and peak, which is zero if scores are bounded, are in units of the exponential. Only the
    first `known` tiles hold values yet. If an `order` is given, queries, sums and tops are in this order; the numbers
    of rows that `weights` returns are not.
    """

    def __init__(
        self,
        job: RowJob,
        query: Float[Tensor, "r d"],
        rows: At,
        space: Space,
        bounded: bool,
        sums: Float[Tensor, "p r"],
        tops: Float[Tensor, "p r"],
        order: Int[Tensor, " r"] | None = None,
    ) -> None:
        self.job, self.rows, self.space, self.bounded = job, rows, space, bounded
        self.order = order if order is None else order.to(query.device)
        self.query = query if self.order is None else query.index_select(0, self.order)
        self.key = job.key
        self.way, height = way_of(job.scoring.softmax, query), len(query)
        self.sums, self.tops, self.known = sums, tops if job.greatest else None, 0
        self.peak = query.new_full((height,), 0 if bounded else NOTHING)
        self.total, self.moment, self.away, self.top = query.new_zeros(4, height, dtype=torch.float64)

    @cached_property
    def places(self) -> Int[Tensor, "1 r"]:
        """The positions of these queries, as a row."""
        places = column(self.rows, self.query).T
        return places if self.order is None else places.index_select(1, self.order)

    def visible_parts(self, span: KeyRange) -> list[Tensor]:
        """Factors, 1 for visible and 0 for masked pairs, of each part of a piece that has both."""
        return [self._rule_cells(left, right) for left, right in span.cuts]

    def take(self, span: KeyRange, shown: list[Tensor]) -> None:
        """Adds one piece of keys; `shown` are its `visible_parts`."""
        job, (least, most) = self.job, self._losses(span)
        if self.bounded and least > SAFE - LEAST:  # all exponentials would be zero
            return
        scores, powers = self.space.piece(span.stop - span.start, len(self.query))
        self.fill_scores(scores, span, [] if self.bounded else shown)
        if not self.bounded:
            self._rise(scores)
        exponentials(scores, powers, self.way, faint=not self.bounded or most > -LEAST - SAFE)
        if self.bounded:
            for cut, seen in zip(_cuts(span), shown, strict=True):
                powers[cut].mul_(seen)
        total = self.pool(powers, span.start)
        if job.stats:
            self.moment += scores.mul_(powers).sum(0)
            self.away += self.distances(powers, span.start, total, scores)

    def fill_scores(self, scores: Float[Tensor, "w r"], span: KeyRange, shown: list[Tensor]) -> None:
        """Writes the scores of a piece; `shown` are its `visible_parts`, [] if masked pairs are left as they are."""
        job, keys, unit = self.job, slice(span.start, span.stop), self.way.unit
        begun = job.scoring.adds and not job.scoring.softcap
        if begun:
            self._begin_scores(scores, keys)
        job.scoring.products(self.key[keys], self.query, scores, unit, begun)
        if job.scoring.softcap:
            job.scoring.adjust_scores(scores, self.places, self.space.keys[keys], job.head, job.heads, unit)
        for cut, seen in zip(_cuts(span), shown, strict=False):
            scores[cut].add_(penalty(seen))

    def _begin_scores(self, scores: Float[Tensor, "w r"], keys: slice) -> None:
        """Writes what positions and forgetting add to the scores of a piece: the products start from it."""
        cols, unit = self.space.keys[keys], self.way.unit
        falls, line = self._falls, self._line
        if falls is not None:
            ref = falls[self.rows[0]]
            left, right = (near_sums(falls[at], ref, scores.dtype).mul_(unit) for at in (self.places, cols))
            torch.sub(left, right, out=scores)
            scores[max(0, self._ends[0] + 1 - keys.start) :].abs_().neg_()  # before a query, sums only fall
        if line is not None:
            first = keys.start - self.rows[-1] + len(self.job.key) - 1
            far = min(max(self._flat - first - len(self.rows) + 1, 0), len(scores))
            pieces = line[first + far : first + len(scores) + len(self.rows) - 1].unfold(0, len(scores) - far, 1)
            shown = pieces.index_select(0, self.rows[-1] - self.places[0]).T
            for part, bias in ((scores[:far], line[0]), (scores[far:], shown)):
                part.copy_(bias) if falls is None else part.add_(bias)
        elif self._by_pair:
            bias = next(self.job.scoring.score_biases(self.places, cols, self.job.head, self.job.heads, scores))
            scores.copy_(bias.mul_(unit)) if falls is None else scores.add_(bias, alpha=unit)

    @cached_property
    def _falls(self) -> Float[Tensor, " n"] | None:
        """What `Scoring.falls` returns of the head."""
        return self.job.scoring.falls(self.job.head, self.job.heads, len(self.job.key), self.query.device)

    @cached_property
    def _ends(self) -> tuple[int, int]:
        """The positions of the first and the last of these queries."""
        return int(self.places.min()), int(self.places.max())

    def _losses(self, span: KeyRange) -> tuple[float, float]:
        """What positions and forgetting take from the scores of a piece, at the least and at the most."""
        least, most = 0.0, self._most_by_pair
        if self._falls is not None:
            (first, last), (start, stop) = (
                (float(self._falls[at]) for at in ends) for ends in (self._ends, (span.start, span.stop - 1))
            )
            least = max(stop - first, last - start, 0.0)
            most += max(start - last, first - stop)
        return least, most

    @property
    def _by_pair(self) -> bool:
        """Whether positions add a number to scores that is no difference of sums."""
        rule = POSITIONS[self.job.scoring.positions]
        return rule.to_scores is not None and not rule.is_linear

    @cached_property
    def _line(self) -> Float[Tensor, " m"] | None:
        """That number at each key - query, from 1 - n on, in units of the exponential; None for queries that are apart."""
        to_scores, n = POSITIONS[self.job.scoring.positions].to_scores, len(self.job.key)
        if to_scores is None or not self._by_pair or not isinstance(self.rows, range):
            return None
        apart = torch.arange(1 - n, n, dtype=torch.int32, device=self.query.device)
        head = torch.tensor(self.job.head, device=self.query.device)
        line = to_scores((-apart).clamp(min=0), apart.clamp(min=0), head, self.job.heads)
        return line.to(self.query.dtype).mul_(self.way.unit)

    @cached_property
    def _most_by_pair(self) -> float:
        """The most that such a number takes from a score; infinite if it is not known."""
        if self._line is None:
            return math.inf if self._by_pair else 0.0
        return -float(self._line.min()) / self.way.unit

    @cached_property
    def _flat(self) -> int:
        """How many of its first numbers are equal: those of all keys far before a query."""
        line = self._line
        return 0 if line is None else int((line != line[0]).to(torch.uint8).argmax())

    def _rule_cells(self, left: int, right: int) -> Float[Tensor, "w r"]:
        scoring, n = self.job.scoring, len(self.job.key)
        if self.job.blocks.steady and isinstance(self.rows, range):
            first, last = left - self.rows.stop + n, right - self.rows.start + n - 1
            line = differences(scoring.rule, n, scoring.span)[first:last].flip(0)
            shown = along(factors(line, self.query), right - left)
            return shown if self.order is None else shown.index_select(1, self.order)
        return factors(scoring.sees(self.places, self.space.keys[left:right], n, self.query), self.query)

    def _rise(self, scores: Float[Tensor, "w r"]) -> None:
        """Subtracts the largest score so far, and rescales earlier sums to the new maximum."""
        peak = torch.maximum(self.peak, scores.amax(0))
        rise = (self.peak - peak).double()
        shrink = (rise / self.way.unit).exp()
        self.sums[: self.known].mul_(shrink.to(self.sums.dtype))
        if self.tops is not None:
            self.tops[: self.known].mul_(shrink.to(self.sums.dtype))
        self.moment = (self.moment + self.total * rise) * shrink
        self.total, self.away, self.top, self.peak = self.total * shrink, self.away * shrink, self.top * shrink, peak
        scores.sub_(peak)

    def pool(self, powers: Float[Tensor, "w r"], start: int) -> Float[Tensor, " r"]:
        """Adds a piece to its tiles, if it is within the picture; returns the sum of each row."""
        job = self.job
        at = start - job.cols[0] if job.cols[0] <= start < job.cols[1] else None
        if at is not None:
            self.reach(at // job.tile)
        found = [powers] if at is None else add(self.sums, powers, at, job.tile, self.known)
        total = reduce(torch.add, [part.sum(0) for part in found])
        self.total += total
        tops = [powers] if self.tops is None or at is None else pool_maxima(self.tops, powers, at, job.tile, self.known)
        if at is not None:
            self.known = max(self.known, ceil(at + len(powers), job.tile))
        if job.stats:
            self.top = reduce(torch.maximum, [part.amax(0) for part in tops], self.top)
        return total

    def reach(self, stop: int) -> None:
        """Zeroes the tiles before `stop` that no key has reached."""
        if stop > self.known:
            for tiles in (self.sums, self.tops):
                if tiles is not None:
                    tiles[self.known : stop].zero_()
            self.known = stop

    def distances(self, powers: Float[Tensor, "w r"], start: int, total: Tensor, space: Tensor) -> Float[Tensor, " r"]:
        """Sums of e |q - k|, with distances counted from the near end of the piece, so that nothing cancels."""
        ramp, rows = self.space.ramp, self.places[0].double()
        stop = start + len(powers)
        if stop <= self.rows[0] + 1:
            return weighted_sums(powers, ramp[: len(powers)].flip(0)) + total * (rows - (stop - 1))
        if self.rows[-1] <= start:
            return weighted_sums(powers, ramp[: len(powers)]) + total * (start - rows)
        apart = (ramp[: len(powers)] + start)[:, None]
        return torch.sub(apart, rows.to(ramp.dtype), out=space).abs_().mul_(powers).sum(0)

    def weights(self) -> tuple[Float[Tensor, "r p"], Float[Tensor, "r p"] | None, Tensor]:
        """Sums and maxima of the weights by tile, and the numbers of every row, after all keys were taken."""
        peak = self.peak.double() / self.way.unit
        softmax = head_softmax(self.job.scoring.softmax, self.job.scoring.sink(self.job.head))
        assert isinstance(softmax, Softmax), softmax
        lse = softmax.log_denominator(peak + self.total.log())
        above = torch.where(self.total > 0, lse - peak, 0)
        part = (-above).exp()
        self.reach(len(self.sums))
        by_tile, tops = self.sums.mul_(part.to(self.sums.dtype)).T, self.tops
        if tops is not None:
            tops = tops.mul_(part.to(tops.dtype)).T
        if not self.job.stats:
            return by_tile, tops, self.as_asked(lse[None])
        entropy = part * (above * self.total - self.moment / self.way.unit)
        found = torch.stack([lse, entropy.clamp_(min=0), part * self.top, part * self.away])
        return by_tile, tops, self.as_asked(found)

    def as_asked(self, numbers: Float[Tensor, "s r"]) -> Float[Tensor, "s r"]:
        """The numbers of rows in the original order of the queries."""
        return numbers if self.order is None else torch.empty_like(numbers).index_copy_(1, self.order, numbers)


def _cuts(span: KeyRange) -> list[slice]:
    """The parts of a piece in which some pairs are masked, counted from its first key."""
    return [slice(left - span.start, right - span.start) for left, right in span.cuts]


def weighted_sums(cells: Float[Tensor, "w r"], by: Float[Tensor, " w"]) -> Float[Tensor, " r"]:
    """Weighted sums of each column, in float64 over stretches of STRETCH cells: accurate, in a single pass."""
    whole = len(cells) // STRETCH * STRETCH
    parts = cells[:whole].unflatten(0, (-1, STRETCH)), by[:whole].view(-1, 1, STRETCH)
    return torch.bmm(parts[1], parts[0])[:, 0].double().sum(0) + torch.mv(cells[whole:].T, by[whole:])


def ceil(count: int, size: int) -> int:
    """The number of pieces of a size that hold `count` elements."""
    return -(-count // size)
