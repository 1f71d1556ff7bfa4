"""The map of one head at any length, enlarged: a dragged rectangle, the wheel or keys select a part to zoom into.

The browser receives a map of limited size. A selected part is shown immediately, stretched from the cells that the browser
has, until the server has computed its cells.
"""

from __future__ import annotations

from collections.abc import Callable

from attention.charts import theme
from attention.components.heads_grid import header
from attention.components.registry import component, nothing
from attention.config import Config
from attention.tables.rows import labels
from attention.wire.cells import Cells, payload


def large_head(
    config: Config,
    cells: Cells,
    first: tuple[int, int],
    *,
    key: str = "focus",
    zooms: bool = True,
    on_frame: Callable[[], None] | None = None,
) -> dict[str, list[int]] | None:
    """Draws the cells of the selected head; `first` are their first query and key.

    Returns the last selected part as `{"rows": [first, last], "cols": [first, last], "count"}`, None before the first.
    `on_frame` runs before the rerun that a selection causes. Without `zooms`, no part can be selected.
    """
    data = message(config, cells, first, zooms=zooms)
    return component("large_head")(key=key, data=data, on_frame_change=on_frame or nothing).frame


def message(config: Config, cells: Cells, first: tuple[int, int], *, zooms: bool = True) -> bytes:
    """Returns the message to the browser."""
    names = labels(config) if cells.tile == 1 else []
    rows, cols = (names[start : start + count] for start, count in zip(first, (cells.queries, cells.keys), strict=True))
    asked = header(config, theme.FOCUS_HEIGHT, "") | {
        "head": config.head,
        "query": config.query_index,
        "first": first,
        "tokens": config.tokens,
        "names": [rows, cols],
        "zooms": zooms,
    }
    return payload(asked, cells)
