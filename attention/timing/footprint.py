"""How many bytes a call needs at its peak, beyond its inputs.

On an accelerator torch's allocator keeps the maximum. On a CPU the kernel does: Linux keeps the greatest resident size
of a process (VmHWM) and lets it be reset, so nothing is sampled and nothing is missed. It counts pages of the whole
process, so that nothing else should run in it; on other systems it is not known, and said so by None.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from pathlib import Path

import torch

from attention.runtime.memory import FreeList

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RESOLUTION = 2**20  # bytes that a process's resident size may be off by, on a CPU


def peak(run: Callable[[], object], device: str) -> int | None:
    """Bytes that one call held at its peak; None where the system does not say. Call it once before, to warm up."""
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
    """Hands freed memory back to the system and begins a new maximum; False where the system has no such thing.

    The core keeps the memory of large weights for its next call: a call that reuses it needs it all the same.
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
