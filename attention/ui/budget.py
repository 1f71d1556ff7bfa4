"""The memory that this server may use, shared by all that is kept or under way; and what is let go of once nobody is there."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from attention.machine import memory
from attention.machine.budget import ASIDE, Budget, allowed, trim
from serving.settings import settings

EXPIRY = 240.0  # seconds after which a result that nobody has asked for is forgotten
SAID = settings().memory * 1_000_000  # bytes that an owner lets it use; 0: what the system does
BUDGET = Budget(int(min(SAID or allowed(), allowed())) - ASIDE)
BUDGET.register("memory for the next weights", memory.waiting, lambda _: memory.give_back())
_chores: list[Callable[[float], object]] = []


def chore(call: Callable[[float], object]) -> None:
    """Has it called every few seconds with the time before which whatever nobody has looked at since is old."""
    _chores.append(call)


def tidy() -> None:
    """Lets go of what is old, and gives its memory back to the system."""
    for call in _chores:
        call(monotonic() - EXPIRY)
    memory.give_back()
    trim()
