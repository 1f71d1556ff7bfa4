"""One sweep of a visitor: the process that measures it, what that prints, and when it is ended.

A process is watched: it ends when it takes far longer than its budget, and when its visitor cancels or has left. The
budget starts when the process has its turn, as another program on this host may be measuring.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from attention.timing import recordings
from attention.timing.one_at_a_time import ITS_TURN, WAITING
from attention.timing.recordings import Timing
from attention.timing.sweep import Case, Sweep, flags

ROOT = Path(__file__).parents[2]
GONE = 120.0  # seconds after which a visitor who no longer looks has left: a hidden tab asks once a minute
GRACE = 60.0  # seconds over its budget after which a process is ended
WATCH = 0.5  # seconds between two looks at a process
LATE = "It was ended {:g} seconds after its time budget was up, as it did not end by itself."
MEMORY = "The system ended the measuring process; most likely its memory ran out."


@dataclass(eq=False)
class Job:
    """A sweep that a visitor asked for; `timings` fill as they come, by case, and stay when it is cancelled.

    `state`: waiting (for the sweeps of other visitors), held (for a program outside of this app that measures),
    measuring, done, cancelled, left (by its visitor) or failed; `cases`: how many there are, as far as is known;
    `said`: the last words of the process, where it failed.
    """

    sweep: Sweep
    state: str = "waiting"
    share: float = 0.0
    said: str = ""
    cases: int = 0
    timings: dict[Case, Timing] = field(default_factory=dict)
    seen: float = field(default_factory=monotonic)
    process: subprocess.Popen | None = None
    started: float = 0.0
    late: bool = False

    @property
    def open(self) -> bool:
        """Is there more to come?"""
        return self.state in ("waiting", "held", "measuring")

    @property
    def unbegun(self) -> int:
        """Cases for which there was no time."""
        return max(0, self.cases - len(self.timings))


def left(job: Job) -> bool:
    """Is the job over, be it as its visitor has not looked for a while?"""
    if job.open and monotonic() - job.seen > GONE:
        job.state = "left"
    return not job.open


def measured(job: Job) -> None:
    """Runs the command line for a job, and takes in what it prints."""
    command = [sys.executable, "-m", "attention.timing", "--lines", *flags(job.sweep)]
    quiet, pipe, joined = subprocess.DEVNULL, subprocess.PIPE, subprocess.STDOUT
    job.started = monotonic()
    with subprocess.Popen(command, cwd=ROOT, text=True, stdin=quiet, stdout=pipe, stderr=joined) as process:
        job.process = process
        _first_to_go(process.pid)
        threading.Thread(target=_watch, args=(job, process), daemon=True).start()
        for line in process.stdout or ():
            take_in(job, line)
    if job.open:
        job.state = "done" if process.returncode == 0 else "failed"
        job.said = _last_words(job, process.returncode)


def _watch(job: Job, process: subprocess.Popen) -> None:
    """Ends the process where its visitor has left or cancelled, or where it is late."""
    while process.poll() is None:
        if left(job):
            process.terminate()
        elif job.state == "measuring" and monotonic() - job.started > job.sweep.seconds + GRACE:
            job.late = True
            process.kill()
        try:
            process.wait(WATCH)
        except subprocess.TimeoutExpired:
            continue


def _last_words(job: Job, code: int) -> str:
    """Why a process ended, where that is not what it said itself."""
    if job.late:
        return LATE.format(GRACE)
    if code == -signal.SIGKILL:
        return MEMORY
    return f"The measuring process ended by the signal {signal.Signals(-code).name}." if code < 0 else job.said


def take_in(job: Job, line: str) -> None:
    """Takes in one line of what the process prints: a timing, that it waits, that it has its turn, or other words."""
    text = line.strip()
    if text == WAITING:
        _move(job, "measuring", "held")
    elif text == ITS_TURN:
        job.started = monotonic()
        _move(job, "held", "measuring")
    else:
        _take_timing(job, text)


def _move(job: Job, before: str, after: str) -> None:
    """From one state to the next, unless it was cancelled meanwhile."""
    if job.state == before:
        job.state = after


def _take_timing(job: Job, text: str) -> None:
    try:
        found = json.loads(text)
        timing = recordings.from_row(found["timing"])
        share, cases = (found["progress"][name] for name in ("share", "cases"))
    except (ValueError, KeyError, TypeError):
        job.said = text
        return
    job.timings = {**job.timings, timing.case: timing}  # a new dict: a reader may be half through the old one
    job.share, job.cases = share, cases


def _first_to_go(pid: int) -> None:
    """Where memory runs out, the system shall end the measuring and not the app."""
    try:
        Path(f"/proc/{pid}/oom_score_adj").write_text("1000")
    except OSError:
        return  # not on this system
