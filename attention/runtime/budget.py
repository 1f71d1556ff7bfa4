"""How much memory all that is kept or under way may take together, and who claims how much of it.

Every kind registers what it holds now, and how to give some of it back. Who is about to need much asks for room first, and
tells whoever asked for it where there is none. What the process takes by itself is set aside.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Callable
from contextlib import suppress
from math import ceil, inf
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

ASIDE = 490 * 2**20  # bytes of the libraries, and of visitors beside what they asked for (docs/HOSTING.md)
LEAST = 64 * 2**20  # bytes that are shared out however little there is
ARENA_MAX, ARENAS = -8, 2  # the name that malloc.h has for the bound, and the bound
MAPPED, MAPPED_FROM = -3, 2**18  # the same for the bytes from which on a piece is a mapping of its own
GROUP = Path("/sys/fs/cgroup")
LIMITS = ("memory.max", "memory/memory.limit_in_bytes")  # of the second version of control groups, and of the first


@runtime_checkable
class Claim(Protocol):
    """Whoever holds memory: how many bytes now, and how many of these it can't give back; gives back about so many, and what is
    older than a time of the clock."""

    @property
    def used_bytes(self) -> int: ...
    @property
    def unevictable_bytes(self) -> int: ...
    def give_back(self, size: int) -> object: ...
    def expire(self, before: float) -> object: ...


C = TypeVar("C", bound=Claim)


class Budget:
    """Bytes that are shared by all who register a claim, in the order in which they are asked to give some back.

    `there`: bytes that the process may still take, whatever the claims say. For those that lack, whoever has what is `cheap`
    to make again gives back of it, and nobody is refused.
    """

    def __init__(self, most: int, there: Callable[[], float] = lambda: inf) -> None:
        self.most, self.there = max(most, LEAST), there
        self.claims: list[Claim] = []
        self.cheap: list[Claim] = []

    def register(self, claim: C, cheap: bool = False) -> C:
        """The claim, which counts from now on. `cheap`: what it gives back is quickly there again."""
        self.claims.append(claim)
        self.cheap += [claim] * cheap
        return claim

    def tidy(self, before: float) -> None:
        """Has everybody let go of what is older than a time of the clock, and gives it back to the system."""
        for claim in self.claims:
            claim.expire(before)
        trim()

    @property
    def free_bytes(self) -> int:
        """Bytes that nobody holds."""
        return self.most - sum(claim.used_bytes for claim in self.claims)

    @property
    def free(self) -> int:
        """Bytes that there would be room for, as far as is known before anybody has given anything back."""
        return self.most - sum(claim.unevictable_bytes for claim in self.claims)

    def room(self, needed: int) -> bool:
        """Is there room for so many bytes, once others have given back what they can do without?"""
        for claim in self.claims:
            if (lacking := needed - self.free_bytes) <= 0:
                break
            claim.give_back(lacking)
        for claim in self.cheap:
            if (short := needed - self.there()) <= 0:
                break
            claim.give_back(ceil(short))
        return needed <= self.free_bytes


def process_limit() -> int:
    """Bytes that the system lets this process have: its control group's limit, or all of the machine's memory."""
    found = [*limits(), *_machine()]
    return min(found, default=2**33)


def limits() -> list[int]:
    """Bytes that the control group of this process may have; nothing where that has no limit."""
    texts = [path.read_text().strip() for name in LIMITS if (path := GROUP / name).is_file()]
    return [int(text) for text in texts if text.isdigit()]


def _machine() -> list[int]:
    info = Path("/proc/meminfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    return [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemTotal")]


def resident() -> int:
    """Bytes of memory that this process has at the moment; 0 where the system does not say."""
    pages = Path("/proc/self/statm")
    return int(pages.read_text().split()[1]) * mmap.PAGESIZE if pages.is_file() else 0


def trim() -> None:
    """Gives memory that was freed back to the system, which the C library else keeps for later; Linux with glibc."""
    _glibc("malloc_trim", 0)


def limit_arenas(tight: bool) -> None:
    """Has threads that begin from now on share few arenas of the C library, each of which keeps what its threads have freed.

    Every run of a script is a thread of its own, and there are eight arenas a core. Where memory is `tight`, pieces of 256 kB
    and more are mapped each by itself and go back at once: else the bound grows with the largest that was freed, up to 32 MB,
    and what tensors of all sizes leave between each other came to 780 of 1,100 MB. Large pictures then take twice the
    processor's time, as all memory is fresh. Linux with glibc.
    """
    _glibc("mallopt", ARENA_MAX, ARENAS)
    if tight:
        _glibc("mallopt", MAPPED, MAPPED_FROM)


def _glibc(name: str, *given: int) -> None:
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            getattr(ctypes.CDLL("libc.so.6"), name)(*given)
