"""The Softmax page's questions: what a temperature or a scale does to a row, and how a row shares out its weight."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import streamlit as st

from attention.analysis.row_stages import Stages, stages
from attention.charts import stages as charts
from attention.config import DEFAULTS, Config
from attention.tables import rows as tables
from attention.tables import softmax
from attention.ui import compute, predict
from attention.ui.predict import Question
from attention.ui.words import plain

OFFERS = {"temperature": "Ask what this temperature and scale do", "row": "Ask how this row shares out its weight"}
SPREAD = ("more evenly", "on fewer keys", "as before")
GREATEST = ("under 10 %", "10 to 50 %", "50 to 90 %", "over 90 %")
PLAIN = {"temperature": DEFAULTS["temperature"], "scale": DEFAULTS["scale"]}
SAME = 1e-6  # nats of entropy that count as no change


def temperature_opened(config: Config) -> bool:
    """Draws the row at the usual scale and temperature and the question; True once it is open."""
    given = stages(compute.heads.trace(replace(config, **PLAIN)))
    return _opened(config, temperature(given, stages(compute.heads.trace(config))), "weights", given)


def share_opened(config: Config) -> bool:
    """Draws the row's dot products and the question; True once it is open."""
    row = stages(compute.heads.trace(config))
    return _opened(config, share(row), "dots", row)


def _opened(config: Config, question: Question, name: str, given: Stages) -> bool:
    is_open = predict.opened(config, question)
    if not is_open:
        _given(name, given)
    return is_open


def temperature(given: Stages, row: Stages) -> Question:
    """How a row spreads its weight under its scale and temperature, beside the usual ones."""
    before, after = (x.entropy for x in (given, row))
    change = after - before
    answer = SPREAD[2] if abs(change) < SAME else SPREAD[0] if change > 0 else SPREAD[1]
    config = row.config
    return Question(
        f"{_who(config)} has the weights below with scale 1/sqrt(d\\_head) and temperature 1. Now the scale is "
        f"{plain(config.scale)} and the temperature {config.temperature:g}. How will the weight be spread?",
        SPREAD,
        answer,
        f"The entropy goes from {before:.3f} to {after:.3f} nats: every logit is {row_ratio(given, row):.3g} times what "
        "it was before cap and bias.",
    )


def row_ratio(given: Stages, row: Stages) -> float:
    """How many times the scaled scores of one row are those of another with the same dot products."""
    at = int(given.scaled.abs().argmax())
    return float(row.scaled[at] / given.scaled[at]) if float(given.scaled[at]) else 1.0


def share(row: Stages) -> Question:
    """What share the heaviest key of a row gets."""
    top = float(row.weights.max())
    answer = GREATEST[sum(top > limit for limit in (0.1, 0.5, 0.9))]
    seen = int(row.visible.sum())
    return Question(
        f"{_who(row.config)} has the dot products below; grey ones the mask hides, {seen} keys are seen. They are scaled "
        f"({plain(row.config.scale)}, temperature {row.config.temperature:g}) and go through the softmax. What share "
        "does the heaviest key get?",
        GREATEST,
        answer,
        f"Key {row.heaviest} gets {top:.4f}." if seen else "The query sees no key: nobody gets anything.",
    )


def _who(config: Config) -> str:
    names = tables.labels(config)
    name = f" “{plain(names[config.row])}”" if names else ""
    return f"Query {config.row}{name} in head {config.head}"


def _given(name: str, row: Stages) -> None:
    """The one step that is given, as a panel of its own."""
    columns = softmax.stages(row, "position")
    labels = softmax.drawn_labels(columns, row.config) if row.config.tokens <= charts.LABELLED else ()
    spec = charts.given(name, labels, row.config.tokens, charts.reach(float(row.dots.abs().max())))
    shown = ("place", "key", "token", "visible", name) + (("set",) if name == "weights" else ())  # no more goes out
    st.vega_lite_chart(
        pa.table({part: columns[part] for part in shown}),
        spec,
        key="given",
        width="stretch",
        alt="Bars by key: what is given of the query in focus",
    )
