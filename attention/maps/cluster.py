"""More than one machine: an executor for maps on a Dask cluster, where an owner names its scheduler.

An executor at `tcp://host:8786` sends the blocks of rows there; docs/CLUSTER.md says when that pays. A lost worker's
blocks are done again by the scheduler. A lost scheduler, or one that does not answer, leaves the rest to this machine.
Dask is optional: requirements-dask.txt.
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

from attention.maps.pooling import Job, Pooled, pool_rows

PATIENCE = 5.0  # seconds that a scheduler may take to answer
RETRIES = 3  # how often a block is done again whose worker was lost
UNDER_WAY = 32  # jobs that are on the cluster at once
LOOK = 0.5  # seconds between two looks at whether the scheduler is still there
PAUSES = (0.1, 0.5, 2.0)  # seconds before a lost block is sent again: the scheduler learns late that a worker is gone
LOST = (CancelledError, OSError, TimeoutError)  # how a lost scheduler shows
log = logging.getLogger(__name__)


def executor(address: str, notice: Callable[[str], object] = log.warning) -> Executor | None:
    """An executor on the cluster whose scheduler is at this address; None where there is no address.

    `notice` is told once, in a sentence, when the cluster could not be reached or was lost and this machine goes on.
    Raises ModuleNotFoundError where an address is given and Dask is not installed.
    """
    return Cluster(address, notice) if address else None


class Cluster(Executor):
    """Runs the jobs of maps on a Dask cluster, and here what the cluster has lost.

    A thread waits for each job that is under way, so that whatever becomes of the connection, each job ends.
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
        """Runs a function there or, when the cluster is lost, here."""
        return self.waiting.submit(self._run, fn, args, kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leaves the cluster, which goes on without us."""
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
            except LOST as error:  # with a worker went what it had of the keys, or with the scheduler everything
                self._again(keys)
                if pause is None or self.client.status != "running":
                    self._lose(f"was lost ({type(error).__name__})")
                else:
                    time.sleep(pause)
        with self.here:  # torch itself uses every core of this machine
            return fn(*args, **kwargs)

    def _submit_call(self, fn: Callable[..., Any], args: tuple, kwargs: dict) -> Any:
        """A call on its way; the keys of a head are sent once, not with each of its jobs.

        Raises ConnectionError, where the client has one of many errors of its own.
        """
        try:
            if fn is not pool_rows:
                return self.client.submit(fn, *args, pure=False, retries=RETRIES, **kwargs)
            job: Job = args[0]
            with self.sending:
                if self.sent is None or self.sent[0] is not job.key:
                    self.sent = job.key, self.client.scatter(job.key.clone(), hash=False)
                key = self.sent[1]
            light = replace(job, key=job.key[:0].clone(), query=job.query.clone())
            return self.client.submit(_with_key, light, key, pure=False, retries=RETRIES)
        except Exception as error:
            raise ConnectionError(f"nothing can be sent to {self.address}: {error}") from error

    def _again(self, keys: tuple[Tensor, Any] | None) -> None:
        """Keys that did not arrive are sent anew with the next job."""
        with self.sending:
            if self.sent is keys:
                self.sent = None

    def _result(self, there: Any) -> Any:
        """Waits for a result; raises ConnectionError when nobody is left to send it.

        Only the waiting has a time limit: the client fetches for all threads at once, and a limit that ran out in one of
        them would end what the others wait for.
        """
        ended = Event()
        try:
            there.add_done_callback(lambda _: ended.set())
            while not ended.wait(LOOK):
                if self.client.status != "running":
                    raise ConnectionError(f"no connection to {self.address}")
            return there.result()
        except Exception as error:
            if there.status == "error" or isinstance(error, LOST):  # the job's own, or known
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


def _with_key(job: Job, key: Tensor) -> Pooled:
    return pool_rows(replace(job, key=key))
