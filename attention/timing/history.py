"""What is known about a case while a sweep goes on: where it runs, its visits, and what they come to."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property

import torch

from attention.timing import devices, footprint, inputs, recordings, roofline, stopwatch
from attention.timing.implementations import IMPLEMENTATIONS, Implementation
from attention.timing.inputs import ready
from attention.timing.interference_probe import Reading, Yardstick
from attention.timing.recordings import Timing
from attention.timing.stopwatch import Spread
from attention.timing.sweep import Case

VISITS = 3  # of a case at the least that count and agree, before it is believed
ENOUGH = 12  # visits after which a case that did not settle is left as it is, marked
MOMENT = 2e-3  # seconds: a call up to here fits into a moment that others leave, half of what a scheduler gives at once
SCOUTED = 3  # calls of a first look, where one takes less than `LONG`
LONG = 0.02  # seconds


@dataclass(frozen=True)
class Place:
    """Where and when cases of one dtype run: what every timing says about its device. No peaks of what is emulated."""

    device_name: str
    system: str
    torch: str
    precision: str
    threads: int
    when: str
    peak_operations: float | None = None
    peak_traffic: float | None = None


@dataclass(frozen=True)
class Visit:
    """Seconds a call, block by block, and what the yardstick took around it.

    `yard`: the slower of its readings before and after; `moment`: the quickest of its calls.
    """

    times: list[float]
    yard: float
    moment: float

    @classmethod
    def between(cls, times: list[float], before: Reading, after: Reading) -> Visit:
        """A visit between two readings."""
        return cls(times, max(before.mean, after.mean), min(before.least, after.least))

    @cached_property
    def quickest(self) -> float:
        """Its least."""
        return min(self.times)


@dataclass
class CaseHistory:
    """What is known about one case so far."""

    case: Case
    place: Place
    yardstick: Yardstick
    visits: list[Visit] = field(default_factory=list)
    scouted: list[float] = field(default_factory=list)
    beyond: list[float] = field(default_factory=list)  # seconds that each visit took beyond those that it was given
    first: float | None = None
    moved: tuple[float, float] = (0.0, 0.0)
    peak_bytes: int | None = None
    error: str | None = None

    @property
    def how(self) -> Implementation:
        return IMPLEMENTATIONS[self.case.implementation]

    @property
    def call(self) -> float:
        """About how many seconds a call takes, from the first look; 0 before."""
        return stopwatch.spread(self.scouted).median if self.scouted else 0.0

    @property
    def quiet(self) -> list[Visit]:
        """The visits during which the machine was left alone."""
        return [visit for visit in self.visits if self.yardstick.quiet(visit.yard)]

    @property
    def times(self) -> list[float]:
        """Of quiet visits where there are enough, else of all; of the first look before the first visit."""
        kept = self.quiet if len(self.quiet) >= VISITS else self.visits
        return [seconds for visit in kept for seconds in visit.times] or self.scouted

    @property
    def quickest(self) -> float | None:
        """The least of any visit, in seconds; None before the first."""
        return min((visit.quickest for visit in self.visits), default=None)

    @property
    def stable_time(self) -> float | None:
        """What the three quickest visits came down to, in seconds; None where too few count.

        A long call needs visits to a machine that was left alone before and after. A short one fits into a moment alone, so
        that it is enough if three agree and one of them had such a moment: else all might be slow alike.
        """
        short = (self.quickest or 0.0) <= MOMENT
        found = sorted(self.visits if short else self.quiet, key=lambda visit: visit.quickest)[:VISITS]
        alone = not short or any(self.yardstick.is_quiet(visit.moment) for visit in found)
        return found[-1].quickest if alone and len(found) == VISITS else None

    @property
    def spread(self) -> Spread:
        """Median and quartiles of the times that count for them; the quickest of all, and what it was repeated to."""
        found = stopwatch.spread(self.times)
        return replace(found, quickest=self.quickest or found.quickest, repeated=self.stable_time)

    @property
    def is_stable(self) -> bool:
        """Did three visits that count come to the same?"""
        return self.error is None and stopwatch.agree(self.quickest, self.stable_time)

    @property
    def is_done(self) -> bool:
        """Is there nothing more to learn?"""
        return self.error is not None or len(self.visits) >= ENOUGH or self.is_stable

    @property
    def needs(self) -> float:
        """Seconds at the least until it has the visits that it needs, or one more."""
        beyond = statistics.fmean(self.beyond) if self.beyond else 3 * self.call
        return max(1, VISITS - len(self.visits)) * beyond

    @property
    def share(self) -> float:
        """How far it is: the first look is a tenth, the visits that it needs at the least most of the rest."""
        return 1.0 if self.is_done else min(0.1 * bool(self.scouted) + 0.8 * len(self.visits) / VISITS, 0.9)

    def scout(self, seed: int) -> None:
        """First call, some warm ones, the peak of memory, and the way to the device and back."""
        clock = stopwatch.clock(self.case.device)
        with ready(self.case, seed) as call:
            self.first = stopwatch.once(call, clock)
            warm = [stopwatch.once(call, clock)]
            warm += [stopwatch.once(call, clock) for _ in range(SCOUTED - 1) if warm[0] < LONG]
            self.peak_bytes = footprint.peak(call, self.case.device)
            if self.case.device != "cpu":
                self.moved = inputs.transfer_times(self.case, call(), clock)
        self.scouted = warm

    def timing(self) -> Timing:
        """What is known, as it is shown and kept."""
        found = {} if self.error else asdict(self.spread)
        return Timing(
            **asdict(self.case),
            **asdict(self.place),
            **found,
            settled=self.is_stable,
            visits=len(self.visits),
            quiet=len(self.quiet),
            first=self.first,
            to_device=self.moved[0],
            from_device=self.moved[1],
            peak_bytes=self.peak_bytes,
            operations=roofline.operations(self.case, self.how),
            traffic=roofline.traffic(self.case, self.how),
            error=self.error,
        )


def place(case: Case, name: str, threads: int, when: str) -> Place:
    """Where a case runs; its peaks are yet to be measured."""
    return Place(
        device_name=recordings.name(name, case.device),
        system=recordings.name(devices.system(), "unknown"),
        torch=recordings.name(torch.__version__, "unknown"),
        precision=torch.get_float32_matmul_precision(),
        threads=threads,
        when=when,
    )


def update_place(at: Place, case: Case, patience: float) -> Place:
    """The place with the better of the peaks that it has and of those that are measured now."""
    found = roofline.peaks(case.device, case.dtype, at.threads, patience)
    best = max(at.peak_operations or 0.0, found.matmul), max(at.peak_traffic or 0.0, found.copy)
    return replace(at, peak_operations=best[0], peak_traffic=best[1])
