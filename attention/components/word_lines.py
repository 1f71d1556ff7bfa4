"""The tokens of one head, joined by lines whose width follows the weight: queries on the left, keys on the right.

The browser receives the weights as bytes. It highlights the lines of the token under the pointer and shows their weights.
It sends only a pinned query to the server.
"""

from __future__ import annotations

from collections.abc import Callable

from attention.charts import theme
from attention.codec import link
from attention.components.heads_grid import header
from attention.components.registry import component, nothing
from attention.config import Config
from attention.fitting import layers
from attention.number_format import format_head
from attention.pinned import sides_of
from attention.sources.providers import distributes, provenance, source_title
from attention.tables.rows import key_labels, labels
from attention.wire.cells import Cells, payload

DIFFERENCE = "B − A. "  # begins the heading of a saved picture
MOST = 300  # words per side


def word_lines(
    config: Config,
    cells: Cells,
    *,
    all_rows: bool = False,
    key: str = "lines",
    on_pin: Callable[[], None] | None = None,
    difference: bool = False,
) -> dict[str, int] | None:
    """Draws the cells of the selected head in the config's window. Returns the last pin as `{"query", "count"}` or None.

    `on_pin` runs before the rerun that a pin causes. The lines are those of the selected row, or of all rows if `all_rows`.
    With `difference`, the cells are B minus A of two sides, and the config is B.
    """
    data = message(config, cells, all_rows=all_rows, difference=difference)
    return component("word_lines")(key=key, data=data, on_pin_change=on_pin or nothing).pin


def message(config: Config, cells: Cells, *, all_rows: bool = False, difference: bool = False) -> bytes:
    """Returns the message to the browser: a header and `cells (1 q k)`, one cell per pair."""
    sides = sides_of(config) if difference else None
    names, window = (labels(config), key_labels(config)), config.window
    asked = header(config, theme.LINES_HEIGHT, "") | {
        "head": config.head,
        "query": config.query_index,
        "colors": "log" if config.color_scale == "times even" else config.color_scale,
        "first": [first for first, _ in window],
        "names": [texts[first:last] for texts, (first, last) in zip(names, window, strict=True)],
        "all": all_rows,
        "difference": difference,
        "rest": ""
        if distributes(config) and (not sides or distributes(sides.a))
        else None,  # whether weights are shares
        "heading": f"{DIFFERENCE if difference else ''}{_heading(config)}",
        "provenance": provenance(config),
        "link": link(config),
    }
    return payload(asked, cells)


def _heading(config: Config) -> str:
    """The heading of a saved picture: layer, head and source."""
    head = format_head(config.head, config.layer if len(layers(config.source)) > 1 else None)
    return f"{head}: {source_title(config.source)}"
