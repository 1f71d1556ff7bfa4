"""Seconds of one call, with their spread and the least of them.

Calls are timed in short blocks, with a clock that waits for the device. A block is so long that reading the clock is no part
of the result, and otherwise as short as can be: on a machine with other work a short one falls between two disturbances, a
long one never does. Finding that length warms up. Garbage is not collected meanwhile.

A machine that does something else only ever adds time. So the least that was measured is an upper bound of what a call takes
on a machine left alone, and comes down to it, where median and quartiles move with the load (Chen and Revels 2016, Robust
benchmarking in noisy environments, arXiv:1608.04295). Therefore what is drawn and compared is the quickest, beside the median.
"""

from __future__ import annotations

import contextlib
import gc
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter

import torch

from attention.timing import devices

Clock = Callable[[], float]
NEAR = 0.1  # how far apart what is to agree may be: visits above the quickest, quartiles as a share of the median
BAND = 3  # blocks before their quartiles say anything, and those of an old recording can be called settled
BLOCK = 2.5e-4  # seconds of a block at the least: a tenth of what a scheduler gives to another program at once
BLOCKS = 1000  # of one visit, about, at the most
LOOK = 1000  # times as long as reading the clock is a block at the least


@dataclass(frozen=True)
class Spread:
    """Seconds of one call over `repeats` blocks: median and quartiles, and how quick it was.

    `quickest`: the least of any block; `repeated`: what three visits came down to, None where there were no three that
    count. Recordings of before have no `quickest`: their median and quartiles stand for it.
    """

    median: float
    lower: float
    upper: float
    repeats: int
    quickest: float | None = None
    repeated: float | None = None

    @property
    def seconds(self) -> float:
        """The one number that is drawn and compared: the quickest; of recordings that have none, the median."""
        return self.median if self.quickest is None else self.quickest

    @property
    def ends(self) -> tuple[float, float] | None:
        """Between what `seconds` may lie, as it repeats; None where nothing tells."""
        if self.quickest is not None:
            return None if self.repeated is None else (self.quickest, self.repeated)
        return (self.lower, self.upper) if self.has_quartiles else None

    @property
    def band(self) -> tuple[float, float] | None:
        """From `seconds`, or the lower quartile, to the upper one: what the machine adds to three calls of four."""
        return (min(self.lower, self.seconds), self.upper) if self.has_quartiles else None

    @property
    def has_quartiles(self) -> bool:
        """Are there enough blocks for quartiles? Where not, these say nothing, and least that they are near."""
        return self.repeats >= BAND

    @property
    def is_stable(self) -> bool:
        """Did three visits come within 10 % of the quickest? Of an old recording: are the quartiles so near?"""
        if self.quickest is None:
            return self.has_quartiles and self.upper - self.lower <= NEAR * self.median
        return agree(self.quickest, self.repeated)


def agree(quickest: float | None, repeated: float | None) -> bool:
    """Did the quickest come again, to within 10 %?"""
    return quickest is not None and repeated is not None and repeated <= (1 + NEAR) * quickest


def clock(device: str, seconds: Clock = perf_counter) -> Clock:
    """A clock that is read when the device has done all that it was given."""

    def elapsed() -> float:
        devices.wait(device)
        return seconds()

    return elapsed


def spread(times: list[float]) -> Spread:
    """Median and quartiles of some times, interpolated between neighbours, and the least of them."""
    if len(times) == 1:
        return Spread(times[0], times[0], times[0], 1, times[0])
    lower, median, upper = statistics.quantiles(times, n=4, method="inclusive")
    return Spread(median, lower, upper, len(times), min(times))


def once(run: Callable[[], object], clock: Clock) -> float:
    """Seconds of a single call."""
    return _block(run, 1, clock)


def samples(
    run: Callable[[], object],
    seconds: float,
    threads: int,
    clock: Clock,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[float]:
    """Seconds a call, one number for each block, for about as long as given; ends early where it should stop."""
    times: list[float] = []
    spent = 0.0
    with _quiet_process(threads):
        calls = _calls(run, seconds, clock)
        while not times or spent < seconds:
            taken = _block(run, calls, clock)
            spent += taken
            times.append(taken / calls)
            if should_stop():
                break
    return times


def _calls(run: Callable[[], object], seconds: float, clock: Clock) -> int:
    """How many calls make a block that is long enough; tried, which warms up."""
    reading = min(once(lambda: None, clock) for _ in range(5))
    enough, calls = max(BLOCK, seconds / BLOCKS, LOOK * reading), 1
    while _block(run, calls, clock) < min(enough, seconds):
        calls *= 2
    return calls


def _block(run: Callable[[], object], calls: int, clock: Clock) -> float:
    start = clock()
    for _ in range(calls):
        run()
    return clock() - start


@contextlib.contextmanager
def _quiet_process(threads: int) -> Iterator[None]:
    """With so many threads, and without collecting garbage."""
    before, collects = torch.get_num_threads(), gc.isenabled()
    torch.set_num_threads(threads)
    gc.disable()
    try:
        yield
    finally:
        torch.set_num_threads(before)
        if collects:
            gc.enable()
