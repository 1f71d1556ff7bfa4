"""Was the machine left alone? A small product that is always the same takes longer where it was not.

What a case itself takes can't tell: leaving out its slow visits would make any case look fast. The yardstick doesn't
know the case, so that leaving out visits by it favours none.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import NamedTuple

import torch

from attention.runtime.tensor_cache import tensor_lru_cache
from attention.timing import stopwatch

SIDE = 256  # of the matrices: some tenths of a millisecond on two cores
STRETCH = 8e-3  # seconds of a reading: a scheduler gives some milliseconds to each of two programs in turn
NEAR = 1.15  # times the least that it has ever taken in this process, up to which the machine counts as left alone


class Reading(NamedTuple):
    """What the product took over a stretch of calls: in the mean, and at the least, in seconds."""

    mean: float
    least: float


class Yardstick:
    """The product on one device, and the least that each part of a reading has been."""

    def __init__(self, once: Callable[[], float]) -> None:
        self.once, self.best = once, Reading(math.inf, math.inf)

    def take(self) -> Reading:
        """Seconds that it takes now."""
        taken: list[float] = []
        while sum(taken) < STRETCH:
            taken.append(self.once())
        found = Reading(statistics.fmean(taken), min(taken))
        self.best = Reading(min(self.best.mean, found.mean), min(self.best.least, found.least))
        return found

    def quiet(self, seconds: float) -> bool:
        """Is this mean near the least? What is usual won't do: a neighbour may stay for a whole run and be gone in the next."""
        return seconds <= NEAR * self.best.mean

    def is_quiet(self, seconds: float) -> bool:
        """Is the quickest call of a reading near the quickest of all, as it is in any moment that others leave?"""
        return seconds <= NEAR * self.best.least


@tensor_lru_cache(None)
def yardstick(device: str, threads: int) -> Yardstick:
    """The one of a device with so many threads, which lasts as long as the process: its sweeps are to agree."""
    x, clock = torch.ones(SIDE, SIDE, device=device), stopwatch.clock(device)
    return Yardstick(lambda: stopwatch.once(lambda: x @ x, clock))
