"""The words of one head with lines by weight, queries on the left and keys on the right.

The browser gets the weights as bytes and does the rest by itself: it lights the lines of a word that is pointed at, and says
their weights. The server hears only of a query that was pinned.
"""

from __future__ import annotations

from collections.abc import Callable

from attention.charts import theme
from attention.codec import link
from attention.components.heads_grid import header
from attention.components.registry import component, nothing
from attention.config import Config, layers
from attention.sources.providers import provenance, source_title
from attention.tables.rows import key_labels, labels
from attention.wire.cells import Cells, payload

MOST = 300  # words a side


def word_lines(
    config: Config,
    cells: Cells,
    *,
    all_rows: bool = False,
    key: str = "lines",
    on_pin: Callable[[], None] | None = None,
) -> dict[str, int] | None:
    """Draws the cells of the head in focus, those of the config's window; what was pinned last is `{"query", "count"}`.

    `on_pin` runs before the rerun that a pin causes. The lines are those of the row in focus, or of `all_rows`.
    """
    data = message(config, cells, all_rows=all_rows)
    return component("word_lines")(key=key, data=data, on_pin_change=on_pin or nothing).pin


def message(config: Config, cells: Cells, *, all_rows: bool = False) -> bytes:
    """All that the browser gets: `cells (1 q k)`, a cell a pair."""
    names, window = (labels(config), key_labels(config)), config.window
    asked = header(config, theme.LINES_HEIGHT, "") | {
        "head": config.head,
        "query": config.query_index,
        "colors": "log" if config.color_scale == "times even" else config.color_scale,
        "first": [first for first, _ in window],
        "names": [texts[first:last] for texts, (first, last) in zip(names, window, strict=True)],
        "all": all_rows,
        "heading": _heading(config),
        "provenance": provenance(config),
        "link": link(config),
    }
    return payload(asked, cells)


def _heading(config: Config) -> str:
    """Whose words these are, above a file of them."""
    layer = f"Layer {config.layer}, head" if len(layers(config.source)) > 1 else "Head"
    return f"{layer} {config.head}: {source_title(config.source)}"
