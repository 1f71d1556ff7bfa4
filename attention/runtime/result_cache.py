"""A cache of results by key, bounded by their bytes; the least recently requested are evicted first."""

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

ENTRY_BYTES = 4096  # bytes that a result counts in addition to its tensors, arrays and bytes
WITHOUT_BYTES = frozenset({str, int, float, bool, complex, type(None)})  # types whose bytes are not counted
FILL_LIMIT = 7 / 8  # share of `most` to which results are evicted, so that not every new one evicts again


@dataclass(eq=False)
class Entry:
    """A task, its last request, by count and by clock, and the bytes of each piece of memory of its result."""

    work: Task
    asked: int
    when: float
    pieces: dict[int, int] = field(default_factory=dict)


class ResultCache:
    """Tasks and their results, up to `most` bytes of results; the newest stays whatever its size.

    Requests for a running task share it. A failed task is forgotten, so that the next request tries again. Memory that
    several results have in common counts once. Results are shared and must not be modified. Entries requested after
    `since()` are in use and not evicted to make room: eviction would free nothing and force a second computation.
    """

    def __init__(
        self, most: int, clock: Callable[[], float] = monotonic, since: Callable[[], float] = lambda: inf
    ) -> None:
        self.most, self.bytes, self.asked, self.lock = most, 0, 0, RLock()
        self.clock, self.since = clock, since
        self.entries: dict[Hashable, Entry] = {}
        self.users: dict[int, int] = {}  # how many results share a piece of memory

    def ask(self, key: Hashable, begin: Callable[[], Task[T]]) -> Task[T]:
        """Returns the task of a key, started if there is none; `begin` submits it to an executor and does nothing else."""
        with self.lock:
            self.asked = asked = self.asked + 1
            found = self.entries.get(key)
            if found is not None:
                found.asked, found.when = asked, self.clock()
                return found.work
            found = self.entries[key] = Entry(begin(), asked, self.clock())
        told = [found]  # emptied when done: in a cycle, task and entry would be freed by the next collection only
        found.work.add_done_callback(lambda _: self._finish(key, told.pop()))
        return found.work

    def __call__(self, begin: Callable[P, Task[T]]) -> Cached[P, T]:
        """Turns a function that starts a task into one that caches results, by function and arguments."""
        return Cached(self, begin, lambda value: value)

    @property
    def used_bytes(self) -> int:
        """Bytes of all results."""
        return self.bytes

    unevictable_bytes = 0

    def clear(self) -> None:
        """Drops everything."""
        with self.lock:
            for key in list(self.entries):
                self._drop(key)

    def expire(self, before: float) -> None:
        """Drops results that were not requested since this clock time."""
        with self.lock:
            for key in [key for key, entry in self.entries.items() if entry.pieces and entry.when < before]:
                self._drop(key)

    def give_back(self, size: int) -> None:
        """Drops about `size` bytes of the least recently requested results."""
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
    """A function whose results are cached: a call waits for them, `begin` does not.

    `reduce` returns the part of an argument that matters, which is the key and what the function gets.
    """

    def __init__(self, kept: ResultCache, begin: Callable[P, Task[T]], reduce: Callable[[Any], Any]) -> None:
        self.kept, self.work, self.reduce = kept, begin, reduce
        update_wrapper(self, begin)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.begin(*args, **kwargs).result()

    def begin(self, *args: P.args, **kwargs: P.kwargs) -> Task[T]:
        """Returns the task of these arguments, started if there is none."""
        some, named = map(self.reduce, args), {name: self.reduce(value) for name, value in kwargs.items()}
        call = partial(self.work, *some, **named)
        return self.kept.ask((self.work, call.args, tuple(sorted(named.items()))), call)


def pieces(value: Any) -> Iterator[tuple[int, int]]:
    """Yields address and bytes of each piece of memory of a result: tensors, arrays and bytes, in any container."""
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
    """Returns the parts of a container, or of an object with fields, that may have memory of their own."""
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, (list, tuple)):
        return value
    return vars(value).values() if is_dataclass(value) else ()
