"""A background job: its states, its viewers, and what happens to it when they pause, cancel or leave.

Nothing here runs or waits; `job_queue` does. Visitors who request equal settings share a job, so that none of them can stop
it for the others: it pauses only when every viewer has paused it, and ends when every viewer has left.

To cancel is to leave: the button (`attention/ui/views/job_status.py`) makes its visitor `leave`. If no other viewer is left,
the job ends as cancelled; its `run` returns when it next asks `should_stop`, and `halt` stops what does not ask.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import RLock
from time import monotonic
from typing import ClassVar

from attention.ui.jobs import pace
from attention.ui.text import jobs as words

OPEN = ("waiting", "running", "paused")
STILL = 3.0  # seconds without progress after which they count for the pace as well


@dataclass(eq=False)
class Job:
    """The work for `settings`; each kind of job is a subclass that implements `run`.

    `state`: waiting (for its first turn or another one), running, paused, done, cancelled, left (by every viewer) or failed;
    `share`: the part that is done, from 0 to 1; `said`: why it failed. `looks`: when each visitor last viewed it; `resting`:
    visitors who have paused it. `seen`, `started`, `ended`: clock times of the last view, the last start of a run and the
    end; `rested`: the clock time since which it is paused.
    """

    settings: Hashable
    state: str = "waiting"
    share: float = 0.0
    said: str = ""
    looks: dict[str, float] = field(default_factory=dict, kw_only=True)
    resting: set[str] = field(default_factory=set, kw_only=True)
    clock: Callable[[], float] = field(default=monotonic, kw_only=True)
    seen: float = field(default=0.0, kw_only=True)
    started: float | None = field(default=None, kw_only=True)
    ended: float | None = field(default=None, kw_only=True)
    rested: float = field(default=0.0, init=False)
    ran: float = field(default=0.0, init=False)  # seconds of its earlier runs
    news: float = field(default=0.0, init=False)  # clock time of the last progress
    lock: RLock = field(default_factory=RLock, init=False, repr=False)

    kind: ClassVar[str] = "task"
    history: ClassVar[int] = 3  # ended jobs are kept if they are among this many last viewed jobs of their kind
    keep_s: ClassVar[float] = 600.0  # seconds after the last view for which they are kept
    shared: ClassVar[bool] = True  # whether visitors with equal settings share it
    one_each: ClassVar[bool] = True  # whether a visitor's new job makes them leave their previous one
    pauses: ClassVar[bool] = True
    leave_after_s: ClassVar[float] = 15.0  # seconds without a view after which a visitor counts as having left
    pause_limit_s: ClassVar[float] = 600.0  # the same for visitors who have paused it: that costs memory only
    evict_after_s: ClassVar[float] = 60.0  # seconds of a pause after which it ends if others need its memory
    max_run_s: ClassVar[float] = 1200.0  # seconds of running after which it ends, to give others a turn
    about: ClassVar[str] = "about"  # says how exact `seconds_left` is

    def run(self) -> None:
        """Works until it is done or `should_stop` returns True; called again after a pause. Any exception is a failure."""
        raise NotImplementedError

    def fits(self, has_room: Callable[[int], bool]) -> bool:
        """Whether there is memory for its run, called at its turn. `has_room(size)` frees this many bytes if it can."""
        return True

    def halt(self) -> None:
        """Called if it has ended before its run returned, to stop what does not call `should_stop`."""

    @property
    def guess(self) -> float | None:
        """Estimated seconds of the whole job; None if there is no estimate."""
        return None

    @property
    def claim(self) -> int:
        """Bytes that it holds; until it has ended, those that it will hold at its peak."""
        return 0

    @property
    def doing(self) -> str:
        """What is done while it runs, as visitors who wait behind it read it."""
        return words.COMPUTED.format(kind=self.kind)

    @property
    def overdue(self) -> str:
        """Why it has run for too long; empty if it has not."""
        late = self.ran + self.running > self.max_run_s
        return words.TOO_LONG.format(minutes=self.max_run_s / 60) if late else ""

    @property
    def open(self) -> bool:
        """Whether it has not ended."""
        return self.state in OPEN

    @property
    def given_up(self) -> bool:
        """Whether its visitors have cancelled or left it. The next request gets a new job."""
        return self.update_state() in ("cancelled", "left")

    @property
    def seconds_spent(self) -> float:
        """Seconds of running up to the last progress; the time since then counts once it exceeds `STILL`."""
        if self.state != "running" or self.started is None:
            return self.ran
        now, heard = self.clock(), max(self.news, self.started)
        return self.ran + (now if now - heard > STILL else heard) - self.started

    @property
    def running(self) -> float:
        """Seconds since its current run has started; 0 if it does not run."""
        return self.clock() - self.started if self.state == "running" and self.started is not None else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds of running until it is done; None if there is no estimate."""
        return pace.seconds_left(self.guess, self.share, self.seconds_spent)

    @property
    def shown_share(self) -> float:
        """The share that its progress bar shows."""
        return min(self.share, 1.0)

    @property
    def slow(self) -> bool:
        """Whether it takes far longer than estimated."""
        return pace.slow(self.guess, self.share, self.seconds_spent)

    def progress(self, share: float) -> None:
        """Records the share that is done."""
        self.share, self.news = share, self.clock()

    def look(self, visitor: str) -> None:
        """Records that a visitor views it."""
        with self.lock:
            self.looks[visitor] = self.seen = self.clock()

    def leave(self, visitor: str) -> None:
        """Removes a visitor. If no other is left, it is cancelled, and what is finished stays."""
        with self.lock:
            looked = self.looks.pop(visitor, None)
            self.resting.discard(visitor)
            if looked is not None and not self._here():
                self.end("cancelled")
        self.update_state()

    def pause(self, visitor: str) -> None:
        """Pauses it for a visitor; it stops running once every viewer has paused it."""
        with self.lock:
            self.look(visitor)
            self.resting |= {visitor} if self.pauses else set()
        self.update_state()

    def go_on(self, visitor: str) -> None:
        """Ends the pause of a visitor; it runs again at its place in the queue."""
        with self.lock:
            self.look(visitor)
            self.resting.discard(visitor)
        self.update_state()

    @property
    def makes_way(self) -> bool:
        """Whether it has been paused for so long that others may take its memory."""
        return self.update_state() == "paused" and self.clock() - self.rested >= self.evict_after_s

    def begin(self) -> bool:
        """Takes its turn and returns True; returns False if it no longer waits for one."""
        with self.lock:
            if self.update_state() != "waiting":
                return False
            self.state, self.started = "running", self.clock()
            return True

    def in_earnest(self) -> None:
        """Counts its time from now on: the time that it has waited since its turn came says nothing about its pace."""
        self.started = self.clock()

    def end(self, state: str, said: str = "") -> None:
        """Ends it with this state, unless it has ended before."""
        with self.lock:
            if not self.open:
                return
            self._rest(state)
            self.said, self.ended = said or self.said, self.clock()
        if state != "done":
            self.halt()

    def should_stop(self) -> bool:
        """Whether `run` must return; `run` has to call this often."""
        return self.update_state() != "running"

    def update_state(self) -> str:
        """Updates the state from the current viewers and the time, and returns it."""
        with self.lock:
            if self.open:
                here = self._here()
                if not here:
                    self.end("left")
                elif self.state == "running" and (late := self.overdue):
                    self.end("failed", late)
                elif self.state == "paused" and here - self.resting:
                    self.state = "waiting"
                elif self.state != "paused" and here <= self.resting:
                    self._rest("paused")
            return self.state

    def _here(self) -> set[str]:
        """The visitors who have not left."""
        now = self.clock()
        return {
            visitor
            for visitor, seen in self.looks.items()
            if now - seen < (self.pause_limit_s if visitor in self.resting else self.leave_after_s)
        }

    def _rest(self, state: str) -> None:
        """Changes to a state in which it does not run."""
        if self.state == "running" and self.started is not None:
            self.ran += self.clock() - self.started
        self.state, self.rested = state, self.clock()
