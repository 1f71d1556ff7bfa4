"""One measurement at a time: two that run at once would measure each other."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

ONE_AT_A_TIME = threading.Lock()
WAITING = "Waiting: another sweep is being measured on this machine."
ITS_TURN = "The other sweep has ended; this one is being measured."


@contextlib.contextmanager
def turn(on_wait: Callable[[], None], on_turn: Callable[[], None]) -> Iterator[None]:
    """One sweep at a time, in this process and among those of this user on this machine.

    Where another one is being measured, `on_wait` is called once before the wait and `on_turn` once after it.
    """
    waits: list[bool] = []

    def wait() -> None:
        if not waits:
            waits.append(True)
            on_wait()

    if not ONE_AT_A_TIME.acquire(blocking=False):
        wait()
        ONE_AT_A_TIME.acquire()
    try:
        with _machine(wait):
            if waits:
                on_turn()
            yield
    finally:
        ONE_AT_A_TIME.release()


@contextlib.contextmanager
def _machine(on_wait: Callable[[], None]) -> Iterator[None]:
    """Keeps other processes of this user from measuring; where there is nowhere to say so, it goes on without."""
    with contextlib.ExitStack() as stack:
        try:
            import fcntl

            file = stack.enter_context(open(_lock(), closefd=True))
        except (ImportError, OSError):  # not a Unix; a disk that is full or can't be written to
            yield
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            on_wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _lock() -> int:
    """An open file that all processes of this user know; never one that somebody else's link of its name leads to."""
    path = Path(tempfile.gettempdir()) / f"attention-timing-{os.getuid()}.lock"
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
