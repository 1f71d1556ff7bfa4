"""Was the machine left alone? A small product that is always the same takes longer where it was not.

What a case itself takes can't tell: leaving out its slow visits would make any case look fast. The yardstick doesn't
know the case, so that leaving out visits by it favours none.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable

import torch

from attention.machine.made_once import made_once
from attention.timing import stopwatch

SIDE = 256  # of the matrices: some tenths of a millisecond on two cores
CALLS = 5  # of which the median counts
NEAR = 1.15  # times the least that it has ever taken in this process, up to which the machine counts as left alone


class Yardstick:
    """The product on one device, and the least that it has taken."""

    def __init__(self, once: Callable[[], float]) -> None:
        self.once, self.least = once, math.inf

    def take(self) -> float:
        """Seconds that it takes now."""
        taken = statistics.median(self.once() for _ in range(CALLS))
        self.least = min(self.least, taken)
        return taken

    def quiet(self, seconds: float) -> bool:
        """Is this near the least? What is usual won't do: a neighbour may stay for a whole run and be gone in the next."""
        return seconds <= NEAR * self.least


@made_once(None)
def yardstick(device: str, threads: int) -> Yardstick:
    """The one of a device with so many threads, which lasts as long as the process: its sweeps are to agree."""
    x, clock = torch.ones(SIDE, SIDE, device=device), stopwatch.clock(device)
    return Yardstick(lambda: stopwatch.once(lambda: x @ x, clock))
