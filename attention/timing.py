"""Seconds with their spread: how long attention takes here, and from which length on another device pays.

    from attention.timing import Sweep, measure
    timings = measure(Sweep(lengths=(256, 1024), seconds=20))

or `python -m attention.timing --help`. A case is timed in visits that are spread over the whole run, in an order that
is shuffled anew each round, so that whatever else the machine does meanwhile meets all cases alike and shows in their
quartiles. Each visit draws fresh normal data and warms up. What is timed is a function's whole call, with the memory
that it asks for; inputs, masks and layers are made before. Timed implementations are in `implementations.py`.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from time import perf_counter
from typing import NamedTuple

import torch

from attention import calls, devices, footprint, recordings, roofline, stopwatch
from attention.calls import attempt, ready
from attention.implementations import IMPLEMENTATIONS, Implementation
from attention.recordings import Timing
from attention.sweep import Case, Sweep
from attention.turn import turn

__all__ = ["IMPLEMENTATIONS", "Case", "Progress", "Sweep", "Timing", "measure"]

VISITS = 3  # of a case at the least, before its spread is believed
ENOUGH = 12  # visits after which a spread that did not settle is left as it is, marked
VISIT = (0.02, 0.5)  # seconds of a visit, at the least and at the most
TRIAL = 16  # tokens on which is tried whether a device has an implementation
LARGEST = 0.8  # share of the free memory that a case may need by count before it is not even tried


class Progress(NamedTuple):
    """How far a sweep is: cases that are done, of how many, the share of its visits, and seconds since the start."""

    done: int
    cases: int
    share: float
    seconds: float


@dataclass(frozen=True)
class Place:
    """Where cases of one dtype run: what every timing says about its device."""

    device_name: str
    system: str
    torch: str
    precision: str
    threads: int
    peak_operations: float
    peak_traffic: float


@dataclass
class Course:
    """What is known about one case so far."""

    case: Case
    place: Place
    times: list[float] = field(default_factory=list)
    visits: int = 0
    first: float | None = None
    call: float = 0.0
    moved: tuple[float, float] = (0.0, 0.0)
    peak_bytes: int | None = None
    error: str | None = None

    @property
    def how(self) -> Implementation:
        return IMPLEMENTATIONS[self.case.implementation]

    @property
    def done(self) -> bool:
        """Is there nothing more to learn?"""
        return self.error is not None or self.visits >= ENOUGH or self.settled

    @property
    def settled(self) -> bool:
        return self.error is None and self.visits >= VISITS and stopwatch.spread(self.times).settled

    @property
    def share(self) -> float:
        """How far it is: the first look is a tenth, the visits that it needs at the least most of the rest."""
        return 1.0 if self.done else min(0.1 * bool(self.times) + 0.8 * self.visits / VISITS, 0.9)

    def timing(self) -> Timing:
        """What is known, as it is shown and kept."""
        found = {} if self.error else asdict(stopwatch.spread(self.times))
        return Timing(
            **asdict(self.case),
            **asdict(self.place),
            **found,
            when=datetime.now(UTC).isoformat(timespec="seconds"),
            settled=self.settled,
            first=self.first,
            to_device=self.moved[0],
            from_device=self.moved[1],
            peak_bytes=self.peak_bytes,
            operations=roofline.operations(self.case, self.how),
            traffic=roofline.traffic(self.case, self.how),
            error=self.error,
        )


Listener = Callable[[Timing, Progress], None]


def measure(
    sweep: Sweep | None = None,
    *,
    on_timing: Listener = lambda timing, progress: None,
    should_stop: Callable[[], bool] = lambda: False,
    on_wait: Callable[[], None] = lambda: None,
) -> list[Timing]:
    """The timings of a sweep, one for each case that was begun before its time was up.

    `on_timing` hears each as soon as there is a first estimate, and again whenever it is better known; `should_stop` is
    asked between blocks of calls, and what was measured until then is kept. Running out of memory, or an implementation
    that the device doesn't have, is a result: a timing with an `error`. One sweep runs at a time on a machine; another
    one waits, and `on_wait` is called once before. Raises ValueError for a device that is not here.
    """
    sweep = sweep or Sweep()
    threads = sweep.threads or devices.cores()
    keys = sweep.devices or tuple(found.key for found in devices.devices())
    names = {key: devices.device(key).name for key in keys}
    with turn(on_wait), _threads(threads):
        run = _Run(sweep, on_timing, should_stop)
        run.prepare(names, threads)
        run.scout()
        run.visit_all()
        run.look_again()
        return [course.timing() for course in run.courses if course.times or course.error]


class _Run:
    """A sweep on its way: prepare, scout, visit, in this order."""

    def __init__(self, sweep: Sweep, on_timing: Listener, should_stop: Callable[[], bool]) -> None:
        self.sweep, self.on_timing, self.asked = sweep, on_timing, should_stop
        self.start, self.order = perf_counter(), random.Random(sweep.seed)
        self.patience = min(roofline.PATIENCE, sweep.seconds / 20)
        self.courses: list[Course] = []
        self.places: dict[tuple[str, str], Place] = {}

    @property
    def left(self) -> float:
        """Seconds of the budget."""
        return self.sweep.seconds - (perf_counter() - self.start)

    def stopped(self) -> bool:
        return self.left <= 0 or self.asked()

    @property
    def left_for_visits(self) -> float:
        """The same without what it takes to look at the peaks again."""
        return self.left - self.patience * len(self.places)

    def prepare(self, names: dict[str, str], threads: int) -> None:
        """Measures what the devices can do at best, and lists the cases that they have."""
        chosen = self.sweep.implementations or [name for name, how in IMPLEMENTATIONS.items() if not how.asked]
        tried: dict[tuple, str | None] = {}
        for case in self.sweep.cases(list(names), chosen):
            kind = (case.implementation, case.device, case.dtype, case.passes, case.mask)
            if not self.sweep.implementations:
                if kind not in tried:
                    tried[kind] = _refusal(case)
                if tried[kind]:
                    continue
            where = case.device, case.dtype
            if where not in self.places:
                self.places[where] = _place(case, names[case.device], threads, self.patience)
            self.courses.append(Course(case, self.places[where]))

    def scout(self) -> None:
        """Calls every case a first time, shortest first, so that what won't fit is known before it is tried."""
        for course in self.courses:
            if self.stopped():
                return
            course.error = self._unaffordable(course) or attempt(partial(_scouted, course, self.sweep.seed))
            self._tell(course)

    def visit_all(self) -> None:
        """Visits the cases in rounds, in an order that is shuffled anew, until all are settled or the time is up."""
        while todo := [
            course
            for course in self.courses
            if course.times and not course.done and 3 * course.call < self.left_for_visits
        ]:
            self.order.shuffle(todo)
            share = min(max(self.left_for_visits / (VISITS * len(todo)), VISIT[0]), VISIT[1])
            for course in todo:
                if self.stopped() or self.left_for_visits <= 0:
                    return
                if 3 * course.call < self.left_for_visits:
                    course.error = attempt(partial(self._visit, course, share))
                    self._tell(course)

    def look_again(self) -> None:
        """Measures the peaks a second time and keeps the better, since a busy moment would make them too low."""
        for (device, dtype), place in self.places.items():
            if self.left < self.patience or self.asked():
                return
            found = roofline.peaks(device, dtype, place.threads, self.patience)
            best = max(place.peak_operations, found.matmul), max(place.peak_traffic, found.copy)
            self.places[device, dtype] = replace(place, peak_operations=best[0], peak_traffic=best[1])
        for course in self.courses:
            course.place = self.places[course.case.device, course.case.dtype]

    def _visit(self, course: Course, seconds: float) -> None:
        case = course.case
        with ready(case, self.sweep.seed + 1 + course.visits) as call:
            clock = stopwatch.clock(case.device)
            times = stopwatch.samples(call, seconds, course.place.threads, clock, self.stopped)
        course.times = times if course.visits == 0 else course.times + times
        course.visits += 1

    def _unaffordable(self, course: Course) -> str | None:
        """Why a case can't be run: more memory by count than there is, or more time than is left, told from shorter."""
        case, how = course.case, course.how
        free, need = devices.free_bytes(case.device), roofline.memory(case, how)
        if free is not None and need > LARGEST * free:
            return f"out of memory: about {need / 2**30:,.1f} GiB by count, {free / 2**30:,.1f} GiB are free"
        like = [other for other in self.courses if other.call and _kin(other.case, case)]
        if like:
            last = max(like, key=lambda other: other.case.length)
            expected = last.call * roofline.operations(case, how) / roofline.operations(last.case, how)
            if 5 * expected > self.left:
                return f"over the time budget: about {expected:.2g} s a call, {max(self.left, 0):.2g} s were left"
        return None

    def _tell(self, course: Course) -> None:
        done, count = sum(each.done for each in self.courses), len(self.courses)
        share = sum(each.share for each in self.courses) / count
        self.on_timing(course.timing(), Progress(done, count, share, perf_counter() - self.start))


def _kin(a: Case, b: Case) -> bool:
    """Are these the same but for the length, and the first one not longer?"""
    return {**asdict(a), "length": 0} == {**asdict(b), "length": 0} and a.length <= b.length


def _place(case: Case, name: str, threads: int, patience: float) -> Place:
    found = roofline.peaks(case.device, case.dtype, threads, patience)
    return Place(
        device_name=recordings.name(name, case.device),
        system=recordings.name(devices.system(), "unknown"),
        torch=recordings.name(torch.__version__, "unknown"),
        precision=torch.get_float32_matmul_precision(),
        threads=threads,
        peak_operations=found.matmul,
        peak_traffic=found.copy,
    )


def _refusal(case: Case) -> str | None:
    """Why the device doesn't have this implementation, found by trying it on a few tokens; None where it has."""
    small = Case(**{**asdict(case), "length": TRIAL, "batch": 1, "heads": 2})

    def trial() -> None:
        with ready(small, 0) as call:
            call()

    return attempt(trial)


def _scouted(course: Course, seed: int) -> None:
    """First call, a warm one, the peak of memory, and the way to the device and back."""
    case, clock = course.case, stopwatch.clock(course.case.device)
    with ready(case, seed) as call:
        course.first = stopwatch.once(call, clock)
        course.times = [stopwatch.once(call, clock) for _ in range(VISITS if course.first < VISIT[1] else 1)]
        course.call = stopwatch.spread(course.times).median
        course.peak_bytes = footprint.peak(call, case.device)
        if case.device != "cpu":
            course.moved = calls.moved(case, call(), clock)


@contextlib.contextmanager
def _threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


if __name__ == "__main__":
    from attention.command import main

    raise SystemExit(main())
