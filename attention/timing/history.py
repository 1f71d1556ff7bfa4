"""Collects what is known about a case during a sweep: where it runs, its visits and the times that follow from them."""

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

VISITS = 3  # minimum number of visits that must count and agree before a time is stable
ENOUGH = 12  # visits after which a case ends and is marked as not stable
MOMENT = 2e-3  # seconds: a call up to this length fits between disturbances, half a scheduler's time slice
SCOUTED = 3  # calls of the first estimate, if one takes less than `LONG`
LONG = 0.02  # seconds


@dataclass(frozen=True)
class Place:
    """Device and software on which cases of one dtype run, as stated by every timing. Emulated dtypes have no peaks."""

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
    """Seconds per call of each block, and the readings of the interference probe around them.

    `yard`: the slower of the mean readings before and after. `moment`: the quickest probe call of both readings.
    """

    times: list[float]
    yard: float
    moment: float

    @classmethod
    def between(cls, times: list[float], before: Reading, after: Reading) -> Visit:
        """Returns a visit between two readings of the interference probe."""
        return cls(times, max(before.mean, after.mean), min(before.least, after.least))

    @cached_property
    def quickest(self) -> float:
        """The minimum over the blocks."""
        return min(self.times)


@dataclass
class CaseHistory:
    """Everything that is known about one case so far."""

    case: Case
    place: Place
    yardstick: Yardstick
    visits: list[Visit] = field(default_factory=list)
    scouted: list[float] = field(default_factory=list)
    beyond: list[float] = field(default_factory=list)  # seconds by which each visit exceeded its allotted time
    first: float | None = None
    moved: tuple[float, float] = (0.0, 0.0)
    peak_bytes: int | None = None
    error: str | None = None

    @property
    def how(self) -> Implementation:
        return IMPLEMENTATIONS[self.case.implementation]

    @property
    def call(self) -> float:
        """Approximate seconds per call from the first estimate; 0 before it."""
        return stopwatch.spread(self.scouted).median if self.scouted else 0.0

    @property
    def quiet(self) -> list[Visit]:
        """The visits during which the machine was idle otherwise."""
        return [visit for visit in self.visits if self.yardstick.quiet(visit.yard)]

    @property
    def times(self) -> list[float]:
        """Times of the undisturbed visits if there are enough, else of all visits; of the first estimate before any visit."""
        kept = self.quiet if len(self.quiet) >= VISITS else self.visits
        return [seconds for visit in kept for seconds in visit.times] or self.scouted

    @property
    def quickest(self) -> float | None:
        """The minimum over all visits in seconds; None before the first visit."""
        return min((visit.quickest for visit in self.visits), default=None)

    @property
    def stable_time(self) -> float | None:
        """The largest minimum of the three quickest visits, in seconds; None if too few visits count.

        A long call needs visits with an idle machine before and after. A short call fits into an undisturbed moment, so all
        visits count if at least one of the three had such a moment; otherwise all three could be equally slow.
        """
        short = (self.quickest or 0.0) <= MOMENT
        found = sorted(self.visits if short else self.quiet, key=lambda visit: visit.quickest)[:VISITS]
        alone = not short or any(self.yardstick.is_quiet(visit.moment) for visit in found)
        return found[-1].quickest if alone and len(found) == VISITS else None

    @property
    def spread(self) -> Spread:
        """Median and quartiles of `times`, with the minimum over all visits and the `stable_time`."""
        found = stopwatch.spread(self.times)
        return replace(found, quickest=self.quickest or found.quickest, repeated=self.stable_time)

    @property
    def is_stable(self) -> bool:
        """Whether three visits that count agree."""
        return self.error is None and stopwatch.agree(self.quickest, self.stable_time)

    @property
    def is_done(self) -> bool:
        """Whether no further visit is needed."""
        return self.error is not None or len(self.visits) >= ENOUGH or self.is_stable

    @property
    def needs(self) -> float:
        """Minimum seconds until the case has the visits that it needs, or one more visit."""
        beyond = statistics.fmean(self.beyond) if self.beyond else 3 * self.call
        return max(1, VISITS - len(self.visits)) * beyond

    @property
    def share(self) -> float:
        """Progress from 0 to 1: the first estimate is a tenth, the minimum number of visits most of the rest."""
        return 1.0 if self.is_done else min(0.1 * bool(self.scouted) + 0.8 * len(self.visits) / VISITS, 0.9)

    def scout(self, seed: int) -> None:
        """Measures the first call, some warm calls, the peak memory and the transfers to and from the device."""
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
        """Returns everything that is known as a `Timing`, to be shown and stored."""
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
    """Returns the place where a case runs; its peaks are not measured yet."""
    return Place(
        device_name=recordings.name(name, case.device),
        system=recordings.name(devices.system(), "unknown"),
        torch=recordings.name(torch.__version__, "unknown"),
        precision=torch.get_float32_matmul_precision(),
        threads=threads,
        when=when,
    )


def update_place(at: Place, case: Case, patience: float) -> Place:
    """Measures the peaks again and returns the place with the better of the old and the new ones."""
    found = roofline.peaks(case.device, case.dtype, at.threads, patience)
    best = max(at.peak_operations or 0.0, found.matmul), max(at.peak_traffic or 0.0, found.copy)
    return replace(at, peak_operations=best[0], peak_traffic=best[1])
