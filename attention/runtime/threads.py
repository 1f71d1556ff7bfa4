"""Threads in which torch computes single-threaded."""

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
POOLS: set[str] = set()  # names of all pools: their threads have these names and a number
QUOTA = Path("/sys/fs/cgroup/cpu.max")  # microseconds of processor time per period, or "max", and the period


def cores() -> int:
    """Returns the number of cores that this process may use, by its affinity and the quota of its control group."""
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = QUOTA.read_text().split() if QUOTA.is_file() else []
    if len(quota) == 2 and quota[0].isdigit():
        found = min(found, max(1, round(int(quota[0]) / int(quota[1]))))
    return found


def one_thread() -> None:
    """Makes torch compute single-threaded in the calling thread, from now on.

    The libraries below it have this setting per thread: the first product in a new thread starts a second one, which
    takes 10 ms of busy waiting, and two threads that share the work wait for each other at up to twice the cost.
    """
    torch.get_num_threads()  # else the first product in a thread applies what was last set in any thread
    torch.set_num_threads(1)


@contextmanager
def single_threaded() -> Iterator[None]:
    """Makes torch compute single-threaded in the block, while other threads are busy with its work.

    A thread that has helped with a product waits busily for the next one, for some milliseconds of a core that is
    needed.
    """
    usual = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(usual)


def set_nice(niceness: int, thread: int = 0) -> None:
    """Lowers the priority of the calling thread, which then computes single-threaded: a visitor's slider goes first.

    `thread` may be that of a process which has just started, whose later threads inherit the niceness. Linux only;
    without effect if the host forbids it.
    """
    if not thread:
        one_thread()
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, thread or get_native_id(), niceness)


def pool(threads: int, name: str, prepare: Callable[[], object] = one_thread) -> ThreadPoolExecutor:
    """Returns a pool of `threads` threads in which torch computes single-threaded; another `prepare` has to ensure that."""
    POOLS.add(name)
    return ThreadPoolExecutor(threads, name, prepare)


def parallel_for(call: Callable[[T], object], parts: Sequence[T]) -> None:
    """Calls `call` with every part at once, each in a thread of its own in which torch computes single-threaded.

    If several threads share each product instead, every block of a long pass is written by one core and read by
    another, at up to 1.6 times the cost if these have no cache in common (docs/LOG.md). One part, or parts of a caller
    in a dispatch mode, are computed in the calling thread.
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
    """Returns a pool whose threads have all started, and restores torch's thread setting, which later threads would inherit."""
    started, usual = Barrier(threads + 1), torch.get_num_threads()
    found = pool(threads, name)
    for _ in range(threads):
        found.submit(started.wait)
    started.wait()
    torch.set_num_threads(usual)
    return found
