"""Measures a sweep in rounds: each case is visited several times, spread over the whole run.

The order of the visits is shuffled again in each round, so that other load affects all cases alike and shows in their
quartiles. A probe between visits detects other load. A case is visited until three visits that count agree on its minimum.
Each visit draws fresh normal data and warms up. The time of a call includes the memory that it allocates; inputs, masks and
layers are prepared before.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from time import perf_counter
from typing import NamedTuple

import torch

from attention.timing import devices, roofline, stopwatch
from attention.timing.history import VISITS, CaseHistory, Place, Visit, place, update_place
from attention.timing.implementations import IMPLEMENTATIONS
from attention.timing.inputs import attempt, ready
from attention.timing.interference_probe import Reading, Yardstick, yardstick
from attention.timing.one_at_a_time import turn
from attention.timing.recordings import Timing
from attention.timing.sweep import Case, Sweep

SCOUTING = 0.4  # share of the remaining time for first estimates, which on a busy machine would take all of it
VISIT = (0.02, 0.5)  # smallest and largest seconds of a visit
TRIAL = 16  # tokens of the trial whether a device supports an implementation
LOOKS = 4  # largest number of peak measurements per device: two, and more while a case exceeds the peak
EMULATED = "emulated: {} is not computed by this device but by way of float32, which is timed instead"
LARGEST = 0.8  # share of the free memory that a case may need by estimate; above it, it is not run


class Progress(NamedTuple):
    """Progress of a sweep: cases that are done, all cases, the share of the visits, and seconds since the start."""

    done: int
    cases: int
    share: float
    seconds: float


Listener = Callable[[Timing, Progress], None]


def measure(
    sweep: Sweep | None = None,
    *,
    on_timing: Listener = lambda timing, progress: None,
    should_stop: Callable[[], bool] = lambda: False,
    on_wait: Callable[[], None] = lambda: None,
    on_turn: Callable[[], None] = lambda: None,
) -> list[Timing]:
    """Returns the timings of a sweep, one for each case that was started within the time budget.

    `on_timing` is called for each case as soon as there is a first estimate, and again whenever it improves. `should_stop` is
    called between blocks of calls; what was measured until then is kept. Running out of memory, or an implementation that
    the device does not support, is a result: a timing with an `error`. One sweep runs at a time on a machine; if another one
    is running, `on_wait` is called once before the wait and `on_turn` once after it. Raises ValueError for an unknown device.

    >>> sweep = Sweep(lengths=(64, 128), devices=("cpu",), implementations=("SDPA",), seconds=20)
    >>> [(timing.implementation, timing.length, timing.seconds > 0) for timing in measure(sweep)]
    [('SDPA', 64, True), ('SDPA', 128, True)]
    """
    sweep = sweep or Sweep()
    threads = sweep.threads or devices.cores()
    keys = sweep.devices or tuple(found.key for found in devices.devices())
    names = {key: devices.device(key).name for key in keys}
    with turn(on_wait, on_turn), _threads(threads):
        run = _Run(sweep, on_timing, should_stop)
        run.prepare(names, threads)
        while run.scout():
            run.visit_all()
        run.look_again()
        return [course.timing() for course in run.courses if course.case in run.told]


class _Run:
    """A sweep in progress; call `prepare`, `scout`, `visit_all` and `look_again` in this order."""

    def __init__(self, sweep: Sweep, on_timing: Listener, should_stop: Callable[[], bool]) -> None:
        self.sweep, self.on_timing, self.asked = sweep, on_timing, should_stop
        self.start, self.order = perf_counter(), random.Random(sweep.seed)
        self.patience = min(roofline.PATIENCE, sweep.seconds / 20)
        self.when = datetime.now(UTC).isoformat(timespec="seconds")  # one time for all timings, also past midnight
        self.courses: list[CaseHistory] = []
        self.places: dict[tuple[str, str], Place] = {}
        self.real: dict[str, list[str]] = {}
        self.told: dict[Case, Timing] = {}
        self.readings: dict[Yardstick, Reading] = {}  # latest readings, which are the "before" of the next visits
        self.share = 0.0

    @property
    def seconds_left(self) -> float:
        """Remaining seconds of the budget."""
        return self.sweep.seconds - (perf_counter() - self.start)

    def should_stop(self) -> bool:
        return self.seconds_left <= 0 or self.asked()

    @property
    def left_for_visits(self) -> float:
        """Remaining seconds, minus the time to measure the peaks again."""
        return self.seconds_left - self.patience * len(self.places)

    def prepare(self, names: dict[str, str], threads: int) -> None:
        """Measures the peaks of the devices, and lists the cases that they support.

        Where a device emulates the dtype of a case, the case is timed in float32 instead.
        """
        errors: dict[Case, str | None] = {}
        chosen = self.sweep.implementations or [name for name, how in IMPLEMENTATIONS.items() if not how.asked]
        tried: dict[Case, str | None] = {}
        for case in self.sweep.cases(list(names), chosen):
            small = _small(case)
            if not self.sweep.implementations:
                if small not in tried:
                    tried[small] = _refusal(small)
                if tried[small]:
                    continue
            if case.device not in self.real:
                self.real[case.device] = _real(case.device, self.sweep.dtypes)
            errors[case] = None if case.dtype in self.real[case.device] else EMULATED.format(case.dtype)
            if errors[case]:
                errors.setdefault(replace(case, dtype="float32"), None)
        for case, error in errors.items():
            where = case.device, case.dtype
            if where not in self.places:
                here = place(case, names[case.device], threads, self.when)
                self.places[where] = here if error else update_place(here, case, self.patience)
            self.courses.append(CaseHistory(case, self.places[where], yardstick(case.device, threads), error=error))

    def scout(self) -> bool:
        """Makes the first estimate of new cases, shortest first, so that what will not fit is known before it is run.

        Returns whether there were new cases and time is left. On a busy machine some cases wait until shorter ones are done.
        """
        until, new = (
            (1 - SCOUTING) * self.seconds_left,
            [course for course in self.courses if course.case not in self.told],
        )
        for course in new:
            if self.should_stop() or (self.seconds_left < until and course is not new[0]):
                break
            course.error = course.error or self._unaffordable(course) or attempt(partial(course.scout, self.sweep.seed))
            self._tell(course)
        return bool(new) and not self.should_stop()

    def visit_all(self) -> None:
        """Visits the cases in rounds, shuffled each time, until all are done or the time is up."""
        while todo := self._within_reach():
            spare = self.left_for_visits - sum(course.needs for course in todo)
            share = min(max(spare / (VISITS * len(todo)), VISIT[0]), VISIT[1])
            self.order.shuffle(todo)
            for course in todo:
                if self.should_stop() or self.left_for_visits <= 0:
                    return
                if 3 * course.call < self.left_for_visits:
                    course.error = attempt(partial(self._visit, course, share))
                    self._tell(course)

    def _within_reach(self) -> list[CaseHistory]:
        """The unfinished cases, shortest first, that can have the visits they need in the remaining time."""
        left, found = self.left_for_visits, []
        for course in self.courses:
            if course.times and not course.is_done and 3 * course.call < self.left_for_visits:
                left -= course.needs + VISITS * VISIT[0]
                if left < 0 and found:
                    break
                found.append(course)
        return found

    def look_again(self) -> None:
        """Measures the peaks again and keeps the best, since a busy moment makes a peak too low.

        It does so once in any case, and again while a case computes faster than the peak, which is then too low.
        """
        for (device, dtype), first in self.places.items():
            here = [course for course in self.courses if (course.case.device, course.case.dtype) == (device, dtype)]
            best = first
            for look in range(1, LOOKS):
                late = self.seconds_left < self.patience or self.asked()
                if late or not first.peak_operations or (look > 1 and not _above(here, best)):
                    break
                best = update_place(best, here[0].case, self.patience)
            for course in here:
                course.place = best
                if course.case in self.told and course.timing() != self.told[course.case]:
                    self._tell(course)

    def _visit(self, course: CaseHistory, seconds: float) -> None:
        case, start = course.case, perf_counter()
        before = self.readings.pop(course.yardstick, None) or course.yardstick.take()
        with ready(case, self.sweep.seed + 1 + len(course.visits)) as call:
            clock = stopwatch.clock(case.device)
            times = stopwatch.samples(call, seconds, course.place.threads, clock, self.should_stop)
        after = self.readings[course.yardstick] = course.yardstick.take()
        course.visits.append(Visit.between(times, before, after))
        course.beyond.append(max(0.0, perf_counter() - start - seconds))

    def _unaffordable(self, course: CaseHistory) -> str | None:
        """Why a case cannot be run: it needs more memory than is free, or, by shorter cases, more time than is left."""
        case, how = course.case, course.how
        free, need = devices.free_bytes(case.device), roofline.memory(case, how)
        if free is not None and need > LARGEST * free:
            return f"out of memory: about {need / 2**30:,.1f} GiB by count, {free / 2**30:,.1f} GiB are free"
        like = [other for other in self.courses if other.call and _kin(other.case, case)]
        if like:
            last = max(like, key=lambda other: other.case.length)
            expected = last.call * roofline.operations(case, how) / roofline.operations(last.case, how)
            if 5 * expected > self.seconds_left:
                return (
                    f"over the time budget: about {expected:.2g} s a call, {max(self.seconds_left, 0):.2g} s were left"
                )
        return None

    def _tell(self, course: CaseHistory) -> None:
        done, count = sum(each.is_done for each in self.courses), len(self.courses)
        self.share = max(self.share, sum(each.share for each in self.courses) / count)
        self.told[course.case] = course.timing()
        self.on_timing(self.told[course.case], Progress(done, count, self.share, perf_counter() - self.start))


def _real(device: str, dtypes: tuple[str, ...]) -> list[str]:
    """The dtypes that the device computes natively; float32 is always included."""
    return list(dtypes) if dtypes == ("float32",) else ["float32", *devices.dtypes(device)]


def _above(courses: list[CaseHistory], place: Place) -> bool:
    """Whether any stable case computes faster than the device's peak."""
    rates = [roofline.operations(each.case, each.how) / each.spread.seconds for each in courses if each.is_stable]
    return max(rates, default=0.0) > (place.peak_operations or 0.0)


def _kin(a: Case, b: Case) -> bool:
    """Whether the cases differ only in length (and in a batch that depends on it), and the first one is not longer."""
    of, other = ({**asdict(case), "length": 0} | ({"batch": 0} if case.tokens else {}) for case in (a, b))
    return of == other and a.length <= b.length


def _small(case: Case) -> Case:
    """The same kind of case on a few tokens."""
    sizes = {name: min(getattr(case, name), TRIAL) for name in ("queries", "window")}
    return replace(case, length=TRIAL, batch=1, heads=2, d_head=8, tokens=0, kv_heads=min(case.kv_heads, 1), **sizes)


def _refusal(small: Case) -> str | None:
    """Why the device does not support this implementation, found by running it on a few tokens; None if it does."""

    def trial() -> None:
        with ready(small, 0) as call:
            call()

    return attempt(trial)


@contextlib.contextmanager
def _threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
