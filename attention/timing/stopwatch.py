"""Measures the seconds of a call: minimum, median and quartiles over short blocks of calls.

The clock waits for the device before it is read. A block is long enough that reading the clock does not affect the result,
and otherwise as short as possible: on a busy machine a short block can fall between two disturbances, a long one cannot.
Searching for that length also warms up the call. Garbage collection is off while blocks are timed.

Other load only ever adds time. The minimum is therefore an upper bound of the time on an idle machine and converges to it,
while median and quartiles move with the load (Chen and Revels 2016, Robust benchmarking in noisy environments,
arXiv:1608.04295). Charts and comparisons therefore use the minimum, and show the median in addition.
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
NEAR = 0.1  # tolerance of agreement: visits above the quickest one, or quartiles as a share of the median
BAND = 3  # minimum number of blocks for meaningful quartiles, and for an old recording to be called stable
BLOCK = 2.5e-4  # minimum seconds of a block: a tenth of the time slice that a scheduler gives to another program
BLOCKS = 1000  # approximate maximum number of blocks per visit
LOOK = 1000  # minimum duration of a block, as a multiple of the time to read the clock


@dataclass(frozen=True)
class Spread:
    """Seconds per call over `repeats` blocks: median, quartiles and minimum.

    `quickest`: the minimum over all blocks. `repeated`: the largest minimum of the three quickest visits, None if fewer than
    three visits count. Older recordings have no `quickest`; their median and quartiles are used in its place.
    """

    median: float
    lower: float
    upper: float
    repeats: int
    quickest: float | None = None
    repeated: float | None = None

    @property
    def seconds(self) -> float:
        """The time that is drawn and compared: the minimum, or the median of recordings that have no minimum."""
        return self.median if self.quickest is None else self.quickest

    @property
    def ends(self) -> tuple[float, float] | None:
        """Uncertainty interval of `seconds`, or None if it was not repeated."""
        if self.quickest is not None:
            return None if self.repeated is None else (self.quickest, self.repeated)
        return (self.lower, self.upper) if self.has_quartiles else None

    @property
    def band(self) -> tuple[float, float] | None:
        """From the minimum (or the lower quartile, if less) to the upper quartile: the range of three blocks of four.

        None without quartiles.
        """
        return (min(self.lower, self.seconds), self.upper) if self.has_quartiles else None

    @property
    def has_quartiles(self) -> bool:
        """Whether there are enough blocks for meaningful quartiles."""
        return self.repeats >= BAND

    @property
    def is_stable(self) -> bool:
        """Whether three visits came within 10 % of the minimum; for an old recording, whether its quartiles are that close."""
        if self.quickest is None:
            return self.has_quartiles and self.upper - self.lower <= NEAR * self.median
        return agree(self.quickest, self.repeated)


def agree(quickest: float | None, repeated: float | None) -> bool:
    """Whether `repeated` is at most 10 % above `quickest`."""
    return quickest is not None and repeated is not None and repeated <= (1 + NEAR) * quickest


def clock(device: str, seconds: Clock = perf_counter) -> Clock:
    """Returns a clock that waits until the device has finished its queued work before it is read."""

    def elapsed() -> float:
        devices.wait(device)
        return seconds()

    return elapsed


def spread(times: list[float]) -> Spread:
    """Median and quartiles of the times, interpolated between neighbours, and their minimum."""
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
    """Seconds per call, one number for each block, measured for about `seconds`; ends early if `should_stop()` is true."""
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
    """Number of calls that make a block long enough, found by trying, which also warms up the call."""
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
    """Sets the number of torch threads and turns garbage collection off; both are restored afterwards."""
    before, collects = torch.get_num_threads(), gc.isenabled()
    torch.set_num_threads(threads)
    gc.disable()
    try:
        yield
    finally:
        torch.set_num_threads(before)
        if collects:
            gc.enable()
