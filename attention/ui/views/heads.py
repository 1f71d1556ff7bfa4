"""Heads: what every head attends to, at once; then the head and the row in focus, numbers, code and files."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from attention import program, tables
from attention.charts import heatmap, row
from attention.components.heads_grid import heads_grid
from attention.config import KNOBS, LAST, Config
from attention.heads import NUMBERS
from attention.trace import Trace
from attention.ui import compute, page, predict, proof
from attention.ui.views import grouping, row_question
from attention.ui.words import plain

FAINT = 0.15  # greatest weight below which little is seen on a scale from 0 to 1


def view(config: Config) -> None:
    """The page of a config."""
    trace = compute.trace(config)
    if predict.asked(config, "row") and not predict.opened(config, row_question.question(trace)):
        return
    title = st.container()  # filled after the grid, which is what one waits for
    heads_grid(config, compute.cells(config.tensors), on_pin=page.pinned)
    page.drawn()
    with title:
        _title(config)
    _row(trace)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _focus(trace)
    with right:
        _numbers(config)
    grouping.section(config)
    _take_away(trace)


def _title(config: Config) -> None:
    title, scale = st.columns([5, 2], vertical_alignment="bottom")
    with title:
        st.markdown(
            f"**Heads.** {config.heads} heads over {config.tokens:,} tokens. A row is a query: "
            f"how it spreads a weight of one over the keys. {config.rule.help}"
        )
        proof.badge(config)
    with scale:
        knob = KNOBS["colors"]
        st.segmented_control(knob.label, knob.choices, key="colors", help=knob.help, required=True)


def _row(trace: Trace) -> None:
    found = tables.row(trace)
    name = f" {found.label!r}" if found.label else ""
    text = (
        f"Query {found.query}{name} in head {found.head}: entropy {found.entropy:.2f} nats; "
        f"{found.holding} of {found.seeing} keys that it sees hold 90 %, the heaviest {found.greatest:.3g}"
    )
    if trace.config.colors == "linear" and 0 < found.greatest < FAINT:
        text += ". Faint on a scale to 1: try log"
    st.caption(plain(text) if found.seeing else f"Query {found.query}{plain(name)} sees no key.")
    names = tuple(tables.labels(trace.config)) if trace.config.tokens <= row.LABELLED else ()
    spec = row.weights(names, trace.config.tokens, trace.config.colors)
    st.vega_lite_chart(pd.DataFrame(found.keys), spec, key="row", width="stretch")


def _focus(trace: Trace) -> None:
    config = trace.config
    title, head, query, ask = st.columns([2, 3, 3, 4], vertical_alignment="bottom")
    with title:
        st.markdown(f"**Head {config.head}**")
    for name, place, least in (("head", head, 0), ("query", query, LAST)):
        place.number_input(KNOBS[name].label, least, int(KNOBS[name].high or 0), key=name, help=KNOBS[name].help)
    with ask:
        predict.offer({"row": "Predict a row"})
    cells, tile = tables.focus(trace, heatmap.PIXELS)
    figure = heatmap.weights(cells, tile, config.colors, tables.labels(config), config.row)
    st.plotly_chart(figure, key="focus", width="stretch", config={"displaylogo": False})


def _numbers(config: Config) -> None:
    st.markdown("**Numbers of every head**")
    columns = {"head": st.column_config.NumberColumn("Head", width="small")} | {
        name: st.column_config.NumberColumn(
            f"{number.label} ({number.unit})" if number.unit else number.label, help=number.formula, format="%.3f"
        )
        for name, number in NUMBERS.items()
    }
    st.dataframe(compute.numbers(config.tensors), column_config=columns, hide_index=True, height=400, key="numbers")


def _take_away(trace: Trace) -> None:
    config = trace.config
    code, files = st.columns([3, 2], gap="medium")
    with code, st.expander("Code: a PyTorch program that computes exactly these weights", icon=":material/code:"):
        st.code(program.source(config), language="python")
    with files, st.expander("Downloads", icon=":material/download:"):
        st.download_button(
            "Weights and all tensors (.npz)", lambda: tables.npz(trace), "attention.npz", on_click="ignore", key="npz"
        )
        held = tables.csv_heads(trace)
        which = "of every head" if len(held) == config.heads else f"of head {config.head} alone, as all are too many"
        st.download_button(
            f"Weights {which} (.csv)",
            lambda: tables.weights_csv(trace),
            "weights.csv",
            "text/csv",
            on_click="ignore",
            key="csv",
        )
