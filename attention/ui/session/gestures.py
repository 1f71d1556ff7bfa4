"""What somebody does in a picture, taken up as knobs: callbacks of our components and of the large head.

What a component says is whatever came over the websocket: what is not of the form that its picture sends is nothing at all,
and a value that a knob can't have is refused where knobs are checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from attention.config import LAST_QUERY, MAX_TOKENS
from attention.ui.session.page import change, setting, visit_state, widgets


def on_grid_pin() -> None:
    """A cell was pinned in the grid of heads, whose key is "grid"."""
    _apply_pin("grid")


def on_training_pin() -> None:
    """A cell was pinned in the grid of all layers of a training, whose key is "grid"."""
    _apply_pin("grid")


def on_lines_pin() -> None:
    """A query was pinned among the words with lines, whose key is "lines"."""
    _apply_pin("lines")


def _apply_pin(key: str) -> None:
    pin, about = _component_event(key, "pin"), setting()
    if (
        pin.get("query") == getattr(getattr(about, "what", about), "tokens", 0) - 1
    ):  # of a training's task, or of a config
        pin = {**pin, "query": LAST_QUERY}  # the last one stays the last when the length changes
    change(**_of(pin, "head", "query"))


def on_layer_click(key: str = "layers") -> None:
    """A head was clicked in the map of layers and heads, or in another picture of this key. Each click has a turn of its own.

    A browser says what is chosen, and nothing when the same is chosen again, whatever was chosen elsewhere meanwhile.
    """
    cells = _component_event(key, "selection").get("cell")
    if isinstance(cells, list) and cells:
        visit_state().turns += 1
        change(**_of(_mapping(cells[-1]), "layer", "head"))


def on_zoom() -> None:
    """A rectangle was drawn in the large head, whose key is "focus"."""
    boxes = _component_event("focus", "selection").get("box")
    box = _mapping(boxes[-1]) if isinstance(boxes, list) and boxes else {}
    change(**{name: _range(box[axis]) for name, axis in (("rows", "y"), ("cols", "x")) if _ends(box.get(axis))})


def on_part_choice() -> None:
    """A part was chosen in the large head of a long sequence, whose key is "focus"."""
    frame, last = _component_event("focus", "frame"), getattr(setting(), "tokens", 0) - 1
    known = {name: frame[name] for name in ("rows", "cols") if _ends(frame.get(name))}
    change(**{name: "" if ends == [0, last] else _range(ends) for name, ends in known.items()})


def on_mask_choice() -> None:
    """A mask was chosen in the gallery, whose key is "gallery"."""
    change(**_of(_component_event("gallery", "choice"), "mask", "combine", "second"))


def on_step_choice() -> None:
    """A step was turned to in the matrices, whose key is "matrices"."""
    change(**_of(_component_event("matrices", "turn"), "step", "steps"))


def on_matrix_pin() -> None:
    """A cell was pinned in the matrices: its head, and its query where its rows are queries."""
    change(**_of(_component_event("matrices", "pin"), "head", "query"))


def _component_event(key: str, name: str) -> Mapping[str, Any]:
    """What a component of this key has said last by a name; nothing where it has said nothing of the kind."""
    return _mapping(_mapping(widgets().get(key)).get(name))


def _mapping(said: Any) -> Mapping[str, Any]:
    return said if isinstance(said, Mapping) else {}


def _of(said: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """What was said of these knobs, of which none holds a list or an object."""
    return {name: said[name] for name in names if isinstance(said.get(name), (str, int, float))}


def _ends(said: Any) -> bool:
    """Are these two positions on an axis?"""
    two = isinstance(said, list) and len(said) == 2
    return two and all(isinstance(end, (int, float)) and isfinite(end) for end in said)


def _range(ends: list[float]) -> str:
    """Two positions on an axis of tokens as the knobs `rows` and `cols` say it."""
    first, last = sorted(min(MAX_TOKENS - 1, max(0, round(end))) for end in ends)
    return f"{first}-{last}"
