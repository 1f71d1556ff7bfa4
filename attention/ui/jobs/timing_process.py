"""A sweep as a job: the process that measures it, the output of that process, and when it is ended.

The process is ended if it takes far longer than its time budget, or if its visitor cancels or has left. The budget starts
when the process has its turn, as another program on this host may be measuring.
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
from attention.timing.implementations import IMPLEMENTATIONS
from attention.timing.one_at_a_time import ITS_TURN, WAITING, remove_lock
from attention.timing.recordings import Timing
from attention.timing.sweep import Case, Sweep, flags
from attention.ui.budget import BUDGET, refusal_sentence
from attention.ui.jobs.job import Job
from attention.ui.limits import NEEDED
from attention.ui.text import jobs as words

if sys.platform == "linux":
    import resource

ROOT = Path(__file__).parents[3]
GRACE = 60.0  # seconds beyond its budget after which a process is ended
WATCH = 0.5  # seconds between two checks of a process
MODEST = 5  # niceness of a process: other visitors' sliders go first, and a timing is the fastest of many calls
SHARE = 0.5  # of the free memory, which a process may have if that is more than NEEDED


@dataclass(eq=False)
class TimingJob(Job):
    """A sweep that a visitor requested; `timings` (by case) are added as they are measured, and stay if it is cancelled.

    `held`: it has its turn, and waits for a program outside of this app that measures; `cases`: their number, as far as it is
    known; `said`: the last output of the process, if it failed; `memory`: bytes that it may have; `lacks`: why its turn can't
    begin, empty if it can.

    There is no pause. Cases are measured in rounds, so that disturbances on the machine affect all of them alike. A process
    that stopped between two rounds would continue under other conditions, and its quartiles would hide that. If it stopped
    in the middle of a call, it would time its own sleep. Meanwhile, no other program could measure on this host.
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
    shared: ClassVar[bool] = False  # a visitor who presses the button twice measures twice
    one_each: ClassVar[bool] = False
    pauses: ClassVar[bool] = False
    leave_after_s: ClassVar[float] = 120.0  # a hidden tab asks once per minute
    about: ClassVar[str] = "at most"

    def run(self) -> None:
        """Runs the command line and reads its output."""
        try:
            with tempfile.TemporaryDirectory(prefix="attention-timing-", ignore_cleanup_errors=True) as compiled:
                self._measure(compiled)
        except OSError as error:
            self.end("failed", str(error))
        finally:
            remove_lock()  # a process that was killed leaves it behind

    def _measure(self, compiled: str) -> None:
        """Runs the process, with its compiled code in a folder that is removed afterwards."""
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
        """Whether there is memory for its process, in the budget and on this machine; sets `lacks` to the reason if not."""
        there, later = devices.free_bytes("cpu"), words.STARTS_LATER.format(turn="")
        if not has_room(NEEDED):
            self.lacks = refusal_sentence(words.A_MEASUREMENT, NEEDED, BUDGET.free_bytes, later)
        elif there is not None and there < NEEDED:
            sizes = words.SIZES.format(needed=NEEDED / 2**20, free=there / 2**20)
            self.lacks = words.NO_MEMORY.format(sizes=sizes, then=later)
        else:
            self.lacks = ""
        return not self.lacks

    def halt(self) -> None:
        """Ends its process: kills it if it is overdue, else terminates it, so that it can clean up."""
        if self.process is not None:
            self.process.kill() if self.state == "failed" else self.process.terminate()

    @property
    def overdue(self) -> str:
        """The error message if it is far beyond its time budget, else empty."""
        late = not self.held and self.running > self.settings.seconds + GRACE
        return words.OVERDUE.format(seconds=GRACE) if late else ""

    @property
    def claim(self) -> int:
        """Bytes that its process may take; 0 unless it runs."""
        return self.memory if self.state == "running" else 0

    @property
    def doing(self) -> str:
        """What is done, as visitors who wait behind it read it."""
        return words.MEASURING_WAITS if self.held else words.MEASURING

    @property
    def seconds_left(self) -> float | None:
        """Remaining seconds of its time budget; None before its turn."""
        return max(0.0, self.settings.seconds - self.running) if self.started is not None and not self.held else None

    @property
    def shown_share(self) -> float:
        """The share of its visits or of its time budget, whichever is larger: it ends when either is used up."""
        spent = 0.0 if self.held else self.running / self.settings.seconds
        return min(max(self.share, spent), 1.0)

    @property
    def unsupported(self) -> tuple[int, list[str]]:
        """How many cases torch does not support here, so that they were not listed, and of which implementations.

        It is known at the end, if every case that was listed was begun, and all others are of these implementations.
        """
        timed = {case.implementation for case in self.timings}
        usual = [name for name, how in IMPLEMENTATIONS.items() if not how.asked]
        used = [*dict.fromkeys(case.device for case in self.timings)]
        missing = [name for name in usual if name not in timed]
        every, count = (len(self.settings.cases(used, names)) for names in (usual, missing))
        is_known = self.state == "done" and not self.settings.implementations and len(self.timings) == self.cases
        return (count, missing) if is_known and count + self.cases == every else (0, [])

    @property
    def is_steady(self) -> bool:
        """Whether at least half of its times are stable; others are shown to the visitor who measured them alone."""
        timed = [timing for timing in self.timings.values() if not timing.error]
        return bool(timed) and 2 * sum(timing.settled for timing in timed) >= len(timed)

    @property
    def unbegun(self) -> int:
        """The number of cases for which there was no time."""
        return max(0, self.cases - len(self.timings))


def _watch(task: TimingJob, process: subprocess.Popen) -> None:
    """Ends the process if its visitor has left or cancelled, or if it is overdue."""
    while process.poll() is None:
        if task.should_stop():
            task.halt()
        try:
            process.wait(WATCH)
        except subprocess.TimeoutExpired:
            continue


def _last_words(task: TimingJob, code: int) -> str:
    """Why a process ended: the signal that ended it, else its own last output."""
    if code == -signal.SIGKILL:
        return words.KILLED
    return words.SIGNAL.format(name=signal.Signals(-code).name) if code < 0 else task.said


def take_in(task: TimingJob, line: str) -> None:
    """Parses one line of the output of the process: a timing, that it waits, that it has its turn, or other text."""
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
    task.timings = {**task.timings, timing.case: timing}  # a new dict: a reader may be iterating over the old one
    task.cases = cases
    task.progress(share)


def _first_to_go(pid: int) -> None:
    """Makes the system end the measuring process, and not the app, if memory runs out."""
    try:
        Path(f"/proc/{pid}/oom_score_adj").write_text("1000")
    except OSError:
        return  # not available on this system


def _limit_memory(pid: int, size: int) -> None:
    """Limits the memory of a process to `size` bytes: a case that needs more fails and reports it. Linux only."""
    if sys.platform == "linux":
        with suppress(OSError):  # the process has ended
            resource.prlimit(pid, resource.RLIMIT_DATA, (size, size))
