"""A queue of jobs: a fixed number of them run at a time, whatever their kinds, in the order of the requests.

A paused job keeps its position; later jobs may overtake it. Every rerun of a page repeats its request: a visitor who stops
asking has left, and a job that every visitor has left ends at its next check of the clock, or when its turn comes.
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Hashable
from time import monotonic
from typing import TypeVar

from attention.ui.budget import BUDGET
from attention.ui.jobs.job import Job
from attention.ui.text import jobs as words

T = TypeVar("T", bound=Job)
ROUND = 15.0  # seconds between two checks for jobs that no visitor requests
log = logging.getLogger(__name__)


def thread(call: Callable[[], None]) -> None:
    """Calls a function in a daemon thread, which does not keep the server from ending."""
    threading.Thread(target=call, daemon=True).start()


def timer(seconds: float, call: Callable[[], None]) -> None:
    """Calls a function after some seconds, unless the server has ended."""
    waits = threading.Timer(seconds, call)
    waits.daemon = True
    waits.start()


class JobQueue:
    """Runs `at_once` jobs in threads that `start` provides, as the `submit` of an executor does."""

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
        self.lock, self.tasks = threading.RLock(), list[Job]()  # in the order of the queue
        self.busy: set[Job] = set()  # those in whose run a thread is, also if it is about to return
        self.threads, self.armed = 0, False

    def request(self, kind: type[T], settings: Hashable, visitor: str, make: Callable[[], T] | None = None) -> T:
        """Returns the job of these settings for a visitor: the existing one, or a new one at the end of the queue.

        A job that was given up is replaced by a new one; a failed job stays until it is forgotten.
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
        """Makes a visitor leave their jobs of a kind, except `but`, if the kind allows one job per visitor."""
        with self.lock:
            for other in self._of(kind, visitor):
                if other is not but:
                    other.leave(visitor)

    def _of(self, kind: type[Job], visitor: str) -> list[Job]:
        """A visitor's jobs of a kind, if the kind allows one job per visitor; else none."""
        return [task for task in self.tasks if kind.one_each and isinstance(task, kind) and visitor in task.looks]

    def find(self, kind: type[T], settings: Hashable, has: Callable[[T], bool] = lambda _: True) -> T | None:
        """The newest job of these settings that `has` accepts, in any state, for a visitor who does not wait for it."""
        with self.lock:
            fits = (task for task in reversed(self.tasks) if isinstance(task, kind) and task.settings == settings)
            return next((task for task in fits if has(task)), None)

    def pause(self, task: Job, visitor: str) -> None:
        """Pauses a job for a visitor; it stops running once every viewer has paused it."""
        task.pause(visitor)
        self.tidy()

    def go_on(self, task: Job, visitor: str) -> None:
        """Ends the pause of a visitor; the job runs again as soon as there is room."""
        task.go_on(visitor)
        self.tidy()

    def leave(self, visitor: str) -> None:
        """Makes a visitor leave all jobs."""
        with self.lock:
            for task in self.tasks:
                task.leave(visitor)
            self.tidy()

    def forget(self, task: Job | None) -> None:
        """Removes a job, so that the next request for its settings starts a new one, as after a failure."""
        with self.lock:
            self.tasks = [other for other in self.tasks if other is not task]

    @property
    def used_bytes(self) -> int:
        """Bytes that the jobs claim."""
        with self.lock:
            return sum(task.claim for task in self.tasks)

    @property
    def unevictable_bytes(self) -> int:
        """Bytes that the jobs claim which have not ended."""
        with self.lock:
            return sum(task.claim for task in self.tasks if task.open)

    def free(self, kind: type[Job], visitor: str) -> int:
        """Bytes that a visitor's new job of a kind could have. Their previous jobs that have no other viewer would end, and so
        would jobs that others have paused for long.
        """
        with self.lock:
            own = [task for task in self._of(kind, visitor) if task.open and task.looks.keys() == {visitor}]
            return BUDGET.free + sum(task.claim for task in [*own, *self._resting(visitor)])

    def room(self, needed: int, visitor: str) -> bool:
        """Whether a visitor's job of `needed` bytes fits after evictions; may end jobs that others have paused for long."""
        if not BUDGET.room(needed):
            with self.lock:
                for task in self._resting(visitor):
                    task.end("failed", words.MADE_WAY)
        return BUDGET.room(needed)

    def _resting(self, visitor: str) -> list[Job]:
        """Jobs that others have paused for so long that they make way for a visitor."""
        return [task for task in self.tasks if task.makes_way and visitor not in task.looks]

    def give_back(self, size: int) -> None:
        """Forgets ended jobs of about `size` bytes, least recently viewed ones first."""
        with self.lock:
            for task in sorted((task for task in self.tasks if not task.open), key=lambda task: task.seen):
                if size <= 0:
                    return
                size -= task.claim
                self.forget(task)

    def expire(self, before: float) -> None:
        """Drops expired jobs; each kind defines how long its jobs are kept."""
        self.tidy()

    def before(self, task: Job) -> int:
        """The number of jobs whose turn comes before this one, including those that run now."""
        with self.lock:
            if task not in self.tasks or task.update_state() != "waiting":
                return 0
            return sum(other.update_state() in ("waiting", "running") for other in self.tasks[: self.tasks.index(task)])

    def other(self, task: Job) -> str:
        """What a running job of another kind does while this one waits, in words; empty if there is none."""
        with self.lock:
            return next((each.doing for each in self.busy if each.kind != task.kind), "")

    def waiting(self, kind: type[Job]) -> int:
        """The number of jobs of a kind that wait for their turn."""
        with self.lock:
            return sum(task.update_state() == "waiting" for task in self.tasks if task.kind == kind.kind)

    def tidy(self) -> None:
        """Ends jobs that every visitor has left, drops those that ended long ago, and starts those that can run."""
        with self.lock:
            ready = sum(task.update_state() == "waiting" for task in self.tasks)
            self._drop()
            for _ in range(min(ready, self.at_once - self.threads)):
                self.threads += 1
                self.start(self._work)

    def take(self) -> Job | None:
        """Starts the first job that waits and fits in memory, and returns it; None if there is none or `at_once` run."""
        with self.lock:
            for task in self.tasks:
                if task not in self.busy and len(self.busy) < self.at_once and self._fits(task) and task.begin():
                    self.busy.add(task)
                    return task
            return None

    def _fits(self, task: Job) -> bool:
        """Whether a job waits and there is memory for it. A job without keeps its place, and later ones go first."""
        visitor = next(iter(task.looks), "")
        return task.update_state() == "waiting" and task.fits(lambda needed: self.room(needed, visitor))

    def finished(self, task: Job, error: Exception | None = None) -> None:
        """Ends a job whose run has returned, unless it was paused meanwhile."""
        with self.lock:
            self.busy.discard(task)
            if error is not None:
                task.end("failed", words.FAILED)
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
        """Drops ended jobs that were not viewed for long, and schedules the next check, as pages may make no request."""
        recent, now = self._recent(), self.clock()
        self.tasks = [task for task in self.tasks if task.open or (task in recent and now - task.seen < task.keep_s)]
        if self.tasks and not self.armed:
            self.armed = True
            self.later(ROUND, self._due)

    def _recent(self) -> set[Job]:
        """The last viewed jobs of each kind, as many as are kept of it."""
        kinds = defaultdict(list)
        for task in sorted(self.tasks, key=lambda task: task.seen):
            kinds[task.kind].append(task)
        return {task for alike in kinds.values() for task in alike[-alike[0].history :]}

    def _due(self) -> None:
        with self.lock:
            self.armed = False
            self.tidy()


JOBS = BUDGET.register(JobQueue(1))  # all jobs that would slow each other down: maps, timings, trainings, models
