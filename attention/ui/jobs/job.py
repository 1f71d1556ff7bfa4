"""A task in the background: its states, who looks, and what becomes of it when they pause, cancel or leave.

Nothing here runs or waits; `line` does. A visitor who asks for what another one asked for shares their task. So nobody can
stop it for somebody else: it rests when all who look have paused it, and ends when all have left.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import RLock
from time import monotonic
from typing import ClassVar

from attention.ui.jobs import pace

OPEN = ("waiting", "running", "paused")
TOO_LONG = "Ended after {:g} minutes of work, the most that one task gets on this host."
MADE_WAY = "Ended while it was paused, as others needed the memory that it held."
STILL = 3.0  # seconds without news after which these count for the pace as well


@dataclass(eq=False)
class Job:
    """What is done for `settings`: a kind of task is a class of its own, which says in `run` how.

    `state`: waiting (for its turn, the first one or the next), running, paused, done, cancelled, left (by all visitors)
    or failed; `share` of it that is done, from 0 to 1; `said`: why it failed; `looks`: when each visitor has last looked;
    `resting`: who has paused it; `seen`, `started`, `ended`: by the clock, when anybody has last looked, when it has last
    begun to run and when it has ended; `rested`: since when it is paused.
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
    ran: float = field(default=0.0, init=False)  # seconds of its runs before this one
    news: float = field(default=0.0, init=False)  # when its share has last grown
    lock: RLock = field(default_factory=RLock, init=False, repr=False)

    kind: ClassVar[str] = "task"
    history: ClassVar[int] = 3  # of its kind that have ended, those that were last looked at
    keep_s: ClassVar[float] = 600.0  # seconds after that look for which they are kept
    shared: ClassVar[bool] = True  # by visitors with equal settings
    one_each: ClassVar[bool] = True  # does a visitor's new task turn them away from their last one?
    pauses: ClassVar[bool] = True
    leave_after_s: ClassVar[float] = 15.0  # seconds after which a visitor who no longer looks is taken to have left
    pause_limit_s: ClassVar[float] = 600.0  # the same for one who has paused it: that costs memory only
    evict_after_s: ClassVar[float] = 60.0  # seconds of a pause after which it makes way for those who need that memory
    max_run_s: ClassVar[float] = 1200.0  # seconds of running after which it ends, as others want their turn
    about: ClassVar[str] = "about"  # how `left` is meant

    def run(self) -> None:
        """Works until it is done or `stop` says so; called again where it goes on after a pause. What it raises is a failure."""
        raise NotImplementedError

    def fits(self, has_room: Callable[[int], bool]) -> bool:
        """Is there memory for its run? `has_room` makes room for so many bytes, if it can. Asked when its turn has come."""
        return True

    def halt(self) -> None:
        """Called once it has ended by other means than its run: to stop what doesn't ask `stop`."""

    @property
    def guess(self) -> float | None:
        """Seconds that all of it takes, as far as is known beforehand."""
        return None

    @property
    def claim(self) -> int:
        """Bytes that it holds now, and while there is more to come those that it will hold at its peak."""
        return 0

    @property
    def doing(self) -> str:
        """What is being done while it runs, for whoever waits behind it."""
        return f"a {self.kind} is being made"

    @property
    def overdue(self) -> str:
        """Why it has run for too long; empty where it has not."""
        return TOO_LONG.format(self.max_run_s / 60) if self.ran + self.running > self.max_run_s else ""

    @property
    def open(self) -> bool:
        """Is there more to come?"""
        return self.state in OPEN

    @property
    def given_up(self) -> bool:
        """Has it been ended by its visitors? Whoever asks next gets a new one."""
        return self.next_state() in ("cancelled", "left")

    @property
    def seconds_spent(self) -> float:
        """Seconds that it has run, up to its last news; what has passed since counts once it is much."""
        if self.state != "running" or self.started is None:
            return self.ran
        now, heard = self.clock(), max(self.news, self.started)
        return self.ran + (now if now - heard > STILL else heard) - self.started

    @property
    def running(self) -> float:
        """Seconds since its run has begun."""
        return self.clock() - self.started if self.state == "running" and self.started is not None else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Seconds of running until it is done; None where nothing tells."""
        return pace.seconds_left(self.guess, self.share, self.seconds_spent)

    @property
    def slow(self) -> bool:
        """Does it take far longer than was guessed?"""
        return pace.slow(self.guess, self.share, self.seconds_spent)

    def progress(self, share: float) -> None:
        """So much of it is done."""
        self.share, self.news = share, self.clock()

    def look(self, visitor: str) -> None:
        """Notes that a visitor looks at it."""
        with self.lock:
            self.looks[visitor] = self.seen = self.clock()

    def leave(self, visitor: str) -> None:
        """A visitor no longer waits for it; with the last one it is cancelled, and what is finished stays."""
        with self.lock:
            looked = self.looks.pop(visitor, None)
            self.resting.discard(visitor)
            if looked is not None and not self._here():
                self.end("cancelled")
        self.next_state()

    def pause(self, visitor: str) -> None:
        """A visitor would have it rest, as it does once nobody who looks would have it run."""
        with self.lock:
            self.look(visitor)
            self.resting |= {visitor} if self.pauses else set()
        self.next_state()

    def go_on(self, visitor: str) -> None:
        """The same visitor would have it run again, which it does at its place in line."""
        with self.lock:
            self.look(visitor)
            self.resting.discard(visitor)
        self.next_state()

    @property
    def makes_way(self) -> bool:
        """Does it rest, and has it rested for so long that others may have the memory that it holds?"""
        return self.next_state() == "paused" and self.clock() - self.rested >= self.evict_after_s

    def begin(self) -> bool:
        """Does it take its turn? Not where it no longer waits for it."""
        with self.lock:
            if self.next_state() != "waiting":
                return False
            self.state, self.started = "running", self.clock()
            return True

    def in_earnest(self) -> None:
        """Its time counts from now on: what it has waited for since its turn came says nothing of its pace."""
        self.started = self.clock()

    def end(self, state: str, said: str = "") -> None:
        """It is over, unless it was before."""
        with self.lock:
            if not self.open:
                return
            self._rest(state)
            self.said, self.ended = said or self.said, self.clock()
        if state != "done":
            self.halt()

    def stop(self) -> bool:
        """To be asked often by whatever runs: shall it return?"""
        return self.next_state() != "running"

    def next_state(self) -> str:
        """The state that follows from who looks now."""
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
        """From running to a state in which it does not."""
        if self.state == "running" and self.started is not None:
            self.ran += self.clock() - self.started
        self.state, self.rested = state, self.clock()
