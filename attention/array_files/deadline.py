"""A limit on the processor time of reading one file, so that no file keeps the files of others waiting."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf

from attention.array_files.limits import DataError

SECONDS = 10.0  # of the reading thread; the largest file that is accepted takes 4 on two cores (docs/HOSTING.md)
_until: ContextVar[float] = ContextVar("until", default=inf)


@contextmanager
def limited(seconds: float = SECONDS) -> Iterator[None]:
    """Reading within the block may take at most this much processor time of this thread."""
    token = _until.set(time.thread_time() + seconds)
    try:
        yield
    finally:
        _until.reset(token)


def check_deadline() -> None:
    """Raises DataError if the time is over. Readers call it for every array, layer and piece."""
    if time.thread_time() > _until.get():
        raise DataError("Reading it takes longer than files may here. Save fewer layers, heads or tokens.")
