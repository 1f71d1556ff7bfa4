"""Measures the peak memory of a call in bytes, beyond its inputs.

On an accelerator torch's allocator records the maximum. On a CPU the kernel does: Linux records the largest resident size of a
process (VmHWM) and allows it to be reset, so no sampling is needed and no peak is missed. It counts the pages of the whole
process, so nothing else should run in it. On other systems the peak is not known, and the result is None.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from pathlib import Path

import torch

from attention.runtime.memory import FreeList

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RESOLUTION = 2**20  # possible error of a process's resident size in bytes, on a CPU


def peak(run: Callable[[], object], device: str) -> int | None:
    """Bytes that one call holds at its peak; None if the system does not report it. Call `run` once before, to warm up."""
    return _resident(run) if device == "cpu" else _allocated_bytes(run, device)


def _allocated_bytes(run: Callable[[], object], device: str) -> int | None:
    where = torch.device(device)
    try:
        torch.accelerator.synchronize(where)
        before = torch.accelerator.memory_allocated(where)
        torch.accelerator.reset_peak_memory_stats(where)
        run()
        torch.accelerator.synchronize(where)
        return torch.accelerator.max_memory_allocated(where) - before
    except (NotImplementedError, AttributeError):
        return None


def _resident(run: Callable[[], object]) -> int | None:
    if not _give_back():
        return None
    before = _status("VmRSS")
    run()
    return max(0, _status("VmHWM") - before)


def _give_back() -> bool:
    """Returns freed memory to the system and resets the recorded maximum; False if the system does not support it.

    Memory that the core keeps for the next call is freed too, because a call that reuses it needs it as well.
    """
    FreeList().give_back(0)
    try:
        ctypes.CDLL(None).malloc_trim(0)
        RESET.write_text("5")
    except (OSError, AttributeError, TypeError):
        return False
    return True


def _status(name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+) kB", STATUS.read_text())
    return int(found[1]) * 1024 if found else 0
