"""What somebody does in a picture, taken up as knobs: callbacks of our components and of the large head."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attention.config import LAST, LONGEST
from attention.ui.session.page import change, kept, setting, widgets


def pinned() -> None:
    """A cell was pinned in the grid of heads, whose key is "grid"."""
    _pinned("grid")


def placed() -> None:
    """A cell was pinned in the grid of all layers of a training, whose key is "grid"."""
    pin = _said("grid").get("pin") or {}
    if pin.get("query") == setting().what.tokens - 1:
        pin = pin | {"query": LAST}
    change(**{name: pin[name] for name in ("head", "query") if name in pin})


def joined() -> None:
    """A query was pinned among the words with lines, whose key is "lines"."""
    _pinned("lines")


def _pinned(key: str) -> None:
    pin = _said(key).get("pin") or {}
    if pin.get("query") == setting().tokens - 1:
        pin = pin | {"query": LAST}  # the last one stays the last when the length changes
    change(**{name: pin[name] for name in ("head", "query") if name in pin})


def layered(key: str = "layers") -> None:
    """A head was clicked in the map of layers and heads, or in another picture of this key. Each click has a turn of its own.

    A browser says what is chosen, and nothing when the same is chosen again, whatever was chosen elsewhere meanwhile.
    """
    cells = _said(key).get("selection", {}).get("cell", [])
    if cells:
        kept().turns += 1
        change(**{name: cells[-1][name] for name in ("layer", "head")})


def framed() -> None:
    """A rectangle was drawn in the large head, whose key is "focus"."""
    boxes = _said("focus").get("selection", {}).get("box", [])
    if boxes:
        change(rows=_range(boxes[-1]["y"]), cols=_range(boxes[-1]["x"]))


def looked() -> None:
    """A part was chosen in the large head of a long sequence, whose key is "focus"."""
    frame, last = _said("focus").get("frame") or {}, setting().tokens - 1
    change(
        **{name: "" if frame[name] == [0, last] else _range(frame[name]) for name in ("rows", "cols") if name in frame}
    )


def chosen() -> None:
    """A mask was chosen in the gallery, whose key is "gallery"."""
    choice = _said("gallery").get("choice") or {}
    change(**{name: choice[name] for name in ("mask", "combine", "second") if name in choice})


def stepped() -> None:
    """A step was turned to in the matrices, whose key is "matrices"."""
    turn = _said("matrices").get("turn") or {}
    change(**{name: turn[name] for name in ("step", "steps") if name in turn})


def picked() -> None:
    """A cell was pinned in the matrices: its head, and its query where its rows are queries."""
    pin = _said("matrices").get("pin") or {}
    change(**{name: pin[name] for name in ("head", "query") if name in pin})


def _said(key: str) -> Mapping[str, Any]:
    """What a component of this key has said last."""
    return widgets().get(key) or {}


def _range(ends: list[float]) -> str:
    """Two positions on an axis of tokens as the knobs `rows` and `cols` say it."""
    first, last = sorted(min(LONGEST - 1, max(0, round(end))) for end in ends)
    return f"{first}-{last}"
