"""A sweep, measured in rounds: each case is visited several times, spread over the whole run.

The order of the visits is shuffled anew each round, so that whatever else the machine does meanwhile meets all cases alike
and shows in their quartiles. A yardstick between visits tells when the machine was not left alone. A case is visited until
three visits that count agree about how quick it is. Each visit draws fresh normal data and warms up. What is timed is a
function's whole call, with the memory that it asks for; inputs, masks and layers are made before.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from dataclasses import asdict
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

SCOUTING = 0.4  # share of the time left that first calls may take: on a busy machine they would take all of it
VISIT = (0.02, 0.5)  # seconds of a visit, at the least and at the most
TRIAL = 16  # tokens on which is tried whether a device has an implementation
LOOKS = 4  # at the peaks of a device, at the most: two, and more while a case is above them
EMULATED = "emulated: {} is not computed by this device but by way of float32, and would say nothing about it"
LARGEST = 0.8  # share of the free memory that a case may need by count before it is not even tried


class Progress(NamedTuple):
    """How far a sweep is: cases that are done, of how many, the share of its visits, and seconds since the start."""

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
    """The timings of a sweep, one for each case that was begun before its time was up.

    `on_timing` hears each as soon as there is a first estimate, and again whenever it is better known; `should_stop` is
    asked between blocks of calls, and what was measured until then is kept. Running out of memory, or an implementation
    that the device doesn't have, is a result: a timing with an `error`. One sweep runs at a time on a machine; another
    one waits, and `on_wait` is called once before, `on_turn` once after. Raises ValueError for a device that is not here.

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
    """A sweep on its way: prepare, scout, visit, in this order."""

    def __init__(self, sweep: Sweep, on_timing: Listener, should_stop: Callable[[], bool]) -> None:
        self.sweep, self.on_timing, self.asked = sweep, on_timing, should_stop
        self.start, self.order = perf_counter(), random.Random(sweep.seed)
        self.patience = min(roofline.PATIENCE, sweep.seconds / 20)
        self.when = datetime.now(UTC).isoformat(timespec="seconds")  # one for all, also past midnight
        self.courses: list[CaseHistory] = []
        self.places: dict[tuple[str, str], Place] = {}
        self.real: dict[str, list[str]] = {}
        self.told: dict[Case, Timing] = {}
        self.readings: dict[Yardstick, Reading] = {}  # the last ones, which the next visits begin with
        self.share = 0.0

    @property
    def seconds_left(self) -> float:
        """Seconds of the budget."""
        return self.sweep.seconds - (perf_counter() - self.start)

    def should_stop(self) -> bool:
        return self.seconds_left <= 0 or self.asked()

    @property
    def left_for_visits(self) -> float:
        """The same without what it takes to look at the peaks again."""
        return self.seconds_left - self.patience * len(self.places)

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
            if case.device not in self.real:
                self.real[case.device] = _real(case.device, self.sweep.dtypes)
            emulated = None if case.dtype in self.real[case.device] else EMULATED.format(case.dtype)
            if where not in self.places:
                here = place(case, names[case.device], threads, self.when)
                self.places[where] = here if emulated else update_place(here, case, self.patience)
            self.courses.append(CaseHistory(case, self.places[where], yardstick(case.device, threads), error=emulated))

    def scout(self) -> bool:
        """Calls cases a first time, shortest first, so that what won't fit is known before it is tried; was there one?

        On a busy machine some must wait until those before them are settled.
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
        """Visits the cases in rounds, in an order that is shuffled anew, until all are settled or the time is up."""
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
        """The cases that are not done, shortest first, as many as can have the visits that they need in the time left."""
        left, found = self.left_for_visits, []
        for course in self.courses:
            if course.times and not course.is_done and 3 * course.call < self.left_for_visits:
                left -= course.needs + VISITS * VISIT[0]
                if left < 0 and found:
                    break
                found.append(course)
        return found

    def look_again(self) -> None:
        """Measures the peaks again and keeps the best, since a busy moment would make them too low.

        Once in any case, and again while a case computes faster than the peak, which then can't be the peak.
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
        """Why a case can't be run: more memory by count than there is, or more time than is left, told from shorter."""
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
    """Those of the dtypes that the device computes for real; float32 always counts as that."""
    return list(dtypes) if dtypes == ("float32",) else ["float32", *devices.dtypes(device)]


def _above(courses: list[CaseHistory], place: Place) -> bool:
    """Does any case compute faster than the device's peak?"""
    rates = [roofline.operations(each.case, each.how) / each.spread.seconds for each in courses if each.is_stable]
    return max(rates, default=0.0) > (place.peak_operations or 0.0)


def _kin(a: Case, b: Case) -> bool:
    """Are these the same but for the length, and a batch that follows it, and the first one not longer?"""
    of, other = ({**asdict(case), "length": 0} | ({"batch": 0} if case.tokens else {}) for case in (a, b))
    return of == other and a.length <= b.length


def _refusal(case: Case) -> str | None:
    """Why the device doesn't have this implementation, found by trying it on a few tokens; None where it has."""
    small = Case(**{**asdict(case), "length": TRIAL, "batch": 1, "heads": 2})

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
