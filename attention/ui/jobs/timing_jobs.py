"""Measuring for visitors: one sweep at a time on this host, in a process of its own.

A process of its own has the threads that it states, memory that nobody else moves, and can be ended in the middle of a
call; the app's own threads and its other visitors are left alone. Who comes while another one measures waits in line,
and so does a sweep while a map is drawn: the two would take each other's time.
What was measured stays for a while: a page that is opened again shows it.

A visitor's sweep and its process are in `process.py`, what the owner of a host allows in `attention/ui/limits.py`.
"""

from __future__ import annotations

from attention.timing.sweep import Sweep
from attention.ui.jobs.job_queue import JOBS, JobQueue
from attention.ui.jobs.timing_process import TimingJob
from attention.ui.limits import limit_budget, limits

LINE = 8  # sweeps that may wait


class TimingJobs:
    """Takes sweeps and measures them one after the other, in line with whatever else waits there."""

    def __init__(self, line: JobQueue | None = None) -> None:
        self.line = line or JobQueue(1)

    def submit(self, sweep: Sweep, visitor: str) -> TimingJob:
        """Puts a sweep at the end of the line, its budget cut to what the host allows."""
        sweep = limit_budget(sweep)[0]
        with self.line.lock:
            refusal = _refusal(self.line.waiting(TimingJob))
            if not refusal:
                return self.line.request(TimingJob, sweep, visitor)
        return TimingJob(sweep, "failed", said=refusal)

    def last_measurement(self, sweep: Sweep) -> TimingJob | None:
        """What was last measured of a sweep, be it by somebody else or before a page was opened again."""
        return self.line.find(TimingJob, limit_budget(sweep)[0], lambda task: not task.open and bool(task.timings))

    @property
    def is_blocked(self) -> bool:
        """Does the sweep that would be measured now wait for a program outside of this app?"""
        return any(isinstance(task, TimingJob) and task.held for task in [*self.line.busy])


TIMING_JOBS = TimingJobs(JOBS)


def _refusal(waiting: int) -> str:
    """Why nothing more is taken at the moment; empty where it is."""
    if not limits().measure:
        return limits().why
    return "Too many are waiting; try again in a few minutes." if waiting >= LINE else ""
