"""Results that are kept as long as there is room: by key, bounded by their bytes, the least recently asked for gone first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import fields, is_dataclass
from functools import partial, update_wrapper
from sys import getsizeof
from threading import RLock
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np
from torch import Tensor

from attention.lanes import Work

P = ParamSpec("P")
T = TypeVar("T")


class Kept:
    """Work and what came of it, up to `most` bytes of results; the newest stays whatever its size.

    Whoever asks for what is under way shares it. What has failed is forgotten, so that the next one tries again. Memory
    that several results have in common counts once. A result belongs to everybody: nobody may change it.
    """

    def __init__(self, most: int) -> None:
        self.most, self.bytes, self.lock = most, 0, RLock()
        self.works = OrderedDict[Hashable, Work]()
        self.pieces: dict[Hashable, dict[int, int]] = {}  # bytes of each piece of memory of a result
        self.users: dict[int, int] = {}  # how many results have a piece

    def ask(self, key: Hashable, begin: Callable[[], Work[T]]) -> Work[T]:
        """The work of a key, begun if there is none; `begin` hands it to a lane and does nothing else."""
        with self.lock:
            found = self.works.get(key)
            if found is not None:
                self.works.move_to_end(key)
                return found
            found = self.works[key] = begin()
        found.add_done_callback(partial(self._done, key))
        return found

    def __call__(self, begin: Callable[P, Work[T]]) -> Asked[P, T]:
        """Makes a function that begins work one that keeps it, by the function's name and its arguments."""
        return Asked(self, begin)

    def clear(self) -> None:
        """Forgets everything."""
        with self.lock:
            for key in list(self.works):
                self._drop(key)

    def _done(self, key: Hashable, work: Work) -> None:
        with self.lock:
            if self.works.get(key) is not work:
                return
            if work.cancelled() or work.exception() is not None:
                self._drop(key)
                return
            self._count(key, dict(pieces(work.result())))
            for old in [key for key, other in self.works.items() if other.done()][:-1]:
                if self.bytes <= self.most:
                    return
                self._drop(old)

    def _count(self, key: Hashable, found: dict[int, int]) -> None:
        self.pieces[key] = found
        for piece, size in found.items():
            self.users[piece] = self.users.get(piece, 0) + 1
            self.bytes += size if self.users[piece] == 1 else 0

    def _drop(self, key: Hashable) -> None:
        del self.works[key]
        for piece, size in self.pieces.pop(key, {}).items():
            self.users[piece] -= 1
            if not self.users[piece]:
                del self.users[piece]
                self.bytes -= size


class Asked(Generic[P, T]):
    """A function whose results are kept: a call waits for them, `begin` does not."""

    def __init__(self, kept: Kept, begin: Callable[P, Work[T]]) -> None:
        self.kept, self.work = kept, begin
        update_wrapper(self, begin)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.begin(*args, **kwargs).result()

    def begin(self, *args: P.args, **kwargs: P.kwargs) -> Work[T]:
        """The work of these arguments, begun if there is none."""
        key = self.work.__qualname__, args, tuple(sorted(kwargs.items()))
        return self.kept.ask(key, partial(self.work, *args, **kwargs))


def pieces(value: Any) -> Iterator[tuple[int, int]]:
    """Where the memory of a result lies, and how many bytes are there: tensors and arrays, in whatever holds them."""
    if isinstance(value, Tensor):
        storage = value.untyped_storage()
        yield storage.data_ptr(), storage.nbytes()
    elif isinstance(value, np.ndarray):
        yield value.__array_interface__["data"][0], value.nbytes
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from pieces(getattr(value, field.name))
    elif isinstance(value, dict):
        yield from pieces(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from pieces(one)
    else:
        yield id(value), getsizeof(value)
