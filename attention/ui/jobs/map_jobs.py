"""Jobs that compute maps of long sequences, head after head, while pages show their progress.

A page requests the map of a config, gets its preview, and asks again for the heads that are finished. One job runs at a
time, with up to two threads for its blocks or on a cluster (attention/maps/cluster.py), and never next to a sweep of
timings; others wait in the queue, each with its preview. A pause stops it within a head, which starts over afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar, TypeVar

from torch import Tensor

from attention.config import Config
from attention.fitting import coerce
from attention.maps import cluster
from attention.maps.estimate import THREADS, Estimate, estimate, measured_rate
from attention.maps.exact import each_head
from attention.maps.jobs import Cancelled
from attention.maps.picture import HeadMaps, join_maps
from attention.maps.zoom import preview
from attention.operations.softmax import SOFTMAXES, takes_sinks
from attention.runtime.executors import RankedExecutor, Task
from attention.runtime.threads import set_nice
from attention.serving.settings import settings
from attention.sources.chunks import retained
from attention.sources.providers import made_of
from attention.ui.budget import BUDGET, EXPIRY, refusal_sentence, shrink
from attention.ui.jobs.job import Job
from attention.ui.jobs.job_queue import JobQueue
from attention.ui.jobs.vectors import Vectors, room
from attention.ui.text import jobs as words

MUCH = 2  # requests for more than this many times as much memory let later ones go first
MODEST = 15  # niceness of the threads that compute blocks
T = TypeVar("T")


@dataclass(eq=False)
class MapJob(Job):
    """The maps of a config. The `preview` comes first, then `heads`, in order."""

    settings: Config
    side: int = field(kw_only=True)
    estimate: Estimate = field(kw_only=True)
    vectors: Vectors = field(kw_only=True)
    preview: Task[HeadMaps] = field(kw_only=True)
    lane: RankedExecutor = field(kw_only=True)
    blocks: Callable[[], Executor] = field(kw_only=True)
    heads: list[HeadMaps] = field(default_factory=list, init=False)

    kind: ClassVar[str] = "map"
    history: ClassVar[int] = 3
    keep_s: ClassVar[float] = EXPIRY

    def run(self) -> None:
        """Computes the missing heads in a thread of an executor, where it may wait for blocks but for no higher rank."""
        self.lane.submit(self._draw).result()

    def _draw(self) -> None:
        try:
            self.preview.exception()  # waits for the preview, which visitors need first: it has all threads to itself
            if self.should_stop():
                return
            self.in_earnest()
            while len(self.heads) < self.settings.heads:
                self._group(*self.vectors.of(len(self.heads)))
        except Cancelled:
            self.progress(len(self.heads) / self.settings.heads)

    def _group(self, group: range, query: Tensor, key: Tensor) -> None:
        """Computes the missing heads of a group."""
        heads = self.settings.heads

        def progress(share: float) -> None:
            self.progress((group.start + share * len(group)) / heads)

        watched = {"executor": self.blocks(), "progress": progress, "cancelled": self.should_stop}
        options = {"side": self.side, "held": group, "of": heads, "begun": len(self.heads) - group.start}
        for head in each_head(query, key, **options, **watched, **head_maps_arguments(self.settings)):
            self.heads.append(head)

    def map_groups(self, call: Callable[[HeadMaps, Tensor, Tensor], T]) -> list[T]:
        """Results of `call` on the finished maps and the queries and keys that they were computed from, group by group.

        No reference to the queries and keys of a group is kept while those of the next one are computed.
        """
        groups = self.vectors.groups
        return [
            call(join_maps(self.heads[some.start : some.stop]), *self.vectors.of(some.start)[1:]) for some in groups
        ]

    @property
    def guess(self) -> float:
        """Estimated seconds on a machine that does nothing else."""
        return self.estimate.seconds

    @property
    def doing(self) -> str:
        """What is done, as visitors who wait behind it read it."""
        return words.MAP

    @property
    def claim(self) -> int:
        """Bytes at the peak until it has ended; then those of finished heads, and of queries and keys."""
        if self.open:
            return self.estimate.bytes
        maps = [part for head in self.heads for part in vars(head).values() if isinstance(part, Tensor)]
        return self.vectors.bytes + sum(part.nbytes for part in maps)

    def on_behalf_of(self, work: Task[T], visitor: str) -> T:
        """Waits for a result that a visitor needs first, its preview, and counts the visitor as a viewer meanwhile."""
        while True:
            try:
                return work.result(self.leave_after_s / 4)
            except NotYet:
                if work.done():
                    raise
                self.look(visitor)

    @property
    def maps(self) -> HeadMaps | None:
        """The maps of all heads; None before all are finished."""
        return join_maps(self.heads) if self.state == "done" else None


class MapJobs:
    """Computes the maps that pages request, in one queue with other jobs."""

    def __init__(self, line: JobQueue | None = None) -> None:
        self.sketchers = RankedExecutor("sketch", 0, THREADS)
        self.own = RankedExecutor("blocks", 0, THREADS, partial(set_nice, MODEST), pieces=True)
        self.previews, self.lane = RankedExecutor("preview", 1, 1), RankedExecutor("maps", 2, 1)
        self.line = line or JobQueue(1)
        self.asking: dict[str, tuple[float, int]] = {}  # waiting visitors: time of the last request, and its bytes

    @cached_property
    def blocks(self) -> Executor:
        """The executor of blocks of rows: a cluster if the owner names one."""
        return cluster.executor(settings().dask) or self.own

    def ask(self, config: Config, side: int, visitor: str) -> MapJob:
        """The map job of a config (pass its `tensors`) for a visitor, started if there is none or if it was given up.

        The visitor leaves all other map jobs.
        """
        return self.line.request(MapJob, config, visitor, lambda: self._begin_drawing(config, side, visitor))

    def refusal(self, config: Config, visitor: str) -> tuple[str, Config] | None:
        """Why there is no room for a visitor's picture next to what others need, and the longest config that fits.

        None if the job exists, or if there is room: then what is in its way has been evicted, and the visitor has left their
        previous job. A visitor who keeps asking gets room before all who came later and need as much.
        """
        there = self.find(config.for_page())
        if there is not None and not there.given_up:
            return None
        needed, free = drawing_estimate(config).bytes, self.line.free(MapJob, visitor)
        before = self._before(visitor, needed)
        if needed <= free and not before:
            self.line.leave_previous(MapJob, visitor)
            if self.line.room(needed, visitor):
                self.asking.pop(visitor, None)
                return None
            free = BUDGET.free_bytes
        if needed <= BUDGET.most:
            self.asking[visitor] = self.line.clock(), needed
        visitors = words.VISITORS if before > 1 else words.VISITOR
        turn = words.TURN.format(count=before, visitors=visitors) if before else ""
        smaller = shrink(config, lambda each: drawing_estimate(each).bytes <= free, _halve_tokens)
        later = words.STARTS_LATER.format(turn=turn)
        return refusal_sentence(words.THIS_PICTURE, needed, free, later), smaller

    def waits(self, visitor: str) -> bool:
        """Whether a visitor waits for room for a picture."""
        return visitor in self.asking

    def _before(self, visitor: str, needed: int) -> int:
        """The number of earlier visitors who still ask for room, excluding those who need over `MUCH` times as much."""
        before = 0
        for who, (asked, theirs) in list(self.asking.items()):
            if who == visitor:
                break
            if self.line.clock() - asked >= MapJob.leave_after_s:
                self.asking.pop(who, None)
            else:
                before += theirs <= MUCH * needed
        return before

    def find(self, config: Config) -> MapJob | None:
        """The map job of a config in any state, for a visitor who does not wait for it; None if there is none."""
        return self.line.find(MapJob, config)

    def _begin_drawing(self, config: Config, side: int, visitor: str) -> MapJob:
        guess = drawing_estimate(config)
        BUDGET.room(guess.bytes)
        first = {
            "estimate": guess,
            "vectors": Vectors(config, self.sketchers),
            "preview": self.previews.new_future(),
            "lane": self.lane,
            "blocks": lambda: self.blocks,
        }
        found = MapJob(config, side=side, clock=self.line.clock, **first)
        found.look(visitor)  # otherwise the preview counts as given up
        self.previews.submit(self._sketch, found)
        return found

    def _sketch(self, drawing: MapJob) -> None:
        try:
            drawing.preview.set_result(self._preview(drawing))
        except Exception as error:  # is raised where the preview is awaited
            drawing.preview.set_exception(error)

    def _preview(self, drawing: MapJob) -> HeadMaps:
        found, options = (
            [],
            {"side": drawing.side, "of": drawing.settings.heads, **head_maps_arguments(drawing.settings)},
        )
        for group in drawing.vectors.groups:
            if drawing.given_up:
                raise Cancelled(words.NOT_NEEDED)
            _, query, key = drawing.vectors.of(group.start)
            found.append(preview(query, key, executor=self.sketchers, held=group, **options))
        return join_maps(found)


def _halve_tokens(config: Config) -> Config:
    """Returns a config of half as many tokens; the same one if it is not long."""
    return config if config.truncated is config else Config(**coerce(vars(config) | {"tokens": config.tokens // 2}))


def drawing_estimate(config: Config) -> Estimate:
    """The estimated time and memory of a map job."""
    sizes = config.tokens, config.heads, config.d_model, config.rule, config.span
    sparse = SOFTMAXES[config.softmax].sparse
    return estimate(*sizes, measured_rate(), made_of(config), room(), sparse)


def head_maps_arguments(config: Config) -> dict[str, Any]:
    """The arguments of `head_maps` for a config, except for the size of the picture."""
    options = {"mask": config.rule, "span": config.span, "scale": config.logit_scale, "pool": "max"}
    options |= {"positions": config.positions, "softcap": config.softcap or None, "softmax": config.softmax}
    options |= {"query_scale": config.query_scale, "kept": retained(config)}
    return options | ({"sinks": config.sinks} if takes_sinks(config.softmax) else {})
