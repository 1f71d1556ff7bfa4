"""What this machine can time, and how to wait for it.

Nothing is probed before a function is called. Whatever `torch.accelerator` reports (CUDA, ROCm, MPS, XPU and others)
is listed by itself; a device that needs more than that is added to `devices`.
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
REAL = 4  # a dtype whose product takes over this many times float32's is emulated
ROUNDS = 8  # in which each dtype is tried, the best of which counts
SIDE = 256  # of the square matrices that are multiplied to find out
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Device:
    """A device that can be timed: `key` is what `torch.device` takes, `name` what its maker calls it."""

    key: str
    name: str


def devices() -> list[Device]:
    """The CPU, and every accelerator that torch can use here."""
    return [Device("cpu", cpu_name()), *_accelerators()]


def device(key: str) -> Device:
    """The device of this key; raises ValueError where the machine has none."""
    here = {found.key: found for found in devices()}
    if key not in here:
        raise ValueError(f"device={key!r} is not here. This machine has: {', '.join(here)}.")
    return here[key]


def _accelerators() -> list[Device]:
    """None where the driver of what was here gives no answer: what else there is can still be timed."""
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
    """The processor's name and how many cores this process may use."""
    name = processor.name()
    return f"{name}, {cores()} cores" if cores() > 1 else f"{name}, 1 core"


def system() -> str:
    """The operating system, its release and the kind of machine."""
    return f"{platform.system()} {platform.release().partition('-')[0]} {platform.machine()}"


def wait(key: str) -> None:
    """Returns when all that the device was given is done; a CPU's work is done when its call returns."""
    if key != "cpu":
        torch.accelerator.synchronize(torch.device(key))


def dtypes(key: str) -> list[str]:
    """The dtypes that the device computes for real.

    Found by multiplying two matrices: one that is refused, or over 4 times slower than float32, is not computed but
    emulated, and its timings would say nothing about the hardware.
    """
    seconds = {name: [_product(key, dtype) for _ in range(2)][1] for name, dtype in DTYPES.items()}  # once to warm up
    for _ in range(ROUNDS):  # in turns, so that a busy moment meets all
        for name, dtype in DTYPES.items():
            seconds[name] = min(seconds[name], _product(key, dtype))
    return [name for name, taken in seconds.items() if taken < float("inf") and taken <= REAL * seconds["float32"]]


def _product(key: str, dtype: torch.dtype) -> float:
    """Seconds of a small matrix product; infinite where it is refused."""
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
    """Bytes that can still be allocated there; None where nobody can say."""
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
    """What a container's memory limit leaves, in bytes; nothing where there is no limit."""
    used = budget.GROUP / "memory.current"
    return [max(0, limit - int(used.read_text())) for limit in budget.limits() if used.is_file()]


def _left_in_process() -> list[int]:
    """What a bound on this process's own data leaves, in bytes; nothing where there is none. Linux only."""
    if sys.platform != "linux":
        return []
    limit, text = resource.getrlimit(resource.RLIMIT_DATA)[0], Path("/proc/self/status").read_text()
    used = int(text.partition("VmData:")[2].split()[0]) * 1024
    return [] if limit == resource.RLIM_INFINITY else [max(0, limit - used)]
