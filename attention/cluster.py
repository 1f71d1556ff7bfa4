"""More than one machine: an executor for maps on a Dask cluster, where an owner names its scheduler.

`ATTENTION_DASK=tcp://host:8786` sends the blocks of rows there; docs/CLUSTER.md says when that pays. A lost worker's
blocks are done again by the scheduler. A lost scheduler, or one that does not answer, leaves the rest to this machine.
Dask is optional: requirements-dask.txt.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from torch import Tensor

from attention.pooling import Job, Pooled, pooled

ADDRESS = "ATTENTION_DASK"  # the environment variable with the scheduler's address
PATIENCE = 5.0  # seconds that a scheduler may take to answer
RETRIES = 3  # how often a block is done again whose worker was lost
LOST = (CancelledError, OSError, TimeoutError)  # how a lost scheduler shows
log = logging.getLogger(__name__)


def executor(address: str | None = None, notice: Callable[[str], object] = log.warning) -> Executor | None:
    """An executor on the cluster at this address, or at that of `ATTENTION_DASK`; None where neither names one.

    `notice` is told once, in a sentence, when the cluster could not be reached or was lost and this machine goes on.
    Raises ModuleNotFoundError where an address is given and Dask is not installed.
    """
    address = address or os.environ.get(ADDRESS)
    return Cluster(address, notice) if address else None


class Cluster(Executor):
    """Runs the jobs of maps on a Dask cluster, and here what the cluster has lost."""

    def __init__(self, address: str, notice: Callable[[str], object]) -> None:
        self.address, self.notice, self.lost = address, notice, False
        self.here = ThreadPoolExecutor(1, "maps")  # torch itself uses every core of this machine
        self.sent: tuple[Tensor, Any] | None = None
        try:
            self.client = _client(address)
        except LOST as error:
            self._lose(f"does not answer ({type(error).__name__})")

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        """Runs a function of a job there or, when the cluster is lost, here."""
        result: Future = Future()
        if self.lost:
            return self.here.submit(fn, *args, **kwargs)
        try:
            there = self._there(fn, args, kwargs)
        except LOST as error:
            self._lose(f"was lost ({type(error).__name__})")
            return self.here.submit(fn, *args, **kwargs)
        there.add_done_callback(lambda done: self._settle(result, done, fn, args, kwargs))
        result.add_done_callback(lambda done: there.cancel() if done.cancelled() else None)
        return result

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leaves the cluster, which goes on without us."""
        if not self.lost:
            self.client.close()
        self.here.shutdown(wait, cancel_futures=cancel_futures)

    def _there(self, fn: Callable[..., Any], args: tuple, kwargs: dict) -> Future:
        """The future of a call on the cluster; the keys of a head are sent there once, not with each of its jobs."""
        submit = self.client.get_executor(retries=RETRIES, pure=False).submit
        if fn is not pooled or not isinstance(args[0], Job):
            return submit(fn, *args, **kwargs)
        job = args[0]
        if self.sent is None or self.sent[0] is not job.key:
            self.sent = job.key, self.client.scatter(job.key.clone(), hash=False)
        light = replace(job, key=job.key[:0].clone(), query=job.query.clone())
        return submit(_with_key, light, self.sent[1])

    def _settle(self, result: Future, done: Future, fn: Callable[..., Any], args: tuple, kwargs: dict) -> None:
        """Hands a result on, or has the work done here where the cluster was lost."""
        if result.cancelled():
            return
        error = CancelledError() if done.cancelled() else done.exception()
        if not isinstance(error, LOST):
            _copy(result, done)
            return
        self._lose(f"was lost ({type(error).__name__})")
        self.here.submit(fn, *args, **kwargs).add_done_callback(lambda again: _copy(result, again))

    def _lose(self, how: str) -> None:
        if not self.lost:
            self.lost = True
            self.notice(f"The cluster at {self.address} {how}; this machine goes on alone.")


def _client(address: str) -> Any:
    import distributed  # optional, and slow to import

    return distributed.Client(address, timeout=PATIENCE, set_as_default=False)


def _with_key(job: Job, key: Tensor) -> Pooled:
    return pooled(replace(job, key=key))


def _copy(result: Future, done: Future) -> None:
    """Settles a future as another is settled, unless nobody waits for it any more."""
    if not result.set_running_or_notify_cancel() or done.cancelled():
        return
    error = done.exception()
    result.set_exception(error) if error else result.set_result(done.result())
