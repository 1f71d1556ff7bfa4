"""Lists the devices that this machine can time, and waits for them.

Nothing is probed before a function is called. Every device that `torch.accelerator` reports (CUDA, ROCm, MPS, XPU and others)
is listed automatically; a device that needs more than that is added to `devices`.
"""

from __future__ import annotations

import logging
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import torch

from attention.runtime import budget, processor
from attention.runtime.threads import cores

if sys.platform == "linux":
    import resource

DTYPES: dict[str, torch.dtype] = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}
REAL = 4  # a dtype whose matrix product takes over this many times as long as in float32 is emulated
ROUNDS = 8  # rounds in which each dtype is tried; the best one counts
SIDE = 256  # rows and columns of the square matrices that are multiplied for this
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Device:
    """A device that can be timed: `key` is the argument of `torch.device`, `name` the maker's name for it."""

    key: str
    name: str


def devices() -> list[Device]:
    """Returns the CPU and every accelerator that torch can use here."""
    return [Device("cpu", cpu_name()), *_accelerators()]


def device(key: str) -> Device:
    """Returns the device of this key; raises ValueError if the machine has none."""
    here = {found.key: found for found in devices()}
    if key not in here:
        raise ValueError(f"device={key!r} is not here. This machine has: {', '.join(here)}.")
    return here[key]


def _accelerators() -> list[Device]:
    """Returns no accelerator if the driver does not respond, so that the CPU can still be timed."""
    try:
        return _answering()
    except (RuntimeError, AssertionError) as error:
        log.warning("An accelerator gives no answer, and is left out: %s", error)
        return []


def _answering() -> list[Device]:
    found = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    if found is None:
        return []
    kind = found.type
    names = [_accelerator_name(kind, i) for i in range(torch.accelerator.device_count())]
    return [Device(f"{kind}:{i}", f"{name} #{i}" if names.count(name) > 1 else name) for i, name in enumerate(names)]


def _accelerator_name(kind: str, index: int) -> str:
    name = getattr(torch.get_device_module(kind), "get_device_name", None)
    return name(index) if name else f"{platform.processor() or platform.machine()} {kind.upper()}"


def cpu_name() -> str:
    """Returns the processor's name and how many cores this process may use."""
    name = processor.name()
    return f"{name}, {cores()} cores" if cores() > 1 else f"{name}, 1 core"


def system() -> str:
    """Returns the operating system, its release and the machine type."""
    return f"{platform.system()} {platform.release().partition('-')[0]} {platform.machine()}"


def wait(key: str) -> None:
    """Returns when the device has finished its queued work; a CPU's work is finished when its call returns."""
    if key != "cpu":
        torch.accelerator.synchronize(torch.device(key))


def dtypes(key: str) -> list[str]:
    """Returns the dtypes that the device computes natively.

    They are found by multiplying two matrices. A dtype that is refused, or over 4 times slower than float32, is emulated,
    so its timings would say nothing about the hardware.
    """
    seconds = {name: [_product(key, dtype) for _ in range(2)][1] for name, dtype in DTYPES.items()}  # first warms up
    for _ in range(ROUNDS):  # in turns, so that a busy moment affects all dtypes
        for name, dtype in DTYPES.items():
            seconds[name] = min(seconds[name], _product(key, dtype))
    return [name for name, taken in seconds.items() if taken < float("inf") and taken <= REAL * seconds["float32"]]


def _product(key: str, dtype: torch.dtype) -> float:
    """Seconds of a small matrix product; infinite if it is refused."""
    try:
        x = torch.ones(SIDE, SIDE, device=key, dtype=dtype)
        wait(key)
        start = perf_counter()
        torch.mm(x, x)
        wait(key)
        return perf_counter() - start
    except (RuntimeError, TypeError, NotImplementedError):
        return float("inf")


def free_bytes(key: str) -> int | None:
    """Bytes that can still be allocated on the device; None if unknown."""
    if key != "cpu":
        try:
            return torch.accelerator.get_memory_info(torch.device(key))[0]
        except (RuntimeError, NotImplementedError, AttributeError):
            return None
    info = Path("/proc/meminfo")
    lines = info.read_text().splitlines() if info.exists() else []
    found = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")]
    return min([*found, *_left_in_group(), *_left_in_process()], default=None)


def _left_in_group() -> list[int]:
    """Bytes that each memory limit of the container leaves; empty without a limit."""
    used = budget.GROUP / "memory.current"
    return [max(0, limit - int(used.read_text())) for limit in budget.limits() if used.is_file()]


def _left_in_process() -> list[int]:
    """Bytes that a limit on this process's data leaves; empty without a limit. Linux only."""
    if sys.platform != "linux":
        return []
    limit, text = resource.getrlimit(resource.RLIMIT_DATA)[0], Path("/proc/self/status").read_text()
    used = int(text.partition("VmData:")[2].split()[0]) * 1024
    return [] if limit == resource.RLIM_INFINITY else [max(0, limit - used)]
