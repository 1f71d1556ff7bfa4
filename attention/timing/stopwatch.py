"""Seconds of one call, with their spread.

Calls are timed in blocks by `torch.utils.benchmark.Timer`, with a clock that waits for the device. A block is so long
that reading the clock is no part of the result; finding that length warms up. Garbage is not collected meanwhile.
"""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from attention.timing import devices

Clock = Callable[[], float]
NEAR = 0.1  # a spread is settled once its interquartile range is at most this share of the median
LEAST = 5  # blocks before a spread can be called settled
BAND = 3  # blocks before their quartiles say anything


@dataclass(frozen=True)
class Spread:
    """Seconds of one call: median and quartiles over `repeats` blocks; `settled` where these are near each other."""

    median: float
    lower: float
    upper: float
    repeats: int

    @property
    def banded(self) -> bool:
        """Are there enough blocks for quartiles? Where not, these say nothing, and least that they are near."""
        return self.repeats >= BAND

    @property
    def settled(self) -> bool:
        """Is the interquartile range at most 10 % of the median, over at least five blocks?"""
        return self.repeats >= LEAST and self.upper - self.lower <= NEAR * self.median


class StopError(Exception):
    """Whoever asked for a measurement does not want it any more."""


def clock(device: str, seconds: Clock = perf_counter) -> Clock:
    """A clock that is read when the device has done all that it was given."""

    def read() -> float:
        devices.wait(device)
        return seconds()

    return read


def spread(times: list[float]) -> Spread:
    """Median and quartiles of some times, interpolated between neighbours."""
    if len(times) == 1:
        return Spread(times[0], times[0], times[0], 1)
    lower, median, upper = statistics.quantiles(times, n=4, method="inclusive")
    return Spread(median, lower, upper, len(times))


def once(run: Callable[[], object], clock: Clock) -> float:
    """Seconds of a single call."""
    start = clock()
    run()
    return clock() - start


def samples(
    run: Callable[[], object],
    seconds: float,
    threads: int,
    clock: Clock,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[float]:
    """Seconds a call, one number for each block, for about as long as given; ends early where it should stop."""
    from torch.utils.benchmark import Timer  # half a second that who only shows timings need not wait

    times: list[float] = []

    def keep(calls: int, spent: float) -> None:
        times.append(spent / calls)
        if should_stop():
            raise StopError

    timer = Timer("run()", globals={"run": run}, timer=clock, num_threads=threads)
    with contextlib.suppress(StopError):
        timer.blocked_autorange(keep, min_run_time=seconds)  # pyright: ignore[reportArgumentType]  the callback may return
    return times
