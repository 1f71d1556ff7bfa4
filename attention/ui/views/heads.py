"""Heads: what every head attends to, at once; then the row and the head in focus, numbers, code, groupings and files."""

from __future__ import annotations

import pyarrow as pa
import streamlit as st
from jaxtyping import Float
from torch import Tensor

from attention import program, tables
from attention.charts import heatmap, row
from attention.components.heads_grid import heads_grid
from attention.config import Config
from attention.trace import Trace
from attention.ui import compute, page, pause, predict, proof
from attention.ui.views import grouping, heads_long, questions
from attention.ui.views import heads_parts as parts
from attention.ui.words import plain


def begin(config: Config) -> None:
    """Starts what the page waits for."""
    compute.begin_cells(config.tensors) if config.traceable is config else heads_long.drawn(config)


def view(config: Config) -> None:
    """Every head at once and the row in focus, a question in their place, or the whole page of a long sequence."""
    if questions.closed(config.traceable):
        return
    if config.traceable is not config:
        heads_long.view(config)
        return
    trace = compute.trace(config)
    heads_grid(config, compute.cells(config.tensors), on_pin=page.pinned, address=page.address())
    pause.paint()
    proof.badge(config)
    _row(trace)


def _row(trace: Trace) -> None:
    found = tables.row(trace)
    name = f" {found.label!r}" if found.label else ""
    text = (
        f"Query {found.query}{name} in head {found.head}: entropy {found.entropy:.2f} nats; "
        f"{found.holding} of {found.seeing} keys that it sees hold 90 %, the heaviest {found.greatest:.3g}"
    )
    st.caption(
        plain(text + parts.faint(trace.config, found))
        if found.seeing
        else f"Query {found.query}{plain(name)} sees no key."
    )
    names = tuple(tables.labels(trace.config)) if trace.config.tokens <= row.LABELLED else ()
    spec = row.weights(names, trace.config.tokens, trace.config.colors)
    st.vega_lite_chart(pa.table(found.keys), spec, key="row", width="stretch")


def _fields(config: Config) -> None:
    """The head and the query in focus, and a question about them."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        parts.focus(config, 190)
        predict.offer({"row": "Predict a row"})


def _head(config: Config) -> None:
    """The head in focus large, beside the numbers of every head; then the program."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _zoom(config, *tables.focus(compute.trace(config), heatmap.PIXELS))
    with right:
        parts.numbers(compute.numbers(config.tensors))
    with st.expander("Code: a PyTorch program that computes exactly these weights", icon=":material/code:"):
        st.code(program.source(config), language="python")


def _zoom(config: Config, cells: Float[Tensor, "q k"], tile: int) -> None:
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


def _files(config: Config) -> None:
    """What few changes are seen in: every grouping of keys and values, and the files."""
    grouping.section(config)
    now = page.shown()
    with st.expander("Downloads", icon=":material/download:"):
        st.download_button(
            "Weights and all tensors (.npz)",
            lambda: tables.npz(compute.trace(now())),
            "attention.npz",
            on_click="ignore",
            key="npz",
        )
        st.download_button(
            "Weights (.csv)",
            lambda: tables.weights_csv(compute.trace(now())),
            "weights.csv",
            "text/csv",
            on_click="ignore",
            key="csv",
            help=f"Of every head; where these are over {tables.CSV_ROWS:,} lines, of the head in focus.",
        )


def _look_files(config: Config) -> object:
    if not _short(config):
        return None
    return config.tensors if config.grouping == "show" else "closed"


def _short(config: Config) -> bool:
    """Is this the page of a sequence with a trace, and not closed by a question?"""
    return config.traceable is config and not questions.hidden(config)


TITLE = page.Part("title", parts.title, parts.look, frozenset({"colors"}))
FIELDS = page.Part("fields", _fields, lambda config: _short(config) or None, frozenset({"head", "query"}))
HEAD = page.Part("large", _head, lambda config: config if _short(config) else None)
FILES = page.Part("files", _files, _look_files, frozenset({"grouping"}))
