"""The map of one head at any length, enlarged: a dragged rectangle, the wheel or keys select a part to zoom into.

The browser receives a map of limited size. A selected part is shown immediately, stretched from the cells that the browser
has, until the server has computed its cells.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from attention.charts import theme
from attention.comparison.pooling import Differences
from attention.components.heads_grid import difference_header, header
from attention.components.registry import component, nothing
from attention.config import Config
from attention.tables.rows import key_labels, labels
from attention.wire.cells import Cells, payload
from attention.wire.difference_cells import difference_payload
from attention.wire.kept_bytes import Kept


class Marks(NamedTuple):
    """Marks over the cells: the tokens at which a text `starts` again, and a framed `pair`.

    Each start but the first has a line. `says`: the pair in words, shown while the pointer is on no cell. `hides`: the
    weights are hidden: all cells have one colour, and the visible ones of the selected row a question mark.
    """

    starts: list[int]
    pair: tuple[int, int] | None = None
    says: str = ""
    hides: bool = False


def large_head(
    config: Config,
    cells: Cells,
    first: tuple[int, int],
    *,
    key: str = "focus",
    zooms: bool = True,
    on_frame: Callable[[], None] | None = None,
    kept: Kept | None = None,
    height: int = theme.FOCUS_HEIGHT,
    marks: Marks | None = None,
    on_pin: Callable[[], None] | None = None,
) -> dict[str, list[int]] | None:
    """Draws the cells of the selected head; `first` are their first query and key.

    Returns the last selected part as `{"rows": [first, last], "cols": [first, last], "count"}`, None before the first.
    `on_frame` runs before the rerun that a selection causes. Without `zooms`, no part can be selected. `kept`: whether
    the browser keeps the cells. `height`: in pixels, with the axes. `marks`: lines and a frame over the cells.
    `on_pin`: runs if a row is clicked.
    """
    data = message(config, cells, first, zooms=zooms, kept=kept, height=height, marks=marks, pins=on_pin is not None)
    return _mount(key, data, on_frame, kept, on_pin)


def _mount(
    key: str,
    data: bytes,
    on_frame: Callable[[], None] | None,
    kept: Kept | None,
    on_pin: Callable[[], None] | None = None,
) -> dict[str, list[int]] | None:
    events = {"on_lost_change": kept.on_lost} if kept else {}
    events |= {"on_frame_change": on_frame or nothing, "on_pin_change": on_pin or nothing}
    return component("large_head")(key=key, data=data, **events).frame


def message(
    config: Config,
    cells: Cells,
    first: tuple[int, int],
    *,
    zooms: bool = True,
    kept: Kept | None = None,
    height: int = theme.FOCUS_HEIGHT,
    marks: Marks | None = None,
    pins: bool = False,
) -> bytes:
    """Returns the message to the browser."""
    about = header(config, height, "") | _part(config, cells, first, zooms) | {"pins": pins}
    about |= {"marks": marks._asdict()} if marks else {}
    return payload(about, cells, kept)


def large_difference(
    config: Config,
    found: Differences,
    first: tuple[int, int],
    *,
    key: str = "focus",
    on_frame: Callable[[], None] | None = None,
    kept: Kept | None = None,
) -> dict[str, list[int]] | None:
    """Draws the differences of one head of two sides, as `large_head` draws the cells of one; `config` is side B.

    `kept`: whether the browser keeps the codes of A.
    """
    return _mount(key, difference_message(config, found, first, kept), on_frame, kept)


def difference_message(config: Config, found: Differences, first: tuple[int, int], kept: Kept | None = None) -> bytes:
    """Returns the message of the differences of one head to the browser."""
    about = difference_header(config, theme.FOCUS_HEIGHT)
    return difference_payload(about | _part(config, found, first, True), found, kept)


def _part(config: Config, cells: Cells | Differences, first: tuple[int, int], zooms: bool) -> dict[str, Any]:
    """Returns the keys of the header that say which part of which head it is."""
    sides = zip((labels(config), key_labels(config)), first, (cells.queries, cells.keys), strict=True)
    return {
        "head": config.head,
        "query": config.query_index,
        "first": first,
        "sizes": [config.tokens, config.n_keys],
        "names": [names[start : start + count] if cells.tile == 1 else [] for names, start, count in sides],
        "zooms": zooms,
    }
