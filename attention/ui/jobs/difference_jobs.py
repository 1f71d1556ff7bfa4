"""Jobs that compare two long sequences: for each head both sides' log-sum-exps, and a second walk that subtracts them.

A job for both sides, as a visitor has one map job at a time. It shares the executors and the queue of maps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from torch import Tensor

from attention.charts import theme
from attention.comparison.long_differences import LongSide, Subtracted, log_sum_exps, of_head, subtract
from attention.config import Config
from attention.maps.jobs import Cancelled
from attention.maps.picture import HeadMaps
from attention.ui.budget import BUDGET, EXPIRY, refusal_sentence
from attention.ui.jobs.job import Job
from attention.ui.jobs.map_jobs import MapJob, MapJobs, drawing_estimate, head_maps_arguments
from attention.ui.jobs.vectors import Vectors
from attention.ui.text import jobs as words

WALK = 0.5  # share of the time that the second walk takes
CELL = 5 * 4  # bytes of a cell of a difference, on average


class Compared(NamedTuple):
    """One finished head: the maps of A and B with their log-sum-exps, and the difference."""

    maps: tuple[HeadMaps, HeadMaps]
    found: Subtracted


@dataclass(eq=False)
class DifferenceJob(Job):
    """B minus A of two configs, `settings`, of equally many tokens and heads; `heads` are finished in order."""

    settings: tuple[Config, Config]
    studio: MapJobs = field(kw_only=True)
    vectors: tuple[Vectors, Vectors] = field(kw_only=True)
    heads: list[Compared] = field(default_factory=list, init=False)

    kind: ClassVar[str] = "difference"
    keep_s: ClassVar[float] = EXPIRY

    def run(self) -> None:
        """Computes the missing heads in a thread of the executor of maps."""
        self.studio.lane.submit(self._compare).result()

    def _compare(self) -> None:
        every = self.settings[0].heads
        try:
            while len(self.heads) < every:
                self.heads.append(self._head(len(self.heads)))
        except Cancelled:
            self.progress(len(self.heads) / every)

    def _head(self, head: int) -> Compared:
        config, watched = self.settings[0], {"cancelled": self.should_stop}
        sides = []
        for at in (0, 1):
            options, done = (
                head_maps_arguments(self.settings[at]),
                self._progress(head, at * (1 - WALK) / 2, (1 - WALK) / 2),
            )
            pair = self.pair(at, head)
            maps = log_sum_exps(head, config.heads, *pair, options, self.studio.blocks, done, **watched)
            sides.append(LongSide(maps, *pair))
        whole = 0, config.tokens
        done = self._progress(head, 1 - WALK, WALK)
        found = subtract(sides[0], sides[1], whole, whole, theme.side(config.heads), self.studio.own, done, **watched)
        return Compared((sides[0].maps, sides[1].maps), found)

    def _progress(self, head: int, before: float, part: float) -> Callable[[float], None]:
        return lambda share: self.progress((head + before + part * share) / self.settings[0].heads)

    def pair(self, side: int, head: int) -> tuple[Tensor, Tensor]:
        """The query and the key `(1 n d)` of a head of A (0) or B (1); not for callers in executors of rank 0."""
        return of_head(head, *self.vectors[side].of(head))

    def side(self, at: int, head: int) -> LongSide:
        """A finished head of A (0) or B (1)."""
        return LongSide(self.heads[head].maps[at], *self.pair(at, head))

    @property
    def guess(self) -> float:
        """Estimated seconds on a machine that does nothing else."""
        return sum(drawing_estimate(each).seconds for each in self.settings) / (1 - WALK)

    @property
    def doing(self) -> str:
        """What is done, as visitors who wait behind it read it."""
        return words.COMPARED

    @property
    def claim(self) -> int:
        """Bytes at the peak until it has ended; then those of what is kept."""
        return claim(*self.settings) if self.open else kept_bytes(self)


def kept_bytes(job: DifferenceJob) -> int:
    """Bytes of the finished heads, and of the queries and keys that are held now."""
    parts = [part for head in job.heads for part in (*head.maps, head.found.cells)]
    tensors = [each for part in parts for each in vars(part).values() if isinstance(each, Tensor)]
    tensors += [head.found.sums for head in job.heads]
    return sum(each.bytes for each in job.vectors) + sum(each.nbytes for each in tensors)


def claim(a: Config, b: Config) -> int:
    """Bytes that a comparison takes at its peak."""
    return sum(drawing_estimate(each).bytes for each in (a, b)) + 2 * CELL * a.heads * theme.side(a.heads) ** 2


def ask(studio: MapJobs, a: Config, b: Config, visitor: str) -> DifferenceJob:
    """The job of two configs for a visitor, started if there is none or if it was given up."""
    pair = a.for_page(), b.for_page()

    def begin() -> DifferenceJob:
        BUDGET.room(claim(*pair))
        both = Vectors(pair[0], studio.sketchers), Vectors(pair[1], studio.sketchers)
        return DifferenceJob(pair, clock=studio.line.clock, studio=studio, vectors=both)

    studio.line.leave_previous(MapJob, visitor)
    return studio.line.request(DifferenceJob, pair, visitor, begin)


def refusal(studio: MapJobs, a: Config, b: Config, visitor: str) -> str:
    """Why there is no room for a comparison; "" if there is, or if it exists."""
    there = studio.line.find(DifferenceJob, (a.for_page(), b.for_page()))
    needed = claim(a, b)
    if (there is not None and not there.given_up) or studio.line.room(needed, visitor):
        return ""
    return refusal_sentence(words.THIS_COMPARISON, needed, BUDGET.free_bytes)
