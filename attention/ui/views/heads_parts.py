"""What the Heads page shows at any length: its title, the focus, the numbers of every head."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import streamlit as st
from jaxtyping import Float
from torch import Tensor

from attention import tables
from attention.charts import heatmap
from attention.config import KNOBS, LAST, Config
from attention.heads import NUMBERS
from attention.ui import page

FAINT = 0.15  # greatest weight below which little is seen on a scale from 0 to 1


def title(config: Config, badge: Callable[[], None]) -> None:
    """What is shown, how true it is, and the scale of its colours."""
    said, scale = st.columns([5, 2], vertical_alignment="bottom")
    with said:
        st.markdown(
            f"**Heads.** {config.heads} heads over {config.tokens:,} tokens. A row is a query: "
            f"how it spreads a weight of one over the keys. {config.rule.help}"
        )
        badge()
    with scale:
        knob = KNOBS["colors"]
        st.segmented_control(knob.label, knob.choices, key="colors", help=knob.help, required=True)


def faint(config: Config, found: tables.Row) -> str:
    """A hint where little is seen."""
    small = config.colors == "linear" and 0 < found.greatest < FAINT
    return ". Faint on a scale to 1: try log" if small else ""


def focus(width: int) -> None:
    """The head and the query in focus, each in a field of so many pixels."""
    for name, least in (("head", 0), ("query", LAST)):
        knob = KNOBS[name]
        st.number_input(knob.label, least, int(knob.high or 0), key=name, help=knob.help, width=width)


def numbers(found: dict[str, list[float]]) -> None:
    """The numbers of every head, as a table."""
    st.markdown("**Numbers of every head**")
    columns = {"head": st.column_config.NumberColumn("Head", width="small")} | {
        name: st.column_config.NumberColumn(
            f"{number.label} ({number.unit})" if number.unit else number.label, help=number.formula, format="%.3f"
        )
        for name, number in NUMBERS.items()
    }
    height = min(400, 37 + 35 * len(found["head"]))
    st.dataframe(pa.table(found), column_config=columns, hide_index=True, height=height, key="numbers")


def zoom(config: Config, cells: Float[Tensor, "q k"], tile: int) -> None:
    """The large head: a rectangle that is dragged on it is drawn anew as finely as there are pixels, and back."""
    rows, cols = config.window
    names, first = tables.labels(config), (rows[0], cols[0])
    figure = heatmap.weights(cells, tile, config.colors, names, config.row, first=first)
    fine = "every token" if tile == 1 else f"{tile} x {tile} tokens a pixel"
    st.caption(
        f"Queries {rows[0]:,} to {rows[1] - 1:,}, keys {cols[0]:,} to {cols[1] - 1:,}: {fine}. "
        f"Drag a rectangle to see it more finely."
    )
    if config.rows or config.cols:
        wider = {"rows": _wider(rows, config.tokens), "cols": _wider(cols, config.tokens)}
        with st.container(horizontal=True):
            st.button("Zoom out", on_click=page.change, kwargs=wider, key="zoom out")
            st.button("Whole head", on_click=page.change, kwargs={"rows": "", "cols": ""}, key="whole")
    figure.update_layout(dragmode="select")
    st.plotly_chart(
        figure, key="focus", width="stretch", on_select=page.framed, selection_mode="box", config={"displaylogo": False}
    )


def _wider(ends: tuple[int, int], tokens: int) -> str:
    """A range four times as wide around the same middle."""
    middle, half = sum(ends) // 2, 2 * (ends[1] - ends[0])
    first, last = max(0, middle - half), min(tokens, middle + half)
    return "" if last - first >= tokens else f"{first}-{last - 1}"
