"""Was the machine left alone? A small product that is always the same takes longer where it was not.

What a case itself takes can't tell: leaving out its slow visits would make any case look fast. The yardstick doesn't
know the case, so that leaving out visits by it favours none.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

import torch

from attention import stopwatch

SIDE = 256  # of the matrices: half a millisecond on two cores
CALLS = 5  # of which the median counts
NEAR = 1.15  # times the lower quartile of a run, up to which the machine counts as left alone


class Yardstick:
    """The product on one device, and how long it took so far."""

    def __init__(self, device: str, once: Callable[[], float] | None = None) -> None:
        self.once, self.taken = once or _product(device), list[float]()

    def take(self) -> float:
        """Seconds that it takes now."""
        self.taken.append(statistics.median(self.once() for _ in range(CALLS)))
        return self.taken[-1]

    def quiet(self, seconds: float) -> bool:
        """Is it as it is for a good part of the run?"""
        return seconds <= NEAR * stopwatch.spread(self.taken).lower


def _product(device: str) -> Callable[[], float]:
    x, clock = torch.ones(SIDE, SIDE, device=device), stopwatch.clock(device)
    return lambda: stopwatch.once(lambda: x @ x, clock)
