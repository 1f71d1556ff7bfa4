"""The Softmax page's questions: the effect of a temperature or a scale on a row, and how its weight is spread."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import streamlit as st
import torch

from attention.analysis.row_stages import Stages, stages
from attention.charts import stages as charts
from attention.config import Config
from attention.fitting import defaults
from attention.knobs import KNOBS
from attention.number_format import format_token, format_weight
from attention.operations.softmax import SOFTMAXES, normaliser_name
from attention.tables import rows as tables
from attention.tables import softmax
from attention.ui import predict, results
from attention.ui.markdown import escape
from attention.ui.predict import Question

SPREAD = ("more evenly", "on fewer keys", "as before")
GREATEST = ("at most 10%", "over 10 to 50%", "over 50 to 90%", "over 90%")
LIMITS = (0.1, 0.5, 0.9)  # bounds of these shares
ROUNDING = 1e-6  # relative to a limit: rounding error of a weight that is meant to be at it
SET = ("scale", "temperature")
HOT = 4.0  # factor of the temperature for the row to compare with, if the defaults are set
HOTTEST = float(KNOBS["temperature"].high or 0)
SAME = 5e-4  # nats: a smaller change of the entropy counts as none, as three digits are shown


def temperature_opened(config: Config) -> bool:
    """Draws the row at another scale and temperature, and the question; True once it is open."""
    given = stages(results.heads.trace(before(config)))
    return _open_question(config, temperature(given, stages(results.heads.trace(config))), "weights", given)


def before(config: Config) -> Config:
    """The row to compare with, at the source's default scale and temperature.

    If these are the current ones, it is at 4 times the temperature, or at 1/4 of it at the upper end.
    """
    own = defaults(config.source)
    usual = replace(config, **{name: own[name] for name in SET})
    hot = config.temperature * HOT
    return (
        usual if usual != config else replace(config, temperature=hot if hot <= HOTTEST else config.temperature / HOT)
    )


def share_opened(config: Config) -> bool:
    """Draws the row's dot products and the question; True once it is open."""
    row = stages(results.heads.trace(config))
    return _open_question(config, share(row), "dots", row)


def _open_question(config: Config, question: Question, name: str, given: Stages) -> bool:
    is_open = predict.question_gate(config, question)
    if not is_open:
        _show_given_step(name, given)
    return is_open


def temperature(given: Stages, row: Stages) -> Question:
    """Asks how a row spreads its weight under its scale and temperature, compared with others."""
    first, then = spread(given), spread(row)
    answer = SPREAD[2] if abs(then - first) < SAME else SPREAD[0] if then > first else SPREAD[1]
    goes = f"stays at {then:.3f}" if answer == SPREAD[2] else f"goes from {first:.3f} to {then:.3f}"
    weights = "sizes of the weights" if row.config.softmax == "differential" else "weights"
    alone = SOFTMAXES[row.config.softmax].sums_to_one and weights == "weights"
    shares = "" if alone else f" of the {weights}, divided by their sum,"
    return Question(
        f"{_who(row.config)} has the weights below with {_set(given.config)}. Now it is {_set(row.config)}. How will the "
        "weight be spread?",
        SPREAD,
        answer,
        f"The entropy{shares} {goes} nats: every score is {row_ratio(given, row):.3g} times what it was{_later(row)}.",
    )


def spread(row: Stages) -> float:
    """The entropy of the sizes of a row's weights, divided by their sum, in nats."""
    weights = row.weights.double().abs()
    return float(torch.special.entr(weights / weights.sum()).sum()) if weights.any() else 0.0


def _set(config: Config) -> str:
    return f"scale {escape(config.scale)} and temperature {config.temperature:g}"


def _later(row: Stages) -> str:
    """What is done to the scores after they are scaled."""
    cap, seen = "the softcap" * bool(row.config.softcap), int(row.visible.sum())
    more = " and ".join(filter(None, [cap, "the bias" * bool(row.bias.any())]))
    return (f", before {more}" if more else "") + (", but only one key is visible" if seen == 1 else "")


def row_ratio(given: Stages, row: Stages) -> float:
    """The ratio of the scaled scores of two rows with the same dot products."""
    at = int(given.scaled.abs().argmax())
    return float(row.scaled[at] / given.scaled[at]) if float(given.scaled[at]) else 1.0


def share(row: Stages) -> Question:
    """Asks what share the heaviest key of a row gets."""
    top = float(row.weights.max())
    answer = GREATEST[sum(top > limit * (1 + ROUNDING) for limit in LIMITS)]
    seen, config = int(row.visible.sum()), row.config
    name = normaliser_name(config.softmax)
    return Question(
        f"{_who(config)} has the dot products below; grey ones are masked, {seen:,} {'key is' if seen == 1 else 'keys are'} "
        f"visible. They are scaled ({escape(config.scale)}, temperature {config.temperature:g}), then the {name} is "
        "taken. How large is the largest weight?",
        GREATEST,
        answer,
        f"Key {row.heaviest} gets {format_weight(top)}."
        if seen
        else "The query is fully masked, so all weights are zero.",
    )


def _who(config: Config) -> str:
    names = tables.labels(config) or [""] * config.tokens
    return f"{escape(format_token(names[config.query_index], config.query_index, 'Query'))} in head {config.head}"


def _show_given_step(name: str, row: Stages) -> None:
    """Draws the one step that is given, as its own panel."""
    columns = softmax.stages(row, "position")
    labels = softmax.drawn_labels(columns, row.config) if row.config.n_keys <= charts.LABELLED else ()
    spec = charts.single_step(name, labels, row.config.n_keys, charts.reach(float(row.dots.abs().max())))
    shown = ("place", "key", "token", "visible", name) + (("set",) if name == "weights" else ())  # nothing else is sent
    st.vega_lite_chart(
        pa.table({part: columns[part] for part in shown}),
        spec,
        key="given",
        width="stretch",
        alt="Bars by key: the given step of the selected query",
    )
