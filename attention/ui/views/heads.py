"""Heads: what every head attends to, at once; then the row and the head in focus, numbers, code, groupings and files."""

from __future__ import annotations

import pyarrow as pa
import streamlit as st
from jaxtyping import Float
from torch import Tensor

from attention.charts import heatmap, row
from attention.charts.spec import empty
from attention.components.heads_grid import heads_grid
from attention.config import Config
from attention.steps import program
from attention.tables import rows as tables
from attention.trace import Trace
from attention.ui import compute, predict, proof
from attention.ui.lacking import lacking
from attention.ui.session import gestures, page, pause
from attention.ui.views import grouping, heads_long, questions
from attention.ui.views import heads_parts as parts

WINDOW = ("rows", "cols")  # knobs of what is shown large
PROGRAM = "a PyTorch program that computes exactly these weights"
FOCUS = frozenset({"head", "query"})


def begin(config: Config) -> None:
    """Starts what the page waits for."""
    compute.heads.cells.begin(config.tensors) if config.traceable is config else heads_long.drawn(config)


def view(config: Config) -> None:
    """Every head at once and the row in focus, a question in their place, or the whole page of a long sequence."""
    if questions.closed(config.traceable):
        return
    if config.traceable is not config:
        heads_long.view(config)
        return
    trace = compute.heads.trace(config)
    heads_grid(config, compute.heads.cells(config.tensors), on_pin=gestures.pinned, address=page.address())
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
    scale, seeing = parts.bars(trace.config, found)
    parts.said_of_row(text if found.seeing else f"Query {found.query}{name} sees no key.", trace.config, scale)
    names = tuple(tables.labels(trace.config)) if trace.config.tokens <= row.LABELLED else ()
    spec = row.weights(names, trace.config.tokens, scale, seeing)
    spec = spec if found.seeing else empty(spec)
    st.vega_lite_chart(
        pa.table(found.keys), spec, key="row", width="stretch", alt="Bars by key: weights of the query in focus"
    )


def _fields(config: Config) -> None:
    """The head and the query in focus, a question about them, and what part of the head is shown large."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        parts.focus(config, 190)
        predict.offer({"row": "Predict a row"})
        if config.rows or config.cols:
            wider = {name: _wider(ends, config.tokens) for name, ends in zip(WINDOW, config.window, strict=True)}
            st.button("Zoom out", on_click=page.change, kwargs=wider, key="zoom out")
            st.button("Whole head", on_click=page.change, kwargs=dict.fromkeys(WINDOW, ""), key="whole")
    parts.extent(*config.window, tables.focus_tile(config, heatmap.PIXELS), "Drag a rectangle to see it more finely.")


def _head(config: Config) -> None:
    """The head in focus large, beside the numbers of every head."""
    left, right = parts.beside()
    with left:
        _zoom(config, *tables.focus(compute.heads.trace(config), heatmap.PIXELS))
    with right:
        parts.numbers(compute.heads.numbers(config.tensors))


def _zoom(config: Config, cells: Float[Tensor, "q k"], tile: int, seeing: Float[Tensor, "q k"]) -> None:
    """The large head: a rectangle that is dragged on it is drawn anew as finely as there are pixels, and back."""
    rows, cols = config.window
    names = tables.labels(config)
    first = rows[0], cols[0]
    figure = heatmap.selectable(cells, tile, config.color_scale, names, config.row, first, seeing)
    st.plotly_chart(
        figure,
        key="focus",
        width="stretch",
        on_select=gestures.framed,
        selection_mode="box",
        config=heatmap.SELECTING,
        alt="Heatmap by query and key: weights of the head in focus",
    )


def _wider(ends: tuple[int, int], tokens: int) -> str:
    """A range four times as wide around the same middle."""
    middle, half = sum(ends) // 2, 2 * (ends[1] - ends[0])
    first, last = max(0, middle - half), min(tokens, middle + half)
    return "" if last - first >= tokens else f"{first}-{last - 1}"


def _code(config: Config) -> None:
    if lacking(config, f"Code: {PROGRAM}", "x", "projections"):
        return
    parts.code(PROGRAM, lambda: program.source(config))


def _look_code(config: Config) -> object:
    return (config if parts.code_open(PROGRAM) else config.source) if _short(config) else None


def _files(config: Config) -> None:
    """What few changes are seen in: every grouping of keys and values, and the files."""
    now = page.shown()
    with st.container():
        grouping.section(config)
        files = st.expander("Downloads", icon=":material/download:")
    with files:
        st.download_button(
            "Weights and all tensors (.npz)",
            lambda: tables.npz(compute.heads.trace(now())),
            "attention.npz",
            on_click="ignore",
            key="npz",
        )
        st.download_button(
            "Weights (.csv)",
            lambda: tables.weights_csv(compute.heads.trace(now())),
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
FIELDS = page.Part("fields", _fields, lambda config: config.window if _short(config) else None, FOCUS, blocks=2)
HEAD = page.Part("large", _head, lambda config: config if _short(config) else None)
CODE = page.Part("program", _code, _look_code)
FILES = page.Part("files", _files, _look_files, frozenset({"grouping"}))
