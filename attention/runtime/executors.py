"""Executors: threads that stay, each for one kind of work, ranked so that no work can ever wait for itself.

Code in an executor may submit to, and wait on, lower-ranked executors only. Anything else raises DeadlockError
immediately, even if a thread is free. So every chain of waits descends, and ends at an executor that waits for none.
Work that follows other work of any executor is started by it (`then`) and waits nowhere.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from copy import copy
from heapq import heappop, heappush
from itertools import count
from threading import get_ident, local
from time import monotonic, perf_counter
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from attention.runtime.threads import one_thread, pool

S = TypeVar("S")
T = TypeVar("T")
_here = local()
EXECUTORS: WeakSet[RankedExecutor] = WeakSet()  # all executors, for the stall detector


class DeadlockError(RuntimeError):
    """Raised if a thread of an executor was about to wait for an executor that may wait for it."""


class Task(Future, Generic[T]):
    """A future of an executor; threads of the same executor, or of a lower-ranked one, may not wait for it."""

    def __init__(self, lane: RankedExecutor) -> None:
        super().__init__()
        self.lane = lane

    def result(self, timeout: float | None = None) -> T:
        """Returns the result; raises DeadlockError if the caller may not wait for it."""
        return super().result(self._waitable(timeout))

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Returns the exception of the call, None if it raised none; raises DeadlockError as `result` does."""
        return super().exception(self._waitable(timeout))

    def _waitable(self, timeout: float | None) -> float | None:
        if not self.done():
            self.lane.require_lower_rank("wait for")
        return timeout


class RankedExecutor(Executor):
    """An executor of `threads` threads, for which executors of higher rank may wait; each thread first calls `prepare`.

    `pieces`: it gets all pieces of large work at once, so a piece that waits for earlier ones is not delayed.
    """

    def __init__(
        self, name: str, rank: int, threads: int, prepare: Callable[[], object] = one_thread, *, pieces: bool = False
    ) -> None:
        self.name, self.rank, self.pieces = name, rank, pieces
        self.threads = pool(threads, name, prepare)
        self.patience = 0.0
        self.waiting: list[tuple[float, int, Task, Callable[[], Any]]] = []  # by due time, then by arrival
        self.numbers = count()
        self.busy: dict[int, float] = {}  # by thread: start of its current task
        EXECUTORS.add(self)

    def __repr__(self) -> str:
        return f"the lane {self.name!r} of rank {self.rank}"

    def low_priority(self, seconds: float) -> RankedExecutor:
        """Returns the same threads for work that all work submitted here within `seconds` seconds may overtake."""
        found = copy(self)
        found.patience = seconds
        return found

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Task[T]:
        """Submits a call; raises DeadlockError from an executor that does not rank above this one."""
        self.require_lower_rank("hand work to")
        work = self.new_future()
        self._begin(work, lambda: fn(*args, **kwargs))
        return work

    def then(self, earlier: Task[S], call: Callable[[S], T]) -> Task[T]:
        """Returns a task that is called with the result of an earlier one, or fails if that fails. No thread waits."""
        work = self.new_future()
        waiting = [work]  # emptied when it starts: the earlier task must not keep the result of the later one

        def begin(done: Future) -> None:
            later = waiting.pop()
            if done.cancelled():
                later.cancel()
            elif error := done.exception():
                later.set_exception(error)
            else:
                self._begin(later, lambda: call(done.result()))

        earlier.add_done_callback(begin)
        return work

    def all_of(self, *earlier: Task[Any]) -> Task[tuple[Any, ...]]:
        """Returns a task with the results of all earlier ones, or the failure of one of them. No thread waits."""
        work, left = self.new_future(), count(len(earlier) - 1, -1)
        waiting: list[Any] = [work, earlier]  # emptied at the end: the tasks must not keep each other's results

        def finish(_: Future) -> None:
            if next(left):
                return
            later, tasks = waiting
            waiting.clear()
            failed = next((each for each in tasks if each.cancelled() or each.exception()), None)
            if failed is None:
                later.set_result(tuple(each.result() for each in tasks))
            elif failed.cancelled():
                later.cancel()
            else:
                later.set_exception(failed.exception())

        for each in earlier:
            each.add_done_callback(finish)
        return work

    def new_future(self) -> Task:
        """Returns a task whose result is set by a call that this executor already has."""
        return Task(self)

    def require_lower_rank(self, what: str) -> None:
        """Raises DeadlockError if the calling thread is of this executor, or of one that does not rank above it."""
        here = getattr(_here, "lane", None)
        if here is not None and here.rank <= self.rank:
            raise DeadlockError(f"{here} may not {what} {self}: only lanes of lower ranks, to avoid a deadlock.")

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the threads once they are idle."""
        self.threads.shutdown(wait, cancel_futures=cancel_futures)

    def _begin(self, work: Task[T], call: Callable[[], T]) -> None:
        heappush(self.waiting, (monotonic() + self.patience, next(self.numbers), work, call))
        self.threads.submit(self._next)

    def _next(self) -> None:
        """Runs the task that is due first; it is submitted once per task."""
        _, _, work, call = heappop(self.waiting)
        if not work.set_running_or_notify_cancel():
            return
        _here.lane = self
        self.busy[get_ident()] = perf_counter()
        try:
            found = call()
        except BaseException as error:
            work.set_exception(error)
        else:
            work.set_result(found)
        finally:
            del self.busy[get_ident()]
