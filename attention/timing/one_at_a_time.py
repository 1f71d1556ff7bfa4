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
    try:
        import fcntl
    except ImportError:  # not a Unix: other processes are not kept from measuring
        yield
        return
    with open(Path(tempfile.gettempdir()) / f"attention-timing-{os.getuid()}.lock", "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            on_wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
