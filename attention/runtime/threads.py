"""Threads in which torch computes alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Barrier, get_native_id
from typing import TypeVar

import torch
from torch.utils._python_dispatch import _get_current_dispatch_mode

T = TypeVar("T")
POOLS: set[str] = set()  # names of all pools: their threads are called so, with a number
QUOTA = Path("/sys/fs/cgroup/cpu.max")  # microseconds of processor time in each period of so many, or "max"


def cores() -> int:
    """Cores that this process may use: by its affinity, and by the quota of its control group."""
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = QUOTA.read_text().split() if QUOTA.is_file() else []
    if len(quota) == 2 and quota[0].isdigit():
        found = min(found, max(1, round(int(quota[0]) / int(quota[1]))))
    return found


def one_thread() -> None:
    """Makes torch compute in the calling thread alone, from now on.

    The libraries below it keep this for each thread by itself: the first product in a new one starts a second thread,
    10 ms that are spent with waiting busily, and two that share the work wait for each other at up to twice the cost.
    """
    torch.get_num_threads()  # else a thread takes over, with its first product, what was set last in any
    torch.set_num_threads(1)


@contextmanager
def single_threaded() -> Iterator[None]:
    """Torch computes in the calling thread alone meanwhile, where others are busy with what it has handed to them.

    A thread that has helped with a product waits for the next one busily, for some milliseconds of a core that is wanted.
    """
    usual = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(usual)


def set_nice(niceness: int, thread: int = 0) -> None:
    """Lets every other thread go first, a visitor's slider above all: by default the calling one, which computes alone.

    `thread` is that of a process which has just begun: all that it starts is as modest. Linux only; a host that forbids it
    goes on without.
    """
    if not thread:
        one_thread()
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, thread or get_native_id(), niceness)


def pool(threads: int, name: str, prepare: Callable[[], object] = one_thread) -> ThreadPoolExecutor:
    """So many threads that stay, in each of which torch computes alone; a `prepare` of one's own has to see to that."""
    POOLS.add(name)
    return ThreadPoolExecutor(threads, name, prepare)


def parallel_for(call: Callable[[T], object], parts: Sequence[T]) -> None:
    """Calls with every part at once, each in a thread of its own in which torch computes alone.

    Where several threads share each product instead, every block of a long pass is written by one core and read by
    another, at up to 1.6 times the cost where these have no cache in common (docs/LOG.md). One part, or a caller whose
    torch operations are watched, has its own thread.
    """
    if len(parts) == 1 or _get_current_dispatch_mode() is not None:
        for part in parts:
            call(part)
        return
    inference, gradients = torch.is_inference_mode_enabled(), torch.is_grad_enabled()

    def there(part: T) -> None:
        with torch.inference_mode(inference), torch.set_grad_enabled(gradients and not inference):
            call(part)

    for _ in _helpers(len(parts)).map(there, parts):
        pass


@cache
def _helpers(threads: int) -> ThreadPoolExecutor:
    return started_pool(threads, "apart")


def started_pool(threads: int, name: str) -> ThreadPoolExecutor:
    """A pool all of whose threads have begun, while torch keeps its own for others: what they set holds for later ones too."""
    started, usual = Barrier(threads + 1), torch.get_num_threads()
    found = pool(threads, name)
    for _ in range(threads):
        found.submit(started.wait)
    started.wait()
    torch.set_num_threads(usual)
    return found
