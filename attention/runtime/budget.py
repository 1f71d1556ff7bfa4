"""The memory that caches and running work may use together, and the claims on it.

Every holder registers a claim, which says how much it holds and can give some of it back. Work that needs much memory
asks for room first, and reports to its user if there is not enough. The memory of the process itself is reserved.
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

ASIDE = 490 * 2**20  # bytes of the libraries, and of visitors in addition to what they request (docs/HOSTING.md)
LEAST = 64 * 2**20  # bytes of the smallest budget, however little memory there is
ARENA_MAX, ARENAS = -8, 2  # number of mallopt's parameter M_ARENA_MAX, and its value
MAPPED, MAPPED_FROM = -3, 2**18  # the same of M_MMAP_THRESHOLD, the bytes from which a piece is a mapping of its own
GROUP = Path("/sys/fs/cgroup")
LIMITS = ("memory.max", "memory/memory.limit_in_bytes")  # of control groups of version 2, and of version 1


@runtime_checkable
class Claim(Protocol):
    """A memory holder: bytes in use, bytes it cannot evict, and two ways to evict: by size or by age."""

    @property
    def used_bytes(self) -> int: ...
    @property
    def unevictable_bytes(self) -> int: ...
    def give_back(self, size: int) -> object: ...
    def expire(self, before: float) -> object: ...


C = TypeVar("C", bound=Claim)


class Budget:
    """Bytes shared by all registered claims, which are asked to give some back in the order of registration.

    `there`: bytes that the process may still take, whatever the claims report. If these do not suffice, claims that are
    `cheap` to recreate give some back, and no request is refused.
    """

    def __init__(self, most: int, there: Callable[[], float] = lambda: inf) -> None:
        self.most, self.there = max(most, LEAST), there
        self.claims: list[Claim] = []
        self.cheap: list[Claim] = []

    def register(self, claim: C, cheap: bool = False) -> C:
        """Returns the claim, which counts from now on. `cheap`: what it gives back is quickly recreated."""
        self.claims.append(claim)
        self.cheap += [claim] * cheap
        return claim

    def tidy(self, before: float) -> None:
        """Makes every claim give back what is older than a clock time, and returns the memory to the system."""
        for claim in self.claims:
            claim.expire(before)
        trim()

    @property
    def free_bytes(self) -> int:
        """Bytes that no claim holds."""
        return self.most - sum(claim.used_bytes for claim in self.claims)

    @property
    def free(self) -> int:
        """Bytes that would be free if all claims gave back what they can, as they report it."""
        return self.most - sum(claim.unevictable_bytes for claim in self.claims)

    def room(self, needed: int) -> bool:
        """Makes claims give back memory until `needed` bytes are free; returns whether they are."""
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
    """Returns the bytes that this process may use: the smaller of its control group's limit and the machine's memory."""
    found = [*limits(), *_machine()]
    return min(found, default=2**33)


def limits() -> list[int]:
    """Returns the memory limits of this process's control group, in bytes; empty if it has none."""
    texts = [path.read_text().strip() for name in LIMITS if (path := GROUP / name).is_file()]
    return [int(text) for text in texts if text.isdigit()]


def _machine() -> list[int]:
    info = Path("/proc/meminfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    return [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemTotal")]


def resident() -> int:
    """Returns the bytes of memory that this process uses at the moment; 0 if the system does not report them."""
    pages = Path("/proc/self/statm")
    return int(pages.read_text().split()[1]) * mmap.PAGESIZE if pages.is_file() else 0


def trim() -> None:
    """Returns freed memory to the system, which the C library would keep for later; Linux with glibc."""
    _glibc("malloc_trim", 0)


def limit_arenas(tight: bool) -> None:
    """Makes new threads share few arenas of the C library, each of which keeps what its threads have freed.

    Every run of a script is a thread of its own, and by default there are eight arenas per core. If memory is `tight`,
    each piece of 256 kB and more is a mapping of its own and is returned at once; otherwise that threshold grows with
    the largest freed piece, up to 32 MB, and the gaps that tensors of all sizes left between each other came to 780 of
    1,100 MB. Large pictures then take twice the processor time, as all memory is fresh. Linux with glibc.
    """
    _glibc("mallopt", ARENA_MAX, ARENAS)
    if tight:
        _glibc("mallopt", MAPPED, MAPPED_FROM)


def _glibc(name: str, *given: int) -> None:
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            getattr(ctypes.CDLL("libc.so.6"), name)(*given)
