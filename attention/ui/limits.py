"""What the owner of a host lets visitors measure (serving/settings.py: ATTENTION_MEASURE, ATTENTION_MEASURE_SECONDS)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from attention.timing.sweep import Sweep
from serving.settings import settings

S = TypeVar("S", bound=Sweep)


@dataclass(frozen=True)
class Limits:
    """May visitors measure, and for how many seconds at the most?"""

    measure: bool = True
    seconds: float = 120.0

    @property
    def why(self) -> str:
        """Why there is no measuring; empty where there is."""
        return "" if self.measure else "The owner of this host has switched measuring off."


def limits() -> Limits:
    """What holds on this host."""
    said = settings()
    return Limits(said.measure, said.measure_seconds)


def bounded(sweep: S) -> tuple[S, list[str]]:
    """The sweep with a time budget that this host allows, and a sentence where that is another one."""
    longest = limits().seconds
    if sweep.seconds <= longest:
        return sweep, []
    return replace(sweep, seconds=longest), [
        f"seconds={sweep.seconds:g} is more than this host allows; here it is {longest:g}."
    ]
