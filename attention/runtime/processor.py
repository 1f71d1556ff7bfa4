"""What this processor is like, found out on it when first asked: cores, caches, and which exponential is faster.

No table of models: what a virtual machine is called says little about what it has. What nobody can say is told so, and
whoever asked has a size of their own for it.
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
SYSTEM = {1: 188, 2: 191, 3: 194, 4: 197}  # numbers that glibc's confname.h has for them: Python has no names
INFO = Path("/proc/cpuinfo")
TRIED = 2**14  # numbers that an exponential is tried on: in the first caches, and too few for torch to share them
TURNS = 25  # in which each is tried, the best of which counts: a millisecond for both
TRYING = Lock()  # threads that ask at the same time are told the same


def name() -> str:
    """What the system calls the processor; a virtual machine's name has no number often, and its family and model tell which."""
    lines = INFO.read_text().splitlines() if INFO.is_file() else []
    told = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in reversed(lines))}
    found = told.get("model name") or platform.processor() or platform.machine()
    if any(map(str.isdigit, found)) or not {"cpu family", "model"} <= told.keys():
        return found
    return f"{found}, family {told['cpu family']} model {told['model']}"


@cache
def caches() -> dict[int, int]:
    """Bytes of the data caches of a core by their level, shared ones whole; nothing where the system does not tell."""
    return _caches_from_linux() or _caches_from_glibc()


def _caches_from_linux() -> dict[int, int]:
    """As Linux lists them."""
    found = {}
    for folder in CACHES.glob("index*"):
        kind, level, size = (_line(folder / part) for part in ("type", "level", "size"))
        if kind in ("Data", "Unified") and level.isdigit() and size[:-1].isdigit() and size[-1] in UNITS:
            found[int(level)] = int(size[:-1]) * UNITS[size[-1]]
    return dict(sorted(found.items()))


def _line(file: Path) -> str:
    return file.read_text().strip() if file.is_file() else ""


def _caches_from_glibc() -> dict[int, int]:
    """As glibc has them on Linux, which asks the processor itself; another C library may know none of the numbers."""
    found = {}
    for level, number in SYSTEM.items() if sys.platform == "linux" else ():
        with suppress(ValueError, OSError):
            found[level] = os.sysconf(number)
    return {level: size for level, size in found.items() if size > 0}


def exponential(dtype: torch.dtype) -> str:
    """The faster one of torch's exponentials for a dtype on this CPU: `exp` or `exp2`, tried in turns once.

    Torch takes them from different libraries, one of which is its maker's: `exp2` was four times as fast as `exp` on an AMD
    EPYC, and `exp` 1.6 times as fast as `exp2` on an Intel Xeon (docs/LOG.md).
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
    """All of it in a line."""
    sizes = ", ".join(f"L{level} {_size(size)}" for level, size in caches().items()) or "caches unknown"
    faster = ", ".join(f"{exponential(dtype)} for {str(dtype)[6:]}" for dtype in (torch.float32, torch.float64))
    return f"{name()}, {cores()} cores, {sizes}; faster: {faster}"


def _size(size: int) -> str:
    return f"{size // 2**20} MB" if size % 2**20 == 0 else f"{size // 2**10} kB"
