"""Admission of work that needs much memory: it waits for free memory, in the order of arrival."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from math import inf
from threading import Condition
from time import monotonic

SMALL_SHARE = 1 / 16  # of all memory: work that needs no more never waits


class Admission:
    """The bytes of all running work, as a claim on memory; the same work counts once, however many users it has.

    Work that needs more than `most` begins once no bytes are in use. Code that holds a reservation may wait for
    executors; code in executors never waits here.
    """

    def __init__(self, most: int, clock: Callable[[], float] = monotonic) -> None:
        self.most, self.used_bytes, self.clock = most, 0, clock
        self.begun: dict[Hashable, float] = {}  # when work that is not little began
        self.users: Counter[Hashable] = Counter()
        self.waiting: deque[object] = deque()
        self.changed = Condition()

    def is_little(self, size: int) -> bool:
        """Whether work of this size never has to wait."""
        return size <= SMALL_SHARE * self.most

    @property
    def since(self) -> float:
        """The clock time at which the earliest running work that is not little began; infinite if there is no such work."""
        return min(list(self.begun.values()), default=inf)

    def would_fit(self, what: Hashable, size: int) -> bool:
        """Whether this work could begin at once, without waiting."""
        with self.changed:
            return self._passes(what, size) or (not self.waiting and self._room(size))

    @contextmanager
    def reserve(self, what: Hashable, size: int) -> Iterator[None]:
        """Counts `size` bytes while the block runs, after waiting for its turn and for free memory."""
        with self.changed:
            if not self._passes(what, size):
                me = object()
                self.waiting.append(me)
                self.changed.notify_all()
                self.changed.wait_for(lambda: what in self.users or (self.waiting[0] is me and self._room(size)))
                self.waiting.remove(me)
            if what not in self.users:
                self.used_bytes += size
                if not self.is_little(size):
                    self.begun[what] = self.clock()
            self.users[what] += 1
            self.changed.notify_all()
        try:
            yield
        finally:
            with self.changed:
                self.users[what] -= 1
                if not self.users[what]:
                    del self.users[what]
                    self.begun.pop(what, None)
                    self.used_bytes -= size
                self.changed.notify_all()

    @contextmanager
    def track(self, size: int) -> Iterator[None]:
        """Counts `size` bytes while the block runs, without waiting: for code in an executor, which never waits here."""
        with self.changed:
            self.used_bytes += size
        try:
            yield
        finally:
            with self.changed:
                self.used_bytes -= size
                self.changed.notify_all()

    def _passes(self, what: Hashable, size: int) -> bool:
        return what in self.users or self.is_little(size)

    def _room(self, size: int) -> bool:
        return self.used_bytes == 0 or self.used_bytes + size <= self.most

    @property
    def unevictable_bytes(self) -> int:
        """All bytes in use."""
        return self.used_bytes

    def give_back(self, size: int) -> None:
        """Does nothing: running work needs its memory."""

    def expire(self, before: float) -> None:
        """Does nothing, for the same reason."""
