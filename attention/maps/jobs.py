"""Runs the jobs of a map in order, on threads or machines, with progress and cancellation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, wait
from itertools import islice
from typing import TypeVar

J = TypeVar("J")
R = TypeVar("R")
PATIENCE = 0.1  # seconds between two checks whether to stop


class Cancelled(Exception):  # noqa: N818 (as in asyncio and concurrent.futures, it is no error)
    """The work was stopped on request; nothing of it is kept.

    >>> q = torch.rand(1, 8, 4)
    >>> attention.head_maps(q, q, cancelled=lambda: True)
    Traceback (most recent call last):
        ...
    attention.maps.jobs.Cancelled: The maps were cancelled; nothing was kept.
    """


def results(
    jobs: Iterable[J],
    together: Iterable[int],
    executor: Executor | None,
    cancelled: Callable[[], bool] | None,
    run: Callable[[J], R],
) -> Iterator[R]:
    """Yields the results of `run` in the order of the jobs; if one fails or is cancelled, jobs not yet started are dropped.

    `together`: how many results are of use at once, for one head after another. The waiting thread is woken when
    these are done, and every PATIENCE seconds, but not by each result, since it competes for the interpreter's lock
    and a core.
    """
    if executor is None:
        for job in jobs:
            _stop(cancelled)
            yield run(job)
        return
    futures = [executor.submit(run, job) for job in jobs]
    try:
        rest = iter(futures)
        for count in together:
            waiting = list(islice(rest, count))
            while waiting:
                wait(waiting, PATIENCE)
                while waiting and waiting[0].done():
                    _stop(cancelled)
                    yield waiting.pop(0).result()
                _stop(cancelled)
    finally:
        for future in futures:
            future.cancel()


def _stop(cancelled: Callable[[], bool] | None) -> None:
    if cancelled is not None and cancelled():
        raise Cancelled("The maps were cancelled; nothing was kept.")


def report_progress(
    results: Iterator[R], total: int, progress: Callable[[float], object] | None, before: int = 0
) -> Iterator[R]:
    """Yields the same results and calls `progress` with the fraction done, where `before` jobs were done earlier."""
    for done, result in enumerate(results, before + 1):
        if progress is not None:
            progress(done / total)
        yield result
