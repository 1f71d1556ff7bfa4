"""Tasks that wait in line: so many run at a time, whatever their kinds, in the order in which they were asked for.

Whoever pauses keeps the place and lets others by. A page asks for its task again and again; whoever no longer asks has left,
and a task that everybody has left ends at its next look at the clock, or when its turn comes.
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Hashable
from time import monotonic
from typing import TypeVar

from attention.ui.budget import BUDGET
from attention.ui.jobs.job import MADE_WAY, Job

T = TypeVar("T", bound=Job)
ROUND = 15.0  # seconds between two looks at what nobody asks for
FAILED = "It failed, and the log says why."
log = logging.getLogger(__name__)


def thread(call: Callable[[], None]) -> None:
    """Calls in a thread of its own that does not keep a server from ending."""
    threading.Thread(target=call, daemon=True).start()


def timer(seconds: float, call: Callable[[], None]) -> None:
    """Calls after so many seconds, unless the server has ended."""
    waits = threading.Timer(seconds, call)
    waits.daemon = True
    waits.start()


class JobQueue:
    """Runs `at_once` tasks in threads that `start` makes, as a lane does."""

    def __init__(
        self,
        at_once: int,
        start: Callable[[Callable[[], None]], object] = thread,
        *,
        clock: Callable[[], float] = monotonic,
        later: Callable[[float, Callable[[], None]], object] = timer,
    ) -> None:
        self.at_once, self.start, self.later = at_once, start, later
        self.clock = clock
        self.lock, self.tasks = threading.RLock(), list[Job]()  # by their places
        self.busy: set[Job] = set()  # in whose run a thread is, be it on its way out
        self.threads, self.armed = 0, False

    def request(self, kind: type[T], settings: Hashable, visitor: str, make: Callable[[], T] | None = None) -> T:
        """The task of these settings, for a visitor: the one that there is, or one that takes the last place.

        One that was given up is begun anew; one that has failed stays until it is forgotten.
        """
        with self.lock:
            found = self.find(kind, settings) if kind.shared else None
            if found is None or found.given_up:
                self.forget(found)
                found = make() if make else kind(settings, clock=self.clock)
                self.tasks.append(found)
            found.look(visitor)
            self.leave_previous(kind, visitor, found)
            self.tidy()
            return found

    def leave_previous(self, kind: type[Job], visitor: str, but: Job | None = None) -> None:
        """A visitor leaves their tasks of a kind of which each has one."""
        with self.lock:
            for other in self._of(kind, visitor):
                if other is not but:
                    other.leave(visitor)

    def _of(self, kind: type[Job], visitor: str) -> list[Job]:
        """A visitor's tasks of a kind, where each has one."""
        return [task for task in self.tasks if kind.one_each and isinstance(task, kind) and visitor in task.looks]

    def find(self, kind: type[T], settings: Hashable, has: Callable[[T], bool] = lambda _: True) -> T | None:
        """The newest task of these settings as it is, for somebody who does not wait for it."""
        with self.lock:
            fits = (task for task in reversed(self.tasks) if isinstance(task, kind) and task.settings == settings)
            return next((task for task in fits if has(task)), None)

    def pause(self, task: Job, visitor: str) -> None:
        """Lets it rest, where nobody else would have it run."""
        task.pause(visitor)
        self.tidy()

    def go_on(self, task: Job, visitor: str) -> None:
        """Lets it run again, as soon as there is room."""
        task.go_on(visitor)
        self.tidy()

    def leave(self, visitor: str) -> None:
        """A visitor has gone, and asks for nothing any more."""
        with self.lock:
            for task in self.tasks:
                task.leave(visitor)
            self.tidy()

    def forget(self, task: Job | None) -> None:
        """Whoever asks for the same next gets a fresh start, as after a failure."""
        with self.lock:
            self.tasks = [other for other in self.tasks if other is not task]

    @property
    def used_bytes(self) -> int:
        """Bytes that its tasks claim."""
        with self.lock:
            return sum(task.claim for task in self.tasks)

    @property
    def unevictable_bytes(self) -> int:
        """Those of tasks that have not ended."""
        with self.lock:
            return sum(task.claim for task in self.tasks if task.open)

    def free(self, kind: type[Job], visitor: str) -> int:
        """Bytes that there would be room for, for a visitor's task of a kind: what ends with their asking for it, as nobody else
        looks at it, makes way, and what others have paused for long.
        """
        with self.lock:
            own = [task for task in self._of(kind, visitor) if task.open and task.looks.keys() == {visitor}]
            return BUDGET.free + sum(task.claim for task in [*own, *self._resting(visitor)])

    def room(self, needed: int, visitor: str) -> bool:
        """Is there room for a visitor's task of so many bytes, once others have given back? What they paused for long may end."""
        if not BUDGET.room(needed):
            with self.lock:
                for task in self._resting(visitor):
                    task.end("failed", MADE_WAY)
        return BUDGET.room(needed)

    def _resting(self, visitor: str) -> list[Job]:
        """What others have paused for so long that it makes way for a visitor."""
        return [task for task in self.tasks if task.makes_way and visitor not in task.looks]

    def give_back(self, size: int) -> None:
        """Forgets about so many bytes of what has ended, those first that were looked at longest ago."""
        with self.lock:
            for task in sorted((task for task in self.tasks if not task.open), key=lambda task: task.seen):
                if size <= 0:
                    return
                size -= task.claim
                self.forget(task)

    def expire(self, before: float) -> None:
        """Each task knows how long it is kept."""
        self.tidy()

    def before(self, task: Job) -> int:
        """How many have their turn before this one, those included that have it now."""
        with self.lock:
            if task not in self.tasks or task.next_state() != "waiting":
                return 0
            return sum(other.next_state() in ("waiting", "running") for other in self.tasks[: self.tasks.index(task)])

    def other(self, task: Job) -> str:
        """What is being done of another kind while this one waits, in words; empty where nothing is."""
        with self.lock:
            return next((each.doing for each in self.busy if each.kind != task.kind), "")

    def waiting(self, kind: type[Job]) -> int:
        """How many of a kind wait for their turn."""
        with self.lock:
            return sum(task.next_state() == "waiting" for task in self.tasks if task.kind == kind.kind)

    def tidy(self) -> None:
        """Ends what everybody has left, drops what has ended long ago, and sees to it that whatever can run does."""
        with self.lock:
            ready = sum(task.next_state() == "waiting" for task in self.tasks)
            self._drop()
            for _ in range(min(ready, self.at_once - self.threads)):
                self.threads += 1
                self.start(self._work)

    def take(self) -> Job | None:
        """The task whose turn it is, if there is room for one."""
        with self.lock:
            for task in self.tasks:
                if task not in self.busy and len(self.busy) < self.at_once and self._fits(task) and task.begin():
                    self.busy.add(task)
                    return task
            return None

    def _fits(self, task: Job) -> bool:
        """Is there memory for a task that waits? One for which there is none keeps its place, and later ones go first."""
        visitor = next(iter(task.looks), "")
        return task.next_state() == "waiting" and task.fits(lambda needed: self.room(needed, visitor))

    def finished(self, task: Job, error: Exception | None = None) -> None:
        """Its run is over: with it the task, unless that was paused meanwhile."""
        with self.lock:
            self.busy.discard(task)
            if error is not None:
                task.end("failed", FAILED)
            elif task.state == "running":
                task.end("done")
            self._drop()

    def _work(self) -> None:
        while True:
            with self.lock:
                task = self.take()
                if task is None:
                    self.threads -= 1
                    return
            try:
                task.run()
            except Exception as error:
                log.exception("A task failed: %s of %s.", task.kind, task.settings)
                self.finished(task, error)
            else:
                self.finished(task)

    def _drop(self) -> None:
        """Drops what has ended and nobody has looked at for long, and comes back for the rest though no page may do."""
        recent, now = self._recent(), self.clock()
        self.tasks = [task for task in self.tasks if task.open or (task in recent and now - task.seen < task.keep_s)]
        if self.tasks and not self.armed:
            self.armed = True
            self.later(ROUND, self._due)

    def _recent(self) -> set[Job]:
        """Of each kind as many as are kept of it, those that were last looked at."""
        kinds = defaultdict(list)
        for task in sorted(self.tasks, key=lambda task: task.seen):
            kinds[task.kind].append(task)
        return {task for alike in kinds.values() for task in alike[-alike[0].history :]}

    def _due(self) -> None:
        with self.lock:
            self.armed = False
            self.tidy()


JOBS = BUDGET.register(
    JobQueue(1)
)  # of all that would slow down, or be slowed down by, another task: maps, sweeps, trainings
