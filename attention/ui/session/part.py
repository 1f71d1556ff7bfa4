"""A part of a page, next to its view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Part:
    """A part next to the view. It is redrawn after the view, and only if it looks different.

    `look` returns everything that the part shows of the settings, except the values of the widgets of `knobs`; it returns
    None if the part is not shown at all. The widgets call `change` when they are moved. `blocks` is the number of
    elements that the part draws. `presented`: whether it is also drawn over a presentation.
    """

    name: str
    draw: Callable[[Any], None]
    look: Callable[[Any], object]
    knobs: frozenset[str] = frozenset()
    blocks: int = 1
    presented: bool = False
