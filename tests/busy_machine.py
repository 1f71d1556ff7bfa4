"""A machine that does something else as well, simulated: a clock that work and thieves move, and sweeps of it.

Nothing reads a real clock. Draws come from a seed.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from attention.timing import stopwatch
from attention.timing.history import CaseHistory, Place, Visit
from attention.timing.interference_probe import Yardstick
from attention.timing.sweep import Case
from tests.timings import CASE

PLACE = Place("Test CPU", "Linux", "2.13.0", "highest", 2, "2026-01-31T12:00:00+00:00", 1e12, 1e11)
TURN = 4e-3  # seconds that a scheduler gives to one program before it is another one's turn, about
PRODUCT = 2e-4  # seconds of the yardstick's product


@dataclass
class Machine:
    """Its clock. While it is busy, others take every second turn; `busy`: for which share of the time, in bursts.

    `slow`: how many times as long everything takes, always.
    """

    seed: int = 0
    busy: float = 0.0
    slow: float = 1.0
    burst: float = 0.4  # seconds of a burst and of the quiet time around it, together, in the mean
    now: float = 0.0
    ours: bool = True
    until: float = 0.0
    change: float = 0.0
    loaded: bool = False
    draw: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)

    def __call__(self) -> float:
        return self.now

    def work(self, seconds: float) -> None:
        """Does what takes so long on a machine left alone."""
        left = seconds * self.slow
        while left > 0:
            self._turn()
            here = self.until - self.now
            if self.ours:
                here = min(here, left)
                left -= here
            self.now += here

    def _turn(self) -> None:
        """Whose turn it is now, and until when."""
        if self.now >= self.change:
            self.loaded = self.draw.random() < self.busy
            self.change = self.now + self.draw.expovariate(1 / self.burst)
            self.until = self.now
        if self.now >= self.until:
            self.ours = not self.loaded or not self.ours
            turn = self.draw.uniform(0.5, 1.5) * TURN if self.loaded else self.change - self.now
            self.until = min(self.now + max(turn, 1e-9), self.change)


def measure_case(
    machine: Machine, seconds: float, yardstick: Yardstick | None = None, visit: float = 0.2
) -> CaseHistory:
    """A case that takes so long on a machine left alone, visited as a sweep does until there is nothing more to learn."""
    yard = yardstick or ruler(machine)
    found = CaseHistory(Case(**CASE), PLACE, yard)
    while not found.is_done:
        before = yard.take()
        times = stopwatch.samples(lambda: machine.work(seconds), visit, 1, machine)
        found.visits.append(Visit.between(times, before, yard.take()))
        machine.work(1.0)  # other cases
    return found


def ruler(machine: Machine) -> Yardstick:
    """The yardstick of this machine."""
    return Yardstick(lambda: stopwatch.once(lambda: machine.work(PRODUCT), machine))
