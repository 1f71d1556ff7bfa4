"""The selected head enlarged, in an expander.

It is closed by default: the grid shows the same, unless the head has more cells than pixels there or only a part is selected.
"""

from __future__ import annotations

from functools import partial

import streamlit as st
import torch

from attention.charts import heatmap, theme
from attention.components.large_head import Marks, large_difference, large_head
from attention.config import Config
from attention.pinned import Sides, sides_of
from attention.sources.providers import distributes
from attention.tables import rows as tables
from attention.ui import results
from attention.ui.session import gestures, page
from attention.ui.session.kept_bytes import kept_bytes
from attention.ui.text import comparing
from attention.ui.text import heads as text
from attention.ui.views import heads_compared, questions
from attention.ui.views import heads_parts as parts
from attention.wire.cells import cells

WINDOW = ("rows", "cols")  # knobs of the part that is enlarged
LABELLED = 24  # tokens up to which the selected head in the grid has a label per token
FOLD = "large head"  # key of the expander; its value says whether it is open


def large(config: Config) -> None:
    """Draws the expander, and the head if it is open: dragging a rectangle zooms in, as finely as pixels allow.

    In a comparison, it is the head of the sides that are shown, or the difference of both. It is not offered where the grid
    shows every token with its label.
    """
    if not config.against and not _shows_more_than_grid(config) and max(config.tokens, config.n_keys) <= LABELLED:
        st.empty()  # replaces the expander of another length
        return
    if page.widgets().get(FOLD) is None or page.visit_state().large is not _shows_more_than_grid(config):
        page.widgets()[FOLD] = page.visit_state().large = _shows_more_than_grid(config)
    fold = st.expander(text.ENLARGE, icon=":material/zoom_in:", key=FOLD, on_change="rerun")
    if fold.open:
        with fold:
            if sides := sides_of(config):
                _of_sides(sides)
            else:
                _large_head(config)


def _shows_more_than_grid(config: Config) -> bool:
    """Whether it shows what the grid does not."""
    return bool(config.rows or config.cols) or max(config.tokens, config.n_keys) > theme.side(config.heads)


def _of_sides(sides: Sides) -> None:
    """Draws the head of the sides that are shown, beside each other, or the difference of both."""
    if not (shown := heads_compared.sides_to_show(sides)):
        _difference(sides)
        return
    for place, side in zip(heads_compared.places_of(shown, "both sides large"), shown, strict=True):
        with place:
            st.caption(heads_compared.side_name(sides, side))
            _side(side, "focus" if side is shown[-1] else "focus a", is_a=side is not sides.b)


def _side(side: Config, key: str, is_a: bool) -> None:
    """Draws the head of one side; the browser keeps that of A while B changes."""
    parts.extent(*side.window, tables.focus_tile(side, heatmap.PIXELS), text.ZOOM)
    cells = results.heads.part(side, side.head, side.window, heatmap.PIXELS)
    first, kept = (side.window[0][0], side.window[1][0]), kept_bytes(key) if is_a else None
    large_head(side, cells, first, key=key, on_frame=partial(gestures.on_part_choice, key), kept=kept)


def _difference(sides: Sides) -> None:
    """Draws B minus A of the selected heads: a tile shows the difference of largest size in it, at its place."""
    config, pair = sides.b, (sides.a.head, sides.b.head)
    parts.extent(*config.window, tables.focus_tile(config, heatmap.PIXELS), comparing.STRIPES)
    found = results.heads.part_differences(*sides[:2], pair, config.window, heatmap.PIXELS)
    first = config.window[0][0], config.window[1][0]
    large_difference(config, found, first, on_frame=gestures.on_part_choice, kept=kept_bytes("focus"))


def _large_head(config: Config) -> None:
    """Draws the head as a chart, and buttons to zoom out."""
    parts.extent(*config.window, tables.focus_tile(config, heatmap.PIXELS), text.ZOOM)
    if config.rows or config.cols:
        sides = zip(WINDOW, config.window, (config.tokens, config.n_keys), strict=True)
        wider = {name: _wider(ends, most) for name, ends, most in sides}
        with st.container(horizontal=True):
            st.button(text.ZOOM_OUT, on_click=page.change, kwargs=wider, key="zoom out")
            st.button(text.WHOLE, on_click=page.change, kwargs=dict.fromkeys(WINDOW, ""), key="whole")
    cells, tile, seeing = tables.focus(results.heads.trace(config), heatmap.PIXELS)
    rows, cols = config.window
    st.plotly_chart(
        heatmap.selectable(
            cells,
            tile,
            config.color_scale,
            tables.labels(config),
            config.query_index,
            (rows[0], cols[0]),
            seeing,
            tables.key_labels(config),
            config.head_softmax.signed,
            distributes(config),
        ),
        key="focus",
        width="stretch",
        on_select=gestures.on_zoom,
        selection_mode="box",
        config=heatmap.SELECTING,
        alt=text.LARGE_ALT,
    )


def draw_asked_row(config: Config) -> None:
    """Draws the selected head without its weights, below the question about its row; nothing below any other question.

    The mask is no answer to it. Zeros take the place of the weights, so that the browser does not receive them.
    """
    if questions.ours(config) != "row":
        return
    mask = results.heads.trace(config).mask
    hidden = cells(torch.zeros(1, *mask.shape), mask, heatmap.PIXELS)
    marks = Marks([], says=text.ASKED_ROW, hides=True)
    large_head(config, hidden, (0, 0), key="asked row", zooms=False, height=theme.NARROW_HEIGHT, marks=marks)


def _wider(ends: tuple[int, int], tokens: int) -> str:
    """A range four times as wide around the same middle."""
    middle, half = sum(ends) // 2, 2 * (ends[1] - ends[0])
    first, last = max(0, middle - half), min(tokens, middle + half)
    return "" if last - first >= tokens else f"{first}-{last - 1}"
