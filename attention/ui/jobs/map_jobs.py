"""Maps of long sequences for visitors: drawn in the background, head after head, while pages look on.

A page asks for the drawing of a config, gets its preview, and comes back for the heads that are finished. One drawing
is made at a time, by two threads for its blocks or by a cluster (attention/maps/cluster.py), and none beside a sweep of
timings; others wait in line, each with its preview. A pause stops it within the head that it draws, which is begun
again when it goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar, TypeVar

from torch import Tensor

from attention.config import Config, coerce
from attention.maps import cluster
from attention.maps.estimate import THREADS, Estimate, estimate, measured_rate
from attention.maps.exact import each_head
from attention.maps.jobs import Cancelled
from attention.maps.picture import HeadMaps, join_maps
from attention.maps.zoom import preview
from attention.runtime.executors import RankedExecutor, Task
from attention.runtime.threads import set_nice
from attention.serving.settings import settings
from attention.sources.providers import made_of
from attention.ui.budget import BUDGET, EXPIRY, refusal_sentence
from attention.ui.jobs.job import Job
from attention.ui.jobs.job_queue import JobQueue
from attention.ui.jobs.vectors import Vectors, room

MUCH = 2  # times as much memory: whoever asks for that lets smaller pictures go first
MODEST = 15  # niceness of the threads that compute blocks
T = TypeVar("T")


@dataclass(eq=False)
class MapJob(Job):
    """The maps of a config. `preview` comes first, then `heads`, in their order."""

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
        """Draws the heads that are missing, in a thread of a lane: there it may wait for its blocks and for nothing above."""
        self.lane.submit(self._draw).result()

    def _draw(self) -> None:
        try:
            self.preview.exception()  # the wait for what somebody looks for at this moment: all threads are its own
            if self.stop():
                return
            self.in_earnest()
            while len(self.heads) < self.settings.heads:
                self._group(*self.vectors.of(len(self.heads)))
        except Cancelled:
            self.progress(len(self.heads) / self.settings.heads)

    def _group(self, group: range, query: Tensor, key: Tensor) -> None:
        """Draws what is missing of some heads."""
        heads = self.settings.heads

        def progress(share: float) -> None:
            self.progress((group.start + share * len(group)) / heads)

        watched = {"executor": self.blocks(), "progress": progress, "cancelled": self.stop}
        options = {"side": self.side, "held": group, "of": heads, "begun": len(self.heads) - group.start}
        for head in each_head(query, key, **options, **watched, **head_maps_arguments(self.settings)):
            self.heads.append(head)

    def map_groups(self, call: Callable[[HeadMaps, Tensor, Tensor], T]) -> list[T]:
        """What follows from the finished maps with the queries and keys that they were made of, some heads at a time.

        Nothing here holds on to the queries and keys of some heads while those of the next are made.
        """
        groups = self.vectors.groups
        return [
            call(join_maps(self.heads[some.start : some.stop]), *self.vectors.of(some.start)[1:]) for some in groups
        ]

    @property
    def guess(self) -> float:
        """Seconds on a machine that does nothing else."""
        return self.estimate.seconds

    @property
    def doing(self) -> str:
        """For whoever waits behind it."""
        return "the map of a long sequence is being drawn"

    @property
    def claim(self) -> int:
        """Bytes at the peak while there is more to come; then those of what is finished, and of queries and keys."""
        if self.open:
            return self.estimate.bytes
        maps = [part for head in self.heads for part in vars(head).values() if isinstance(part, Tensor)]
        return self.vectors.bytes + sum(part.nbytes for part in maps)

    def on_behalf_of(self, work: Task[T], visitor: str) -> T:
        """What comes first, which a visitor waits for: its preview."""
        while True:
            try:
                return work.result(self.leave_after_s / 4)
            except NotYet:
                if work.done():
                    raise
                self.look(visitor)

    @property
    def maps(self) -> HeadMaps | None:
        """The maps of all heads, None before all are finished."""
        return join_maps(self.heads) if self.state == "done" else None


class MapJobs:
    """Draws what pages ask for, in line with whatever else waits there."""

    def __init__(self, line: JobQueue | None = None) -> None:
        self.sketchers = RankedExecutor("sketch", 0, THREADS)
        self.own = RankedExecutor("blocks", 0, THREADS, partial(set_nice, MODEST), pieces=True)
        self.previews, self.lane = RankedExecutor("preview", 1, 1), RankedExecutor("maps", 2, 1)
        self.line = line or JobQueue(1)
        self.asking: dict[str, tuple[float, int]] = {}  # when whoever waits last asked, and for how many bytes

    @cached_property
    def blocks(self) -> Executor:
        """Who computes blocks of rows: a cluster, where an owner names one."""
        return cluster.executor(settings().dask) or self.own

    def ask(self, config: Config, side: int, visitor: str) -> MapJob:
        """The drawing of a config (give its `tensors`) for a visitor, begun if there is none or if it was given up.

        Whoever asks turns away from all others.
        """
        return self.line.request(MapJob, config, visitor, lambda: self._begin_drawing(config, side, visitor))

    def refusal(self, config: Config, visitor: str) -> tuple[str, Config] | None:
        """Why there is no room for a visitor's picture beside what others need, and the longest that there is room for.

        None where it is there, or where there is room: then whatever is in its way has been given back, and the visitor's last
        drawing up. Whoever asks again and again while there is none gets it before all who came later and need as much.
        """
        there = self.find(config.tensors)
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
        turn = f" Before you {before} {'wait' if before > 1 else 'waits'}." if before else ""
        smaller = config
        while drawing_estimate(smaller).bytes > free and smaller.truncated is not smaller:
            smaller = Config(**coerce(vars(smaller) | {"tokens": smaller.tokens // 2}))
        return refusal_sentence(
            "This picture", needed, free, f"It begins by itself as soon as there is room.{turn}"
        ), smaller

    def waits(self, visitor: str) -> bool:
        """Was there no room for a visitor's picture that there may be room for later?"""
        return visitor in self.asking

    def _before(self, visitor: str, needed: int) -> int:
        """How many who came before a visitor still ask for room, those aside who ask for more than twice as much."""
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
        """The drawing of a config as it is, for somebody who has turned away from it."""
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
        found.look(visitor)  # else the preview is taken for one that nobody waits for
        self.previews.submit(self._sketch, found)
        return found

    def _sketch(self, drawing: MapJob) -> None:
        try:
            drawing.preview.set_result(self._preview(drawing))
        except Exception as error:  # whoever waits for it gets it
            drawing.preview.set_exception(error)

    def _preview(self, drawing: MapJob) -> HeadMaps:
        found, options = (
            [],
            {"side": drawing.side, "of": drawing.settings.heads, **head_maps_arguments(drawing.settings)},
        )
        for group in drawing.vectors.groups:
            if drawing.given_up:
                raise Cancelled("Nobody waits for this picture any more.")
            _, query, key = drawing.vectors.of(group.start)
            found.append(preview(query, key, executor=self.sketchers, held=group, **options))
        return join_maps(found)


def drawing_estimate(config: Config) -> Estimate:
    """What the drawing of a config takes."""
    sizes = config.tokens, config.heads, config.d_model, config.rule, config.span
    return estimate(*sizes, measured_rate(), made_of(config), room())


def head_maps_arguments(config: Config) -> dict[str, Any]:
    """What `head_maps` is asked for, apart from the size of the picture."""
    options = {"mask": config.rule, "span": config.span, "scale": config.logit_scale, "pool": "max"}
    return options | {"positions": config.positions, "softcap": config.softcap or None, "softmax": config.softmax}
