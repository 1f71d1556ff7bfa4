"""Runs maps on several machines: an executor for a Dask cluster, if the server's owner names its scheduler.

An executor at `tcp://host:8786` sends the blocks of rows there; docs/CLUSTER.md says when that pays. The scheduler
repeats the blocks of a lost worker. If the scheduler is lost or does not answer, this machine computes the rest. Dask
is optional: requirements-dask.txt.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from threading import Event, Lock
from typing import Any

from torch import Tensor

from attention.maps.pooling import Pooled, RowJob, pool_rows

PATIENCE = 5.0  # timeout in seconds of the connection to a scheduler
RETRIES = 3  # how often a block is repeated if its worker is lost
UNDER_WAY = 32  # jobs that are on the cluster at once
LOOK = 0.5  # seconds between checks that the scheduler is still connected
PAUSES = (0.1, 0.5, 2.0)  # seconds before a lost block is sent again: the scheduler notices late that a worker is gone
LOST = (CancelledError, OSError, TimeoutError)  # errors that a lost scheduler raises
log = logging.getLogger(__name__)


def executor(address: str, notice: Callable[[str], object] = log.warning) -> Executor | None:
    """An executor on the cluster whose scheduler has this address; None if the address is empty.

    `notice` is called once, with a sentence, if the cluster can't be reached or is lost and this machine goes on.
    Raises ModuleNotFoundError if an address is given and Dask is not installed.
    """
    return Cluster(address, notice) if address else None


class Cluster(Executor):
    """Runs the jobs of maps on a Dask cluster, and runs here what the cluster has lost.

    One thread waits for each job that is under way, so that each job ends even if the connection is lost.
    """

    def __init__(self, address: str, notice: Callable[[str], object]) -> None:
        self.address, self.notice, self.lost = address, notice, False
        self.waiting, self.here, self.sending = ThreadPoolExecutor(UNDER_WAY, "cluster"), Lock(), Lock()
        self.sent: tuple[Tensor, Any] | None = None
        try:
            self.client = _client(address)
        except LOST as error:
            self._lose(f"does not answer ({type(error).__name__})")

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        """Runs a function on the cluster or, if the cluster is lost, here."""
        return self.waiting.submit(self._run, fn, args, kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Disconnects from the cluster, which keeps running."""
        self.waiting.shutdown(wait, cancel_futures=cancel_futures)
        if not self.lost:
            self.client.close()

    def _run(self, fn: Callable[..., Any], args: tuple, kwargs: dict) -> Any:
        for pause in (*PAUSES, None):
            if self.lost:
                break
            keys = self.sent
            try:
                return self._result(self._submit_call(fn, args, kwargs))
            except LOST as error:  # a lost worker takes its copy of the keys along, a lost scheduler everything
                self._again(keys)
                if pause is None or self.client.status != "running":
                    self._lose(f"was lost ({type(error).__name__})")
                else:
                    time.sleep(pause)
        with self.here:  # one at a time: torch itself uses every core of this machine
            return fn(*args, **kwargs)

    def _submit_call(self, fn: Callable[..., Any], args: tuple, kwargs: dict) -> Any:
        """Submits a call; the keys of a head are sent once, not with each of its jobs.

        Raises ConnectionError for the many errors of the client.
        """
        try:
            if fn is not pool_rows:
                return self.client.submit(fn, *args, pure=False, retries=RETRIES, **kwargs)
            job: RowJob = args[0]
            with self.sending:
                if self.sent is None or self.sent[0] is not job.key:
                    self.sent = job.key, self.client.scatter(job.key.clone(), hash=False)
                key = self.sent[1]
            light = replace(job, key=job.key[:0].clone(), query=job.query.clone())
            return self.client.submit(_with_key, light, key, pure=False, retries=RETRIES)
        except Exception as error:
            raise ConnectionError(f"nothing can be sent to {self.address}: {error}") from error

    def _again(self, keys: tuple[Tensor, Any] | None) -> None:
        """Marks keys that did not arrive, so that the next job sends them again."""
        with self.sending:
            if self.sent is keys:
                self.sent = None

    def _result(self, there: Any) -> Any:
        """Waits for a result; raises ConnectionError if the connection is lost.

        Only the waiting has a time limit: the client fetches results for all threads at once, and a time limit that
        expires in one of them would end what the others wait for.
        """
        ended = Event()
        try:
            there.add_done_callback(lambda _: ended.set())
            while not ended.wait(LOOK):
                if self.client.status != "running":
                    raise ConnectionError(f"no connection to {self.address}")
            return there.result()
        except Exception as error:
            if there.status == "error" or isinstance(error, LOST):  # the job's own error, or a known one
                raise
            raise ConnectionError(f"no result from {self.address}: {error}") from error

    def _lose(self, how: str) -> None:
        with self.sending:
            first, self.lost = not self.lost, True
        if first:
            self.notice(f"The cluster at {self.address} {how}; this machine goes on alone.")


def _client(address: str) -> Any:
    import distributed  # optional, and slow to import

    return distributed.Client(address, timeout=PATIENCE, set_as_default=False)


def _with_key(job: RowJob, key: Tensor) -> Pooled:
    return pool_rows(replace(job, key=key))
