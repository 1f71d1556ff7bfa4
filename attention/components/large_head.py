"""One head of any length, large: a dragged rectangle, the wheel or keys choose a part, which the server makes anew.

The browser gets at most a square of pixels. What was chosen is shown at once, stretched from what is there.
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
    """Draws the cells of the head in focus, of which `first` are the first query and key.

    What was chosen last is `{"rows": [first, last], "cols": [first, last], "count"}`, None before; `on_frame` runs before
    the rerun that a choice causes. Without `zooms` nothing can be chosen.
    """
    data = message(config, cells, first, zooms=zooms)
    return component("large_head")(key=key, data=data, on_frame_change=on_frame or nothing).frame


def message(config: Config, cells: Cells, first: tuple[int, int], *, zooms: bool = True) -> bytes:
    """All that the browser gets."""
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
