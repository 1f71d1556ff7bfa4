"""Allows one measurement at a time, because two concurrent measurements would slow each other down."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

ONE_AT_A_TIME = threading.Lock()
WAITING = "Waiting: another measurement is running on this machine."
ITS_TURN = "The other measurement has ended; this one starts."


@contextlib.contextmanager
def turn(on_wait: Callable[[], None], on_turn: Callable[[], None]) -> Iterator[None]:
    """Waits until no other sweep runs, in this process or in any other process of this user on this machine.

    If another sweep is being measured, `on_wait` is called once before the wait and `on_turn` once after it.
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
    """Removes the lock file that a killed process left behind; a file that a measuring process holds is kept."""
    with contextlib.suppress(_InUseError), _machine(_in_use):
        pass


class _InUseError(Exception):
    """Raised if another process holds the lock."""


def _in_use() -> None:
    raise _InUseError


@contextlib.contextmanager
def _machine(on_wait: Callable[[], None]) -> Iterator[None]:
    """Keeps other processes of this user from measuring; has no effect if the lock file cannot be created.

    The file is removed at the end. A process that waited for it then holds a deleted file, and locks the next one.
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
        except (ImportError, OSError):  # not a Unix system, or the disk is full or read-only
            yield
            return
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _lock(path: Path) -> int:
    """Opens the lock file that all processes of this user share; a symbolic link of that name is never followed."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
