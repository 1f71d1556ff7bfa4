"""Results that are kept as long as there is room: by key, bounded by their bytes, the least recently asked for gone first."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, is_dataclass
from functools import partial, update_wrapper
from math import inf
from threading import RLock
from time import monotonic
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np
from torch import Tensor

from attention.runtime.executors import Task

P = ParamSpec("P")
T = TypeVar("T")

ENTRY_BYTES = 4096  # bytes that a result counts with beside its tensors, arrays and bytes
WITHOUT_BYTES = frozenset({str, int, float, bool, complex, type(None)})  # of no bytes that count
FILL_LIMIT = 7 / 8  # of the bytes that are left when room is made: not for every result anew


@dataclass(eq=False)
class Entry:
    """Work of a key, when it was last asked for, by count and by the clock, and the bytes of each piece of its result."""

    work: Task
    asked: int
    when: float
    pieces: dict[int, int] = field(default_factory=dict)


class ResultCache:
    """Work and what came of it, up to `most` bytes of results; the newest stays whatever its size.

    Whoever asks for what is under way shares it. What has failed is forgotten, so that the next one tries again. Memory
    that several results have in common counts once. A result belongs to everybody: nobody may change it. What was asked for
    `since` a time of the clock is in somebody's hands and not dropped: its memory would stay, and be taken once more by
    whoever asks next.
    """

    def __init__(
        self, most: int, clock: Callable[[], float] = monotonic, since: Callable[[], float] = lambda: inf
    ) -> None:
        self.most, self.bytes, self.asked, self.lock = most, 0, 0, RLock()
        self.clock, self.since = clock, since
        self.entries: dict[Hashable, Entry] = {}
        self.users: dict[int, int] = {}  # how many results have a piece of memory

    def ask(self, key: Hashable, begin: Callable[[], Task[T]]) -> Task[T]:
        """The work of a key, begun if there is none; `begin` hands it to a lane and does nothing else."""
        with self.lock:
            self.asked = asked = self.asked + 1
            found = self.entries.get(key)
            if found is not None:
                found.asked, found.when = asked, self.clock()
                return found.work
            found = self.entries[key] = Entry(begin(), asked, self.clock())
        told = [found]  # given away: work that held on to its entry would be freed by the next collection only
        found.work.add_done_callback(lambda _: self._finish(key, told.pop()))
        return found.work

    def __call__(self, begin: Callable[P, Task[T]]) -> Cached[P, T]:
        """Makes a function that begins work one that keeps it, by the function and its arguments."""
        return Cached(self, begin)

    @property
    def used_bytes(self) -> int:
        """Bytes of all results."""
        return self.bytes

    unevictable_bytes = 0

    def clear(self) -> None:
        """Forgets everything."""
        with self.lock:
            for key in list(self.entries):
                self._drop(key)

    def expire(self, before: float) -> None:
        """Drops what nobody has asked for since this time of the clock."""
        with self.lock:
            for key in [key for key, entry in self.entries.items() if entry.pieces and entry.when < before]:
                self._drop(key)

    def give_back(self, size: int) -> None:
        """Drops about so many bytes, of what was asked for longest ago."""
        with self.lock:
            self._make_room(self.bytes - size)

    def _finish(self, key: Hashable, entry: Entry) -> None:
        failed = entry.work.cancelled() or entry.work.exception() is not None
        found = {} if failed else dict(pieces(entry.work.result()))
        with self.lock:
            if self.entries.get(key) is not entry:
                return
            if failed:
                self._drop(key)
                return
            self._count(entry, found)
            if self.bytes > self.most:
                self._make_room(FILL_LIMIT * self.most)

    def _count(self, entry: Entry, found: dict[int, int]) -> None:
        entry.pieces = {id(entry): ENTRY_BYTES, **found}
        for piece, size in entry.pieces.items():
            self.users[piece] = self.users.get(piece, 0) + 1
            self.bytes += size if self.users[piece] == 1 else 0

    def _make_room(self, most: float) -> None:
        before = self.since()
        done = [key for key, entry in self.entries.items() if entry.pieces]
        for key in sorted(done, key=lambda key: self.entries[key].asked)[:-1]:
            if self.bytes <= most or self.entries[key].when >= before:
                return
            self._drop(key)

    def _drop(self, key: Hashable) -> None:
        for piece, size in self.entries.pop(key).pieces.items():
            self.users[piece] -= 1
            if not self.users[piece]:
                del self.users[piece]
                self.bytes -= size


class Cached(Generic[P, T]):
    """A function whose results are kept: a call waits for them, `begin` does not."""

    def __init__(self, kept: ResultCache, begin: Callable[P, Task[T]]) -> None:
        self.kept, self.work = kept, begin
        update_wrapper(self, begin)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.begin(*args, **kwargs).result()

    def begin(self, *args: P.args, **kwargs: P.kwargs) -> Task[T]:
        """The work of these arguments, begun if there is none."""
        key = self.work, args, tuple(sorted(kwargs.items()))
        return self.kept.ask(key, partial(self.work, *args, **kwargs))


def pieces(value: Any) -> Iterator[tuple[int, int]]:
    """Where the memory of a result lies, and how many bytes are there: tensors, arrays and bytes, in whatever holds them."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Tensor):
            storage = value.untyped_storage()
            yield storage.data_ptr(), storage.nbytes()
        elif isinstance(value, np.ndarray):
            yield value.__array_interface__["data"][0], value.nbytes
        elif isinstance(value, bytes):
            yield id(value), len(value)
        else:
            waiting += [one for one in _memory_holders(value) if type(one) not in WITHOUT_BYTES]


def _memory_holders(value: Any) -> Iterable[Any]:
    """What may have memory of its own in a container or an object with fields."""
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, (list, tuple)):
        return value
    return vars(value).values() if is_dataclass(value) else ()
