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


def remove_lock() -> None:
    """Removes the lock file of a process that was killed; it stays where a process that measures holds it."""
    with contextlib.suppress(_InUseError), _machine(_in_use):
        pass


class _InUseError(Exception):
    """Another process holds the lock."""


def _in_use() -> None:
    raise _InUseError


@contextlib.contextmanager
def _machine(on_wait: Callable[[], None]) -> Iterator[None]:
    """Keeps other processes of this user from measuring; where no lock file can be made, it goes on without.

    The file is removed at the end. A process that had waited for it then holds a file that is gone, and locks the next one.
    """
    with contextlib.ExitStack() as stack:
        try:
            import fcntl

            path = Path(tempfile.gettempdir()) / f"attention-timing-{os.getuid()}.lock"
            while True:
                file = stack.enter_context(open(_lock(path), closefd=True))
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    on_wait()
                    fcntl.flock(file, fcntl.LOCK_EX)
                if path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat()):
                    break
        except (ImportError, OSError):  # not a Unix; a disk that is full or can't be written to
            yield
            return
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _lock(path: Path) -> int:
    """An open file that all processes of this user know; never one that somebody else's link of its name leads to."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
