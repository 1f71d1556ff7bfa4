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
from attention.comparison.sampled_rows import sampled_numbers
from attention.config import Config
from attention.maps.jobs import Cancelled
from attention.maps.picture import HeadMaps
from attention.sources.providers import distributes
from attention.ui.budget import BUDGET, EXPIRY, refusal_sentence
from attention.ui.jobs.job import Job
from attention.ui.jobs.map_jobs import MapJob, MapJobs, drawing_estimate, head_maps_arguments
from attention.ui.jobs.vectors import Vectors
from attention.ui.text import jobs as words

WALK = 0.5  # share of the time that the second walk takes
CELL = 5 * 4  # bytes of a cell of a difference, on average
Pairs = tuple[tuple[int, int], ...]  # heads of A and of B


class Compared(NamedTuple):
    """One finished head: the maps of A and B with their log-sum-exps, the difference, and the numbers of some of its rows."""

    maps: tuple[HeadMaps, HeadMaps]
    found: Subtracted
    numbers: dict[str, Tensor]


@dataclass(eq=False)
class DifferenceJob(Job):
    """B minus A of two configs of equally many tokens, whose `pairs` of heads of A and B are compared.

    `settings`: both configs, and the pairs. `heads` has the finished pairs, in order.
    """

    settings: tuple[Config, Config, Pairs]
    studio: MapJobs = field(kw_only=True)
    vectors: tuple[Vectors, Vectors] = field(kw_only=True)
    heads: list[Compared] = field(default_factory=list, init=False)

    kind: ClassVar[str] = "difference"
    keep_s: ClassVar[float] = EXPIRY

    def run(self) -> None:
        """Computes the missing heads in a thread of the executor of maps."""
        self.studio.lane.submit(self._compare).result()

    def _compare(self) -> None:
        every = len(self.pairs)
        try:
            while len(self.heads) < every:
                self.heads.append(self._head(len(self.heads)))
        except Cancelled:
            self.progress(len(self.heads) / every)

    @property
    def pairs(self) -> Pairs:
        """The heads of A and of B that are compared."""
        return self.settings[2]

    def _head(self, number: int) -> Compared:
        watched, sides = {"cancelled": self.should_stop}, []
        for at in (0, 1):
            config, head = self.settings[:2][at], self.pairs[number][at]
            done = self._progress(number, at * (1 - WALK) / 2, (1 - WALK) / 2)
            given = self.vectors_of(at, number)
            options = head_maps_arguments(config)
            maps = log_sum_exps(head, config.heads, *given, options, self.studio.blocks, done, **watched)
            sides.append(LongSide(maps, *given))
        a, b = sides
        whole = 0, self.settings[0].tokens
        done = self._progress(number, 1 - WALK, WALK)
        found = subtract(a, b, whole, whole, theme.side(len(self.pairs)), self.studio.own, done, **watched)
        numbers = sampled_numbers(a, b, (distributes(self.settings[0]), distributes(self.settings[1])))
        return Compared((a.maps, b.maps), found, numbers)

    def _progress(self, number: int, before: float, part: float) -> Callable[[float], None]:
        return lambda share: self.progress((number + before + part * share) / len(self.pairs))

    def vectors_of(self, side: int, number: int) -> tuple[Tensor, Tensor]:
        """The query and the key `(1 n d)` of A (0) or B (1) in a pair of heads; not for callers in executors of rank 0."""
        head = self.pairs[number][side]
        return of_head(head, *self.vectors[side].of(head))

    def side(self, at: int, number: int) -> LongSide:
        """A (0) or B (1) in a finished pair of heads."""
        return LongSide(self.heads[number].maps[at], *self.vectors_of(at, number))

    @property
    def guess(self) -> float:
        """Estimated seconds on a machine that does nothing else."""
        every = sum(drawing_estimate(each).seconds / each.heads for each in self.settings[:2])
        return len(self.pairs) * every / (1 - WALK)

    @property
    def doing(self) -> str:
        """What is done, as visitors who wait behind it read it."""
        return words.COMPARED

    @property
    def claim(self) -> int:
        """Bytes at the peak until it has ended; then those of what is kept."""
        return claim(*self.settings[:2]) if self.open else kept_bytes(self)


def kept_bytes(job: DifferenceJob) -> int:
    """Bytes of the finished heads, and of the queries and keys that are held now."""
    parts = [part for head in job.heads for part in (*head.maps, head.found.cells)]
    tensors = [each for part in parts for each in vars(part).values() if isinstance(each, Tensor)]
    tensors += [each for head in job.heads for each in (head.found.sums, *head.numbers.values())]
    return sum(each.bytes for each in job.vectors) + sum(each.nbytes for each in tensors)


def claim(a: Config, b: Config) -> int:
    """Bytes that a comparison takes at its peak."""
    return sum(drawing_estimate(each).bytes for each in (a, b)) + 2 * CELL * a.heads * theme.side(a.heads) ** 2


def ask(studio: MapJobs, settings: tuple[Config, Config, Pairs], visitor: str) -> DifferenceJob:
    """The job of these settings for a visitor, started if there is none or if it was given up."""

    def begin() -> DifferenceJob:
        a, b, _ = settings
        BUDGET.room(claim(a, b))
        both = Vectors(a, studio.sketchers), Vectors(b, studio.sketchers)
        return DifferenceJob(settings, clock=studio.line.clock, studio=studio, vectors=both)

    studio.line.leave_previous(MapJob, visitor)
    return studio.line.request(DifferenceJob, settings, visitor, begin)


def refusal(studio: MapJobs, settings: tuple[Config, Config, Pairs], visitor: str) -> str:
    """Why there is no room for a comparison; "" if there is, or if it exists."""
    there = studio.line.find(DifferenceJob, settings)
    needed = claim(*settings[:2])
    if (there is not None and not there.given_up) or studio.line.room(needed, visitor):
        return ""
    return refusal_sentence(words.THIS_COMPARISON, needed, BUDGET.free_bytes)
