"""Properties of this processor, determined on first use: cores, caches, and the faster exponential.

They are not looked up by model, as the name of a virtual machine's processor says little about it. A property that
can't be determined is reported as unknown, and callers have a default of their own.
"""

from __future__ import annotations

import os
import platform
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock
from time import perf_counter

import torch

from attention.runtime.tensor_cache import tensor_lru_cache
from attention.runtime.threads import cores

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}
SYSTEM = {1: 188, 2: 191, 3: 194, 4: 197}  # their numbers in glibc's confname.h, for which Python has no names
INFO = Path("/proc/cpuinfo")
TRIED = 2**14  # numbers for which it is timed: they fit into the first caches and are too few for several threads
TURNS = 25  # rounds in which each is timed, the best of which counts: a millisecond for both
TRYING = Lock()  # threads that ask at the same time get the same answer


def name() -> str:
    """Returns the name of the processor, with family and model if the name has no digit, as often on virtual machines."""
    lines = INFO.read_text().splitlines() if INFO.is_file() else []
    told = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in reversed(lines))}
    found = told.get("model name") or platform.processor() or platform.machine()
    if any(map(str.isdigit, found)) or not {"cpu family", "model"} <= told.keys():
        return found
    return f"{found}, family {told['cpu family']} model {told['model']}"


@cache
def caches() -> dict[int, int]:
    """Returns the bytes of a core's data caches by level, shared ones whole; empty if the system does not report them."""
    return _caches_from_linux() or _caches_from_glibc()


def _caches_from_linux() -> dict[int, int]:
    """Returns the caches that Linux lists."""
    found = {}
    for folder in CACHES.glob("index*"):
        kind, level, size = (_line(folder / part) for part in ("type", "level", "size"))
        if kind in ("Data", "Unified") and level.isdigit() and size[:-1].isdigit() and size[-1] in UNITS:
            found[int(level)] = int(size[:-1]) * UNITS[size[-1]]
    return dict(sorted(found.items()))


def _line(file: Path) -> str:
    return file.read_text().strip() if file.is_file() else ""


def _caches_from_glibc() -> dict[int, int]:
    """Returns the caches from glibc on Linux, which asks the processor; other C libraries may not know the numbers."""
    found = {}
    for level, number in SYSTEM.items() if sys.platform == "linux" else ():
        with suppress(ValueError, OSError):
            found[level] = os.sysconf(number)
    return {level: size for level, size in found.items() if size > 0}


def exponential(dtype: torch.dtype) -> str:
    """Returns the faster of torch's exponentials for a dtype on this CPU, `exp` or `exp2`, timed in turns once.

    Torch takes them from different libraries, one of which is by a maker of processors: `exp2` was four times as fast
    as `exp` on an AMD EPYC, and `exp` 1.6 times as fast as `exp2` on an Intel Xeon (docs/LOG.md).
    """
    with TRYING:
        return _fastest_exponential(dtype)


@tensor_lru_cache(None)
def _fastest_exponential(dtype: torch.dtype) -> str:
    ways = {"exp": torch.exp, "exp2": torch.exp2}
    numbers = torch.linspace(-8, 8, TRIED, dtype=dtype, device="cpu")
    out = torch.empty_like(numbers)
    seconds = dict.fromkeys(ways, float("inf"))
    for _ in range(TURNS):
        for way, call in ways.items():
            start = perf_counter()
            call(numbers, out=out)
            seconds[way] = min(seconds[way], perf_counter() - start)
    return min(seconds, key=seconds.__getitem__)


def describe_processor() -> str:
    """Returns all properties in one line."""
    sizes = ", ".join(f"L{level} {_size(size)}" for level, size in caches().items()) or "caches unknown"
    faster = ", ".join(f"{exponential(dtype)} for {str(dtype)[6:]}" for dtype in (torch.float32, torch.float64))
    return f"{name()}, {cores()} cores, {sizes}; faster: {faster}"


def _size(size: int) -> str:
    return f"{size // 2**20} MB" if size % 2**20 == 0 else f"{size // 2**10} kB"
