"""A part of a page that stands beside its view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Part:
    """What stands beside the view and is drawn anew, after it, only where it looks different.

    `look` is whatever of the settings it shows, beside the values that people set there in the widgets of the knobs `knobs`,
    and None where it is not there at all. The widgets call `change` when they are moved. It draws so many `blocks`.
    """

    name: str
    draw: Callable[[Any], None]
    look: Callable[[Any], object]
    knobs: frozenset[str] = frozenset()
    blocks: int = 1
