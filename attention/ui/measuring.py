"""Measuring for visitors: one sweep at a time on this host, in a process of its own.

A process of its own has the threads that it states, memory that nobody else moves, and can be ended in the middle of a
call; the app's own threads and its other visitors are left alone. Who comes while another one measures waits in line.

A visitor's sweep and its process are in `job.py`, what the owner of a host allows in `limits.py`.
"""

from __future__ import annotations

import threading
from collections import deque
from time import monotonic

from attention.timing import devices
from attention.timing.sweep import Sweep
from attention.ui.job import Job, left, measured
from attention.ui.limits import bounded, limits

__all__ = ["DESK", "Desk", "Job"]


LINE = 8  # sweeps that may wait
NEEDED = 700 * 2**20  # bytes that a process with torch and small tensors takes, with room for everyone else


class Desk:
    """Takes sweeps and measures them one after the other."""

    def __init__(self) -> None:
        self.lock, self.waiting, self.running = threading.Lock(), deque[Job](), None
        self.current: Job | None = None

    def submit(self, sweep: Sweep) -> Job:
        """Puts a sweep at the end of the line, its budget cut to what the host allows."""
        job = Job(bounded(sweep)[0])
        with self.lock:
            self.waiting = deque(other for other in self.waiting if not left(other))
            job.said = _refusal(len(self.waiting))
            if job.said:
                job.state = "failed"
                return job
            self.waiting.append(job)
            if self.running is None:
                self.running = threading.Thread(target=self._work, daemon=True)
                self.running.start()
        return job

    def before(self, job: Job) -> int:
        """How many are measured before this one."""
        job.seen = monotonic()
        with self.lock:
            return self.waiting.index(job) + 1 if job in self.waiting else 0

    @property
    def held(self) -> bool:
        """Does the sweep that would be measured now wait for a program outside of this app?"""
        return self.current is not None and self.current.state == "held"

    def cancel(self, job: Job) -> None:
        """Ends a job; what was measured stays."""
        with self.lock:
            if job in self.waiting:
                self.waiting.remove(job)
            if job.open:
                job.state = "cancelled"
        if job.process is not None:
            job.process.terminate()

    def _work(self) -> None:
        while True:
            with self.lock:
                if not self.waiting:
                    self.running = None
                    return
                job = self.waiting.popleft()
                if left(job):
                    continue
                job.state, self.current = "measuring", job
            try:
                measured(job)
            except OSError as error:
                job.state, job.said = "failed", str(error)


DESK = Desk()


def _refusal(waiting: int) -> str:
    """Why nothing more is taken at the moment; empty where it is."""
    if not limits().measure:
        return limits().why
    free = devices.free_bytes("cpu")
    if free is not None and free < NEEDED:
        return (
            f"This host has {free / 2**20:,.0f} MiB of memory left; measuring needs {NEEDED / 2**20:,.0f}. Try later."
        )
    return "Too many are waiting; try again in a few minutes." if waiting >= LINE else ""
