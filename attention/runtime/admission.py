"""Who may begin what needs much memory while others are at it: as many as there is room for, in the order in which they came."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from math import inf
from threading import Condition
from time import monotonic

SMALL_SHARE = 1 / 16  # of all there is: who needs no more never waits


class Admission:
    """Bytes of all that is under way, as a claim on memory; the same thing counts once, however many are at it.

    Who needs more than there is goes on once nobody else is at anything. Whoever holds some may wait for lanes, and lanes never
    wait here.
    """

    def __init__(self, most: int, clock: Callable[[], float] = monotonic) -> None:
        self.most, self.used_bytes, self.clock = most, 0, clock
        self.begun: dict[Hashable, float] = {}  # when whatever is not little was
        self.users: Counter[Hashable] = Counter()
        self.waiting: deque[object] = deque()
        self.changed = Condition()

    def is_little(self, size: int) -> bool:
        """Does nobody have to wait for so many bytes?"""
        return size <= SMALL_SHARE * self.most

    @property
    def since(self) -> float:
        """The time of the clock at which the first of what is not little was begun; infinite where nothing is."""
        return min(list(self.begun.values()), default=inf)

    def would_fit(self, what: Hashable, size: int) -> bool:
        """Could this begin at once, without waiting?"""
        with self.changed:
            return self._passes(what, size) or (not self.waiting and self._room(size))

    @contextmanager
    def reserve(self, what: Hashable, size: int) -> Iterator[None]:
        """Counts so many bytes while the block runs, which begins once it is its turn and there is room."""
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
        """Counts so many bytes while the block runs, which begins at once: for a lane, where no two are at it."""
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
        """All of it."""
        return self.used_bytes

    def give_back(self, size: int) -> None:
        """What is under way is needed."""

    def expire(self, before: float) -> None:
        """The same."""
