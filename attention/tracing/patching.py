"""Replaces functions by wrappers while a model is watched.

A place is a name in a module, a class or a namespace. There may be several watchers, each in a thread of its own:
they share the wrapper in a place, and the original returns when the last of them leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

Around = Callable[[Any], Any]  # makes the wrapper of a function


@dataclass
class Held:
    """A replaced function: its place, the original, its wrapper (`standing`), and the number of watchers."""

    owner: Any
    name: str
    original: Any
    standing: Any
    count: int = 1


@dataclass
class Places:
    """All functions that are replaced at the moment."""

    lock: Lock = field(default_factory=Lock)
    held: dict[tuple[int, str], Held] = field(default_factory=dict)

    def take(self, owner: Any, name: str, around: Around) -> None:
        """Replaces the function in a place by `around(original)`, unless that has been done."""
        with self.lock:
            here = self.held.get((id(owner), name))
            if here:
                here.count += 1
                return
            original = getattr(owner, name)
            self.held[id(owner), name] = Held(owner, name, original, standing := around(original))
            setattr(owner, name, standing)

    def leave(self, owner: Any, name: str) -> None:
        """Restores the original after the last watcher, unless the function has been replaced by others since."""
        with self.lock:
            here = self.held[id(owner), name]
            here.count -= 1
            if here.count:
                return
            del self.held[id(owner), name]
            if getattr(owner, name) is here.standing:
                setattr(owner, name, here.original)


PLACES = Places()
