"""Where calls pass, and standing there: a function that is put in the place of another for as long as anybody watches.

A place is a name in a module, a class or a namespace. Several may watch at once, each in a thread of its own: what stands in a
place is for all of them, and what was there comes back when the last one goes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

Around = Callable[[Any], Any]  # what a function becomes in its place


@dataclass
class Held:
    """A place that is held: by how many, what was there, and what stands there now."""

    owner: Any
    name: str
    original: Any
    standing: Any
    count: int = 1


@dataclass
class Places:
    """All places that are held at the moment."""

    lock: Lock = field(default_factory=Lock)
    held: dict[tuple[int, str], Held] = field(default_factory=dict)

    def take(self, owner: Any, name: str, around: Around) -> None:
        """Puts `around(what is there)` in a place, unless that has been done."""
        with self.lock:
            here = self.held.get((id(owner), name))
            if here:
                here.count += 1
                return
            original = getattr(owner, name)
            self.held[id(owner), name] = Held(owner, name, original, standing := around(original))
            setattr(owner, name, standing)

    def leave(self, owner: Any, name: str) -> None:
        """Puts back what was there, once nobody holds it any more and unless somebody else has replaced it since."""
        with self.lock:
            here = self.held[id(owner), name]
            here.count -= 1
            if here.count:
                return
            del self.held[id(owner), name]
            if getattr(owner, name) is here.standing:
                setattr(owner, name, here.original)


PLACES = Places()
