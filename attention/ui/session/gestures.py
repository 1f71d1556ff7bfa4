"""Callbacks that turn what the user does in a picture into knobs: for our components and for the large head.

The value of a component is whatever arrived over the websocket. A value that does not have the form its picture sends is
ignored; a value that a knob cannot have is refused when knobs are checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from attention.knobs import LAST_QUERY, MAX_TOKENS
from attention.ui.session.page import change, setting, visit_state, widgets

NOTHING: Mapping[str, int] = {}


def on_grid_pin() -> None:
    """A cell was pinned in the grid of heads, whose key is "grid"."""
    _apply_pin("grid")


def on_percent() -> None:
    """Weights are to be coloured by percent, not by multiples of the uniform weight."""
    change(colors="linear")


def on_side_pin() -> None:
    """A cell was pinned in the grid of side A beside that of B, whose key is "grid a"."""
    _apply_pin("grid a")


def on_training_pin() -> None:
    """A cell was pinned in the grid of all layers of a training, whose key is "grid"."""
    _apply_pin("grid")


def on_lines_pin(key: str = "lines") -> None:
    """A query was pinned in the line view, or in the one of side A with this `key`."""
    _apply_pin(key)


def on_sentence_pin(key: str = "sentence") -> None:
    """A token was chosen in a head over a sentence with this `key`."""
    change(**_of(_component_event(key, "pin"), "query"))


def on_row_pin(key: str) -> None:
    """A row was clicked in the map of a head with this `key`: selects it, or no row if it was selected."""
    if pin := _of(_component_event(key, "pin"), "query"):
        change(query=LAST_QUERY if pin["query"] == getattr(setting(), "query", LAST_QUERY) else pin["query"])


def on_pair_pin(key: str) -> None:
    """A token or a cell was chosen in a head over a sentence with this `key`; a token has no key that was chosen with it."""
    if pin := _of(_component_event(key, "pin"), "query", "key"):
        change(**({"key": -1} | pin))


def _apply_pin(key: str) -> None:
    pin, about = _component_event(key, "pin"), setting()
    if (
        pin.get("query") == getattr(getattr(about, "what", about), "tokens", 0) - 1
    ):  # of a training's task, or of a config
        pin = {**pin, "query": LAST_QUERY}  # the last one stays the last when the length changes
    change(**_of(pin, "head", "query"))


def on_layer_click(key: str = "layers", more: Mapping[str, int] = NOTHING) -> None:
    """A head was clicked in the map of layers and heads, or in another picture with this `key`. Increments `turns`.

    `more`: knobs that are set with it.

    A browser sends the selection, and sends nothing if the same head is selected again, whatever was selected elsewhere
    meanwhile.
    """
    if clicked := clicked_head(key):
        visit_state().turns += 1
        change(**clicked, **more)


def clicked_head(key: str) -> dict[str, Any]:
    """The layer and the head of the last click in the map with this `key`; empty if there is none."""
    cells = _component_event(key, "selection").get("cell")
    return _of(_mapping(cells[-1]), "layer", "head") if isinstance(cells, list) and cells else {}


def on_zoom() -> None:
    """A rectangle was dragged in the large head, whose key is "focus"."""
    boxes = _component_event("focus", "selection").get("box")
    box = _mapping(boxes[-1]) if isinstance(boxes, list) and boxes else {}
    change(**{name: _range(box[axis]) for name, axis in (("rows", "y"), ("cols", "x")) if _ends(box.get(axis))})


def on_part_choice(key: str = "focus") -> None:
    """A part was chosen in the large head of a long sequence or of a comparison, or in the one of side A with this `key`."""
    frame, about = _component_event(key, "frame"), setting()
    sizes = {"rows": getattr(about, "tokens", 0), "cols": getattr(about, "n_keys", 0)}
    known = {name: frame[name] for name in sizes if _ends(frame.get(name))}
    change(**{name: "" if ends == [0, sizes[name] - 1] else _range(ends) for name, ends in known.items()})


def on_mask_choice() -> None:
    """A mask was chosen in the gallery, whose key is "gallery"."""
    change(**_of(_component_event("gallery", "choice"), "mask", "combine", "second"))


def on_step_choice(key: str = "matrices") -> None:
    """A step was opened in the matrices, or in those of side A with this `key`."""
    change(**_of(_component_event(key, "turn"), "step", "steps"))


def on_matrix_pin(key: str = "matrices") -> None:
    """A cell was pinned in the matrices with this `key`: selects its head, and its query if the rows are queries."""
    change(**_of(_component_event(key, "pin"), "head", "query"))


def _component_event(key: str, name: str) -> Mapping[str, Any]:
    """The last value of the event `name` from the component `key`; empty if there is none of the right form."""
    return _mapping(_mapping(widgets().get(key)).get(name))


def _mapping(said: Any) -> Mapping[str, Any]:
    return said if isinstance(said, Mapping) else {}


def _of(said: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The values of these knobs; lists and objects are left out."""
    return {name: said[name] for name in names if isinstance(said.get(name), (str, int, float))}


def _ends(said: Any) -> bool:
    """Whether this is a pair of positions on an axis."""
    two = isinstance(said, list) and len(said) == 2
    return two and all(isinstance(end, (int, float)) and isfinite(end) for end in said)


def _range(ends: list[float]) -> str:
    """Two positions on an axis of tokens, in the format of the knobs `rows` and `cols`."""
    first, last = sorted(min(MAX_TOKENS - 1, max(0, round(end))) for end in ends)
    return f"{first}-{last}"
