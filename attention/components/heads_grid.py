"""All heads at once: every head's weights as a square, pointed at, stepped through and pinned in the browser.

The browser gets the cells as bytes and does the rest by itself: colours, crosshair, numbers, the row under the pointer.
The server hears only of what was pinned.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from attention.cells import Cells, payload
from attention.charts import theme
from attention.codec import link
from attention.config import Config
from attention.tables import labels

SCRIPTS = ("heads_grid_cells", "heads_grid_layout", "heads_grid_readout", "heads_grid_picture", "heads_grid")


def heads_grid(
    config: Config,
    cells: Cells,
    *,
    key: str = "grid",
    height: int = theme.GRID_HEIGHT,
    on_pin: Callable[[], None] | None = None,
    note: str = "",
) -> dict[str, int] | None:
    """Draws the cells of a config; what was pinned last is `{"head", "query", "key", "count"}`, None before.

    `on_pin` runs before the rerun that a pin causes; in it `st.session_state[key]["pin"]` has the new one. A click,
    Enter or Space pins at once, arrow keys when they rest. `height`, in CSS pixels, is taken whatever the number of
    heads; in narrow windows the squares stand two in a row and take what they need. `note` is shown beside the squares.
    """
    data = payload(header(config, height, note), cells)
    return _mounted()(key=key, data=data, on_pin_change=on_pin or _nothing).pin


def header(config: Config, height: int, note: str) -> dict[str, Any]:
    """What the browser needs to know beside the cells."""
    return {
        "painted": link(config),
        "height": height,
        "note": note,
        "tokens": labels(config),
        "colors": config.colors,
        "focus": {"head": config.head, "query": config.row},
        "group": config.heads // config.groups,
        "floor": theme.LOG_FLOOR,
        "stops": theme.WEIGHTS,
        "accents": {"query": theme.QUERY, "key": theme.KEY},
        "head_colors": theme.HEADS,
        "neutrals": theme.NEUTRALS,
    }


def _nothing() -> None:
    """A callback must be named, or the component's result has no `pin`."""


@cache
def _mounted() -> ComponentRenderer:
    here = Path(__file__).parent
    script = "\n".join((here / f"{name}.js").read_text("utf-8") for name in SCRIPTS)
    page, style = (here / f"heads_grid.{kind}" for kind in ("html", "css"))
    # Not in a shadow root: whoever reads the page, a test or a screen reader, finds the grid in it.
    return st.components.v2.component(
        "attention_heads_grid",
        html=page.read_text("utf-8"),
        css=style.read_text("utf-8"),
        js=script,
        isolate_styles=False,
    )
