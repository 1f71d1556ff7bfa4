"""A sweep as a task: the process that measures it, what that prints, and when it is ended.

A process is watched: it ends when it takes far longer than its budget, and when its visitor cancels or has left. The
budget starts when the process has its turn, as another program on this host may be measuring.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from attention.runtime.threads import set_nice
from attention.serving.settings import environment
from attention.timing import devices, recordings
from attention.timing.one_at_a_time import ITS_TURN, WAITING, remove_lock
from attention.timing.recordings import Timing
from attention.timing.sweep import Case, Sweep, flags
from attention.ui.budget import BUDGET, refusal_sentence
from attention.ui.jobs.job import Job
from attention.ui.limits import NEEDED

if sys.platform == "linux":
    import resource

ROOT = Path(__file__).parents[3]
GRACE = 60.0  # seconds over its budget after which a process is ended
WATCH = 0.5  # seconds between two looks at a process
MODEST = 5  # niceness of a process: others' sliders go first, and what it times is the quickest of many calls
SHARE = 0.5  # of what nobody holds, where that is more
LATE = "It was ended {:g} seconds after its time budget was up, as it did not end by itself."
BEGINS = "It begins by itself as soon as there is room."
MEMORY = "The system ended the measuring process; most likely its memory ran out."


@dataclass(eq=False)
class TimingJob(Job):
    """A sweep that a visitor asked for; `timings` fill as they come, by case, and stay when it is cancelled.

    `held`: it has its turn, and waits for a program outside of this app that measures; `cases`: how many there are, as far
    as is known; `said`: the last words of the process, where it failed; `memory`: bytes that it may have; `lacks`: why its turn
    can't begin, empty where it can.

    There is no pause. Cases are visited in rounds, so that whatever else happens on a machine meets all alike; a process
    that stopped between two would go on in another hour of the machine, and its quartiles would hide that. Stopped in the
    middle of a call it would time its own sleep. And all the while no other program could measure on this host.
    """

    settings: Sweep
    held: bool = field(default=False, kw_only=True)
    cases: int = field(default=0, kw_only=True)
    memory: int = field(default=NEEDED, kw_only=True)
    timings: dict[Case, Timing] = field(default_factory=dict, kw_only=True)
    lacks: str = field(default="", init=False)
    process: subprocess.Popen | None = field(default=None, init=False)

    kind: ClassVar[str] = "sweep"
    history: ClassVar[int] = 16
    keep_s: ClassVar[float] = 3600.0
    shared: ClassVar[bool] = False  # who presses a button twice would measure twice
    one_each: ClassVar[bool] = False
    pauses: ClassVar[bool] = False
    leave_after_s: ClassVar[float] = 120.0  # a hidden tab asks once a minute
    about: ClassVar[str] = "at most"

    def run(self) -> None:
        """Runs the command line, and takes in what it prints."""
        try:
            with tempfile.TemporaryDirectory(prefix="attention-timing-", ignore_cleanup_errors=True) as compiled:
                self._measure(compiled)
        except OSError as error:
            self.end("failed", str(error))
        finally:
            remove_lock()  # a process that was ended leaves it

    def _measure(self, compiled: str) -> None:
        """The same; what its process compiles goes to a folder that is removed with it."""
        command = [sys.executable, "-m", "attention.timing", "--lines", *flags(self.settings)]
        quiet, pipe, joined = subprocess.DEVNULL, subprocess.PIPE, subprocess.STDOUT
        env = environment() | {"TORCHINDUCTOR_CACHE_DIR": compiled}
        with subprocess.Popen(
            command, cwd=ROOT, env=env, text=True, stdin=quiet, stdout=pipe, stderr=joined
        ) as process:
            self.process = process
            self.memory = max(self.memory, int(SHARE * (BUDGET.free_bytes + self.claim)))
            _first_to_go(process.pid)
            _limit_memory(process.pid, self.memory)
            set_nice(MODEST, process.pid)
            threading.Thread(target=_watch, args=(self, process), daemon=True).start()
            for line in process.stdout or ():
                take_in(self, line)
        if self.open:
            self.end("done" if process.returncode == 0 else "failed", _last_words(self, process.returncode))

    def fits(self, has_room: Callable[[int], bool]) -> bool:
        """Is there memory for its process, within the budget and on this machine? `lacks` says why not."""
        there = devices.free_bytes("cpu")
        if not has_room(NEEDED):
            self.lacks = refusal_sentence("Measuring", NEEDED, BUDGET.free_bytes, BEGINS)
        elif there is not None and there < NEEDED:
            sizes = f"needs {NEEDED / 2**20:,.0f} MiB of memory; this machine has {there / 2**20:,.0f} left"
            self.lacks = f"Measuring {sizes}. {BEGINS}"
        else:
            self.lacks = ""
        return not self.lacks

    def halt(self) -> None:
        """Ends its process: at once where it has not ended by itself for long, else with time to say goodbye."""
        if self.process is not None:
            self.process.kill() if self.state == "failed" else self.process.terminate()

    @property
    def overdue(self) -> str:
        """Said where it is far over its budget."""
        late = not self.held and self.running > self.settings.seconds + GRACE
        return LATE.format(GRACE) if late else ""

    @property
    def claim(self) -> int:
        """What its process may take; one that waits for its turn takes nothing yet."""
        return self.memory if self.state == "running" else 0

    @property
    def doing(self) -> str:
        """For whoever waits behind it."""
        return "a sweep waits for another program that measures" if self.held else "a sweep is being measured"

    @property
    def seconds_left(self) -> float | None:
        """Seconds of its budget, from its turn on."""
        return max(0.0, self.settings.seconds - self.running) if self.started is not None and not self.held else None

    @property
    def unbegun(self) -> int:
        """Cases for which there was no time."""
        return max(0, self.cases - len(self.timings))


def _watch(task: TimingJob, process: subprocess.Popen) -> None:
    """Ends the process where its visitor has left or cancelled, or where it is late."""
    while process.poll() is None:
        if task.stop():
            task.halt()
        try:
            process.wait(WATCH)
        except subprocess.TimeoutExpired:
            continue


def _last_words(task: TimingJob, code: int) -> str:
    """Why a process ended, where that is not what it said itself."""
    if code == -signal.SIGKILL:
        return MEMORY
    return f"The measuring process ended by the signal {signal.Signals(-code).name}." if code < 0 else task.said


def take_in(task: TimingJob, line: str) -> None:
    """Takes in one line of what the process prints: a timing, that it waits, that it has its turn, or other words."""
    text = line.strip()
    if text == WAITING:
        task.held = True
    elif text == ITS_TURN:
        task.in_earnest()
        task.held = False
    else:
        _take_timing(task, text)


def _take_timing(task: TimingJob, text: str) -> None:
    try:
        found = json.loads(text)
        timing = recordings.from_row(found["timing"])
        share, cases = (found["progress"][name] for name in ("share", "cases"))
    except (ValueError, KeyError, TypeError):
        task.said = text if task.open else task.said
        return
    task.timings = {**task.timings, timing.case: timing}  # a new dict: a reader may be half through the old one
    task.cases = cases
    task.progress(share)


def _first_to_go(pid: int) -> None:
    """Where memory runs out, the system shall end the measuring and not the app."""
    try:
        Path(f"/proc/{pid}/oom_score_adj").write_text("1000")
    except OSError:
        return  # not on this system


def _limit_memory(pid: int, size: int) -> None:
    """What it asks for beyond so many bytes it does not get: a case that needs more says so. Linux only."""
    if sys.platform == "linux":
        with suppress(OSError):  # it has ended
            resource.prlimit(pid, resource.RLIMIT_DATA, (size, size))
