"""Lanes: threads that stay, each for one kind of work, ranked so that no work can ever wait for itself.

What runs in a lane may hand work to lanes of lower ranks only, and wait for these only; whoever tries otherwise gets a
Standstill at once, also where a thread happens to be free. So every chain of waits goes down, and at its end is a lane
that waits for nobody. Work that follows other work of any lane is begun by it (`after`) and waits nowhere.
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
EXECUTORS: WeakSet[RankedExecutor] = WeakSet()  # all that there are, for whoever watches over them


class DeadlockError(RuntimeError):
    """A thread of a lane was about to wait for a lane that may wait for it."""


class Task(Future, Generic[T]):
    """What a lane has been handed: a future that a thread of the same lane, or of a lower one, refuses to wait for."""

    def __init__(self, lane: RankedExecutor) -> None:
        super().__init__()
        self.lane = lane

    def result(self, timeout: float | None = None) -> T:
        """What came of it; raises Standstill where the caller may not wait for it."""
        return super().result(self._waitable(timeout))

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """What it failed with, None where it did not; raises Standstill as `result` does."""
        return super().exception(self._waitable(timeout))

    def _waitable(self, timeout: float | None) -> float | None:
        if not self.done():
            self.lane.require_lower_rank("wait for")
        return timeout


class RankedExecutor(Executor):
    """So many threads of a name; those of a higher rank may wait for it. `prepare` is called first in each of them.

    `pieces`: it is handed all pieces of something large at once, of which each waits for those before it, as it should.
    """

    def __init__(
        self, name: str, rank: int, threads: int, prepare: Callable[[], object] = one_thread, *, pieces: bool = False
    ) -> None:
        self.name, self.rank, self.pieces = name, rank, pieces
        self.threads = pool(threads, name, prepare)
        self.patience = 0.0
        self.waiting: list[tuple[float, int, Task, Callable[[], Any]]] = []  # by when it is due, then by when it came
        self.numbers = count()
        self.busy: dict[int, float] = {}  # since when, by its clock, each thread has had what it does
        EXECUTORS.add(self)

    def __repr__(self) -> str:
        return f"the lane {self.name!r} of rank {self.rank}"

    def low_priority(self, seconds: float) -> RankedExecutor:
        """The same threads, for work before which all that is handed to this lane within so many seconds may go."""
        found = copy(self)
        found.patience = seconds
        return found

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Task[T]:
        """Hands a call to a thread of this lane; raises Standstill from a lane that is not above it."""
        self.require_lower_rank("hand work to")
        work = self.new_future()
        self._begin(work, lambda: fn(*args, **kwargs))
        return work

    def then(self, earlier: Task[S], call: Callable[[S], T]) -> Task[T]:
        """Work of this lane that begins with what came of other work; where that fails, so does this. Nobody waits."""
        work = self.new_future()
        waiting = [work]  # given away when its time has come: the earlier work shall not keep what came of the later

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

    def new_future(self) -> Task:
        """Work whose result is set by a call that this lane has already."""
        return Task(self)

    def require_lower_rank(self, what: str) -> None:
        """Raises Standstill where the calling thread belongs to this lane or to one that is not above it."""
        here = getattr(_here, "lane", None)
        if here is not None and here.rank <= self.rank:
            raise DeadlockError(f"{here} may not {what} {self}: only lanes of lower ranks, lest both stand still.")

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends its threads once they have nothing to do."""
        self.threads.shutdown(wait, cancel_futures=cancel_futures)

    def _begin(self, work: Task[T], call: Callable[[], T]) -> None:
        heappush(self.waiting, (monotonic() + self.patience, next(self.numbers), work, call))
        self.threads.submit(self._next)

    def _next(self) -> None:
        """Does what is due first; there is as much of it as there are calls of this."""
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
