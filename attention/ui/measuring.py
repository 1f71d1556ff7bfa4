"""Measuring for visitors: one sweep at a time on this host, in a process of its own.

A process of its own has the threads that it states, memory that nobody else moves, and can be ended in the middle of a
call; the app's own threads and its other visitors are left alone. Who comes while another one measures waits in line.

What the owner of a host allows is in `limits.py`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from attention import devices, recordings
from attention.recordings import Timing
from attention.sweep import Case, Sweep, flags
from attention.ui.limits import bounded, limits

ROOT = Path(__file__).parents[2]
LINE = 8  # sweeps that may wait
GONE = 20.0  # seconds after which a visitor who no longer looks is taken to have left
NEEDED = 700 * 2**20  # bytes that a process with torch and small tensors takes, with room for everyone else
GRACE = 60.0  # seconds over its budget after which a process is ended


@dataclass(eq=False)
class Job:
    """A sweep that a visitor asked for; `timings` fill as they come, by case, and stay when it is cancelled.

    `state`: waiting, measuring, done, cancelled or failed; `said`: the last words of the process, where it failed.
    """

    sweep: Sweep
    state: str = "waiting"
    share: float = 0.0
    said: str = ""
    timings: dict[Case, Timing] = field(default_factory=dict)
    seen: float = field(default_factory=monotonic)
    process: subprocess.Popen | None = None

    @property
    def open(self) -> bool:
        """Is there more to come?"""
        return self.state in ("waiting", "measuring")


class Desk:
    """Takes sweeps and measures them one after the other."""

    def __init__(self) -> None:
        self.lock, self.waiting, self.running = threading.Lock(), deque[Job](), None

    def submit(self, sweep: Sweep) -> Job:
        """Puts a sweep at the end of the line, its budget cut to what the host allows."""
        job = Job(bounded(sweep)[0])
        with self.lock:
            self.waiting = deque(other for other in self.waiting if not _left(other))
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
                job.state = "measuring"
            try:
                _measured(job)
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


def _left(job: Job) -> bool:
    """Has the visitor not looked for a while? Then the job counts as cancelled."""
    if monotonic() - job.seen > GONE:
        job.state = "cancelled"
    return not job.open


def _measured(job: Job) -> None:
    """Runs the command line for a job, and takes in what it prints."""
    command = [sys.executable, "-m", "attention.timing", "--lines", *flags(job.sweep)]
    quiet, pipe, joined = subprocess.DEVNULL, subprocess.PIPE, subprocess.STDOUT
    with subprocess.Popen(command, cwd=ROOT, text=True, stdin=quiet, stdout=pipe, stderr=joined) as process:
        job.process = process
        _first_to_go(process.pid)
        end = threading.Timer(job.sweep.seconds + GRACE, process.kill)
        end.start()
        for line in process.stdout or ():
            _take_in(job, line)
            if not job.open or _left(job):
                process.terminate()
        end.cancel()
    if job.state == "measuring":
        job.state = "done" if process.returncode == 0 else "failed"
        if process.returncode and process.returncode < 0:
            job.said = "The system ended the measuring process; most likely its memory ran out."


def _take_in(job: Job, line: str) -> None:
    try:
        found = json.loads(line)
        timing = recordings.from_row(found["timing"])
    except (ValueError, KeyError, TypeError):
        job.said = line.strip()
        return
    job.timings = {**job.timings, timing.case: timing}  # a new dict: a reader may be half through the old one
    job.share = found["progress"]["share"]


def _first_to_go(pid: int) -> None:
    """Where memory runs out, the system shall end the measuring and not the app."""
    try:
        Path(f"/proc/{pid}/oom_score_adj").write_text("1000")
    except OSError:
        return  # not on this system
