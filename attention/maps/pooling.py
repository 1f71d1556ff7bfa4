"""One head's weights, pooled while they are computed: some rows at a time, in memory of order n.

A block of rows meets its keys in pieces that stay in the cache. Each piece is a product, one exponential a cell, and
sums and maxima by tile; what a row needs to be normalised is known at its end, and the tiles' sums wait for it (online
softmax: Milakov & Gimelshein 2018, algorithm 3; tiles: Dao et al. 2022, FlashAttention, section 3.1). Where
|q| |k| scale bounds every score (Cauchy-Schwarz), exponentials can't overflow and no running maximum is kept.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.maps.blocks import Blocks, Span, along, differences
from attention.maps.scoring import HIDDEN, At, Scoring, column, exponentials, penalty
from attention.scores import NORMALISERS

NOTHING = -1e29  # the greatest score of a row that has seen nothing yet: hidden pairs stay far below it
SAFE = 40.0  # scores up to here can be exponentiated and summed in float32 as they are


@dataclass(frozen=True, eq=False)
class Job:
    """Some rows of one head: the queries from `first` on, all keys, and how the result is pooled.

    Pixels are tiles of `tile` x `tile` cells within `rows` and `cols`; `widest`: keys of a piece at the most;
    `greatest`, `stats`: whether maxima and statistics are wanted.
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
    greatest: bool
    stats: bool


class Pooled(NamedTuple):
    """What a job gives: sums and maxima of weights by tile, from the tile of the first row on, and numbers by row."""

    sums: Float[Tensor, "a p"]
    most: Float[Tensor, "a p"] | None
    numbers: Float[Tensor, "s r"]


def pooled(job: Job) -> Pooled:
    """The rows of a job. `numbers`: log-sum-exp, and with statistics entropy, greatest weight and distance."""
    with torch.inference_mode():
        edges, tile, numbers = job.blocks.rows.tolist(), job.tile, []
        base = (job.first - job.rows[0]) // tile * tile + job.rows[0]
        shape = ceil(edges[-1] - base, tile), ceil(job.cols[1] - job.cols[0], tile)
        sums, most = job.query.new_zeros(shape), job.query.new_zeros(shape) if job.greatest else None
        longest, space = _longest(job), _Space(job, int(job.blocks.rows.diff().max()))
        for row, (start, stop) in enumerate(itertools.pairwise(edges)):
            query = job.query[start - job.first : stop - job.first]
            strip = _Strip(job, query, range(start, stop), longest, space)
            for span in job.blocks.spans(row, job.widest, job.cols):
                strip.take(span, strip.hidden(span))
            by_tile, tops, found = strip.weights()
            add(sums.T, by_tile.T, start - base, tile)
            if most is not None and tops is not None:
                lift(most.T, tops.T, start - base, tile)
            numbers.append(found)
        return Pooled(sums, most, torch.cat(numbers, 1))


def sampled(jobs: list[Job], rows: Int[Tensor, "r 1"]) -> list[Pooled]:
    """Some queries, of any positions, in one head a job: each is a row of tiles by itself. `numbers`: log-sum-exp.

    The jobs' queries are those alone, and their blocks one band of rows that has all of them.
    """
    with torch.inference_mode():
        space, first = _Space(jobs[0], len(rows)), jobs[0]
        strips = [_Strip(job, job.query, rows, _longest(job), space) for job in jobs]
        for span in first.blocks.spans(0, first.widest, first.cols):
            hidden = strips[0].hidden(span)
            for strip in strips:
                strip.take(span, hidden)
        return [Pooled(*strip.weights()) for strip in strips]


def _longest(job: Job) -> float:
    return float(job.key.norm(dim=-1).max())


class _Space:
    """Memory that the blocks of a job use in turn, each of `height` rows at the most."""

    def __init__(self, job: Job, height: int) -> None:
        cells = height * job.widest
        self.scores, self.powers = job.query.new_empty(cells), job.query.new_empty(cells if job.stats else 0)
        self.ramp = torch.arange(job.widest, dtype=job.query.dtype, device=job.query.device)


class _Strip:
    """Some queries, and where they stand, while their keys come in piece by piece.

    By tile: `sums` of exp(score - peak), `tops` greatest scores. By row: `total`, `moment` and `away` are the sums of
    e = exp(score - peak), of e (score - peak) and of e |q - k|; `top` is the greatest score.
    """

    def __init__(self, job: Job, query: Float[Tensor, "r d"], rows: At, longest: float, space: _Space) -> None:
        self.job, self.query, self.rows, self.space = job, query, rows, space
        height, wide = len(query), ceil(job.cols[1] - job.cols[0], job.tile)
        self.bounded = job.scoring.bound(self.query, longest) <= SAFE
        self.sums = self.query.new_zeros(height, wide)
        self.tops = self.query.new_full((height, wide), HIDDEN) if job.greatest else None
        self.top = self.query.new_full((height,), NOTHING)
        self.peak = self.query.new_zeros(height) if self.bounded else self.top
        self.total, self.moment, self.away = self.query.new_zeros(3, height, dtype=torch.float64)

    def hidden(self, span: Span) -> list[Tensor]:
        """What is added to the scores of each part of a piece in which the rule hides some."""
        return [self._penalty(left, right) for left, right in span.cuts]

    def take(self, span: Span, hidden: list[Tensor]) -> None:
        """One piece of keys, and what hides some of them."""
        job, shape = self.job, (len(self.query), span.stop - span.start)
        scores, cols = self.space.scores[: math.prod(shape)].view(shape), range(span.start, span.stop)
        job.scoring.scores(self.query, job.key[span.start : span.stop], self.rows, cols, job.head, job.heads, scores)
        for (left, right), added in zip(span.cuts, hidden, strict=True):
            scores[:, left - span.start : right - span.start].add_(added)
        at = span.start - job.cols[0] if job.cols[0] <= span.start < job.cols[1] else None
        self._rise(scores, at)
        if not self.bounded:
            scores.sub_(self.peak[:, None])
        powers = self.space.powers[: math.prod(shape)].view(shape) if job.stats else scores
        exponentials(scores, powers, faint=bool(span.cuts) or not self.bounded)
        total = powers.sum(-1) if at is None else add(self.sums, powers, at, job.tile)
        self.total += total
        if job.stats:
            self.moment += scores.mul_(powers).sum(-1)
            self.away += self._away(powers, span, total, scores)

    def _penalty(self, left: int, right: int) -> Tensor:
        """What is added to scores: nothing where the rule allows, HIDDEN where it does not."""
        scoring, n = self.job.scoring, len(self.job.key)
        if self.job.blocks.steady and isinstance(self.rows, range):
            first, last = left - self.rows.stop + n, right - self.rows.start + n - 1
            return along(penalty(differences(scoring.rule, n, scoring.span)[first:last], self.query), len(self.rows))
        return penalty(scoring.sees(self.rows, range(left, right), n, self.query), self.query)

    def _rise(self, scores: Tensor, at: int | None) -> None:
        """The greatest scores so far; without a bound, what was summed before is brought to the new greatest."""
        if self.tops is not None and at is not None:
            top = lift(self.tops, scores, at, self.job.tile)
        elif self.job.stats or not self.bounded:
            top = scores.amax(-1)
        else:
            return
        self.top = torch.maximum(self.top, top)
        if not self.bounded:
            rise = (self.peak - self.top).double()
            shrink = rise.exp()
            self.sums.mul_(shrink.to(self.sums.dtype)[:, None])
            self.moment = (self.moment + self.total * rise) * shrink
            self.total, self.away, self.peak = self.total * shrink, self.away * shrink, self.top

    def _away(self, powers: Tensor, span: Span, total: Tensor, space: Tensor) -> Tensor:
        """Sums of e |q - k|, counted from the near end of the piece, so that nothing cancels.

        No product of matrix and vector: one thread would fetch from the caches what several have written.
        """
        ramp = self.space.ramp[: span.stop - span.start]
        rows = column(self.rows, ramp)[:, 0].to(ramp.dtype)
        if span.stop <= self.rows[0] + 1:
            return torch.mul(powers, ramp.flip(0), out=space).sum(-1) + total * (rows - (span.stop - 1))
        if self.rows[-1] <= span.start:
            return torch.mul(powers, ramp, out=space).sum(-1) + total * (span.start - rows)
        return torch.sub(rows[:, None], ramp + span.start, out=space).abs_().mul_(powers).sum(-1)

    def weights(self) -> tuple[Tensor, Tensor | None, Tensor]:
        """Sums and maxima of the weights by tile, and the numbers of every row, once all keys have come in."""
        seen, peak = self.total > 0, self.peak.double()
        alone = self.total.log()  # the log-sum-exp above the peak
        above = torch.where(seen, NORMALISERS[self.job.scoring.softmax](peak + alone) - peak, 0)
        lse = NORMALISERS[self.job.scoring.softmax](torch.where(seen, peak + alone, -math.inf))
        by_tile = self.sums.mul_((-above).exp().to(self.sums.dtype)[:, None])
        tops = self.tops
        if tops is not None:
            tops = tops.sub_(self.peak[:, None]).sub_(above.to(tops.dtype)[:, None])
            tops = exponentials(tops, tops, faint=True)
        if not self.job.stats:
            return by_tile, tops, lse[None]
        part = (-above).exp()
        entropy = part * (above * self.total - self.moment)
        greatest = torch.where(seen, (self.top.double() - peak - above).exp(), 0)
        return by_tile, tops, torch.stack([lse, entropy.clamp_(min=0), greatest, part * self.away])


def add(tiles: Float[Tensor, "r p"], cells: Float[Tensor, "r w"], at: int, tile: int) -> Float[Tensor, "r"]:
    """Adds cells, the first of which is the at-th of its row, to their tiles; gives the sum of each row."""
    total = cells.new_zeros(len(cells), dtype=torch.float64)
    for first, part in _by_tile(cells, at, tile):
        found = part.sum(-1) if part.shape[-1] > 1 else part[..., 0]
        tiles[:, first : first + found.shape[1]].add_(found)
        total += found.sum(-1)
    return total


def lift(tiles: Float[Tensor, "r p"], cells: Float[Tensor, "r w"], at: int, tile: int) -> Float[Tensor, "r"]:
    """Lifts tiles to the greatest of their cells, as `add` adds them; gives the greatest of each row."""
    greatest = cells.new_full((len(cells),), -math.inf)
    for first, part in _by_tile(cells, at, tile):
        found = part.amax(-1) if part.shape[-1] > 1 else part[..., 0]
        into = tiles[:, first : first + found.shape[1]]
        torch.maximum(into, found, out=into)
        greatest = torch.maximum(greatest, found.amax(-1))
    return greatest


def ceil(count: int, size: int) -> int:
    """How many pieces of a size it takes."""
    return -(-count // size)


def _by_tile(cells: Float[Tensor, "r w"], at: int, tile: int) -> Iterator[tuple[int, Float[Tensor, "r p t"]]]:
    """The cells by tile: the end of a tile that was begun before, whole tiles, the beginning of one."""
    width = cells.shape[1]
    lead = min(-at % tile, width)
    last = lead + (width - lead) // tile * tile
    for start, stop, size in ((0, lead, lead), (lead, last, tile), (last, width, width - last)):
        if stop > start:
            yield (at + start) // tile, cells[:, start:stop].unflatten(1, (-1, size))
