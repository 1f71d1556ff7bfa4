"""Detects other load on the machine: a small matrix product takes longer than usual if the machine is busy.

The times of a case itself cannot show this: leaving out its slow visits would make any case look fast. The probe is
independent of the case, so leaving out visits by its readings favours no case.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import NamedTuple

import torch

from attention.runtime.tensor_cache import tensor_lru_cache
from attention.timing import stopwatch

SIDE = 256  # rows and columns of the matrices: some tenths of a millisecond on two cores
STRETCH = 8e-3  # seconds of a reading: a scheduler alternates between two programs every few milliseconds
NEAR = 1.15  # multiple of the minimum in this process up to which the machine counts as otherwise idle


class Reading(NamedTuple):
    """Mean and minimum seconds of the product over a series of calls."""

    mean: float
    least: float


class Yardstick:
    """The matrix product on one device, and the minimum of each part of its readings so far."""

    def __init__(self, once: Callable[[], float]) -> None:
        self.once, self.best = once, Reading(math.inf, math.inf)

    def take(self) -> Reading:
        """Takes a reading and updates the minima."""
        taken: list[float] = []
        while sum(taken) < STRETCH:
            taken.append(self.once())
        found = Reading(statistics.fmean(taken), min(taken))
        self.best = Reading(min(self.best.mean, found.mean), min(self.best.least, found.least))
        return found

    def quiet(self, seconds: float) -> bool:
        """Whether a mean is near the smallest mean.

        The usual mean would not do: other load may last for a whole run and be gone in the next.
        """
        return seconds <= NEAR * self.best.mean

    def is_quiet(self, seconds: float) -> bool:
        """Whether the quickest call of a reading is near the quickest of all calls, as in any undisturbed moment."""
        return seconds <= NEAR * self.best.least


@tensor_lru_cache(None)
def yardstick(device: str, threads: int) -> Yardstick:
    """The probe of a device and a number of threads.

    It is kept as long as the process, so that all of its sweeps use the same minima.
    """
    x, clock = torch.ones(SIDE, SIDE, device=device), stopwatch.clock(device)
    return Yardstick(lambda: stopwatch.once(lambda: x @ x, clock))
