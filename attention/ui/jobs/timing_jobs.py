"""Timings for visitors: one sweep at a time on this host, in a separate process.

A separate process has the number of threads that it reports and memory that no other code touches, can be ended in the
middle of a call, and leaves the app's threads and other visitors alone. Sweeps wait in the queue for each other and for
other jobs, as these would slow each other down. Results are kept for a while: a page that is opened again shows them.

A visitor's sweep and its process are in `timing_process`, what the owner of a host allows in `attention/ui/limits.py`.
"""

from __future__ import annotations

from attention.timing.sweep import Sweep
from attention.ui.jobs.job_queue import JOBS, JobQueue
from attention.ui.jobs.timing_process import TimingJob
from attention.ui.limits import limit_budget, limits
from attention.ui.text import jobs as words

LINE = 8  # sweeps that may wait


class TimingJobs:
    """Measures sweeps one after the other, in one queue with other jobs."""

    def __init__(self, line: JobQueue | None = None) -> None:
        self.line = line or JobQueue(1)

    def submit(self, sweep: Sweep, visitor: str) -> TimingJob:
        """Adds a sweep to the end of the queue, with its time budget cut to what the host allows."""
        sweep = limit_budget(sweep)[0]
        with self.line.lock:
            refusal = _refusal(self.line.waiting(TimingJob))
            if not refusal:
                return self.line.request(TimingJob, sweep, visitor)
        return TimingJob(sweep, "failed", said=refusal)

    def last_measurement(self, sweep: Sweep) -> TimingJob | None:
        """The last ended job of a sweep that was steady, also by another visitor or from before the page was reopened."""
        return self.line.find(TimingJob, limit_budget(sweep)[0], lambda task: not task.open and task.is_steady)

    @property
    def is_blocked(self) -> bool:
        """Whether the sweep whose turn it is waits for a program outside of this app."""
        return any(isinstance(task, TimingJob) and task.held for task in [*self.line.busy])


TIMING_JOBS = TimingJobs(JOBS)


def _refusal(waiting: int) -> str:
    """Why no more sweeps are accepted at the moment; empty if they are."""
    if not limits().measure:
        return limits().why
    return words.MANY_MEASUREMENTS if waiting >= LINE else ""
