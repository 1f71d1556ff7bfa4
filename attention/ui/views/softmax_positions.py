"""The Softmax page, positions: wavelengths of rotary pairs, and scores by distance, within and beyond the original length."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import streamlit as st
import torch

from attention.analysis.position_curves import (
    FARTHEST_BIAS,
    MODELS,
    Model,
    biases,
    constant_score,
    pairs_unscaled,
    rotation_of_config,
    untrained_pairs,
    wavelengths,
)
from attention.charts import positions as charts
from attention.config import Config
from attention.knobs import GENERATED, KNOBS
from attention.number_format import format_mean
from attention.operations.positions import POSITIONS
from attention.operations.rotary import SCALINGS, UNSCALED, Rotation
from attention.tables import positions as tables
from attention.trace import Trace
from attention.ui.controls import knobs
from attention.ui.controls.picture import shows
from attention.ui.markdown import escape
from attention.ui.session import browser_yield, page
from attention.ui.views import focus

WIDEST = 2048  # channels of a token
ALTS = {
    "wavelengths": "Points by pair of channels: tokens in a full turn, as trained and scaled, beside the original length",
    "scores": "Lines by distance: the score of a constant query and key, as trained and scaled",
    "biases": "Lines by distance: what each head adds to the score",
}
TABLE = {  # label and help of the columns of every pair
    "pair": ("Pair", "Channels j and j + m of a head, where m pairs are rotated."),
    "wavelength": ("Full turn", "Tokens in which the pair makes a full turn, as trained."),
    "turns in training": ("Turns in training", "Full turns within the original length."),
    "kept": ("Kept", "Share of the pair that rotates as in training; the rest rotates more slowly by the factor."),
    "scaled wavelength": ("Full turn, scaled", "Tokens in which the pair makes a full turn with the scaling."),
    "turns at the distance": ("Turns at distance", "Full turns at the chosen distance, as trained."),
    "scaled turns": ("Scaled", "Full turns at the chosen distance with the scaling."),
}

MODEL_TABLE = {  # the same of the models
    "model": ("Model", ""),
    "d_head": ("d_head", ""),
    "positions": ("Positions", ""),
    "rotary_base": ("Base", ""),
    "rotary_fraction": ("Rotated channels", "Fraction of the channels of a head."),
    "rotary_scaling": ("Scaling", ""),
    "rotary_factor": ("Factor", ""),
    "rotary_length": ("Original length", ""),
    "source": ("Source", ""),
}


def draw(trace: Trace) -> None:
    """Draws the positions of a config: charts of rotary pairs, or of what is added to scores; models to load above them."""
    config = trace.config
    _models(config)
    if POSITIONS[config.positions].to_scores:
        _draw_biases(config)
    else:
        _draw_rotary(config)
    with st.expander("Models and their sources", icon=":material/menu_book:"):
        _table(tables.models(), MODEL_TABLE, "models")


def _models(config: Config) -> None:
    st.markdown("**Load the positions of a published model:**")
    with st.container(horizontal=True, key="position models"):
        for model in MODELS:
            st.button(
                model.title,
                key=f"model {model.title}",
                on_click=page.change,
                kwargs=model_knobs(model, config),
                type="primary" if _is_loaded(model, config) else "secondary",
                help=f"Sets the positions, and d_head to {model.d_head}. From {model.where}.",
            )


def model_knobs(model: Model, config: Config) -> dict[str, Any]:
    """Returns the knobs that have the positions of a model, with as many heads as now if these are not too wide."""
    heads = model.knobs.get("heads", min(config.heads, WIDEST // model.d_head))
    return {"source": GENERATED, "heads": heads, "d_model": int(str(heads)) * model.d_head, **model.knobs}


def _is_loaded(model: Model, config: Config) -> bool:
    return all(getattr(config, name) == value for name, value in model_knobs(model, config).items())


def _draw_rotary(config: Config) -> None:
    rotation, d = rotation_of_config(config), config.d_head
    if not rotation.pairs:
        st.markdown(_setting(config, rotation))
        return
    names = ["distance"] if shows(config, "rotary_length") else ["distance", "rotary_length"]
    for name, column in zip(names, st.columns(4), strict=False):
        with column:
            knobs.number(name, config)
    _numbers(rotation, d, config.distance)
    st.markdown("\n\n".join(sentences(config)))
    farthest, scaled = _reach(rotation, config.distance), rotation.scaling != UNSCALED
    left, right = st.columns(2, gap="medium")
    longest = 10 ** math.ceil(math.log10(max(farthest, float(wavelengths(rotation).max()))))
    left.markdown(
        "**Wavelengths**: one point per pair of channels. Those below the solid line make a full turn in training."
    )
    _chart(
        left,
        tables.pairs(rotation, config.distance),
        charts.wavelengths(rotation.pairs, longest, scaled),
        "wavelengths",
    )
    curves = tables.scores(rotation, d, config.distance, farthest)
    values = [value for value in curves["score"] if value is not None]
    ends = (min(-0.2, math.floor(10 * min(values)) / 10), max(1.0, math.ceil(10 * max(values)) / 10))
    right.markdown("**Score by distance** of a query and a key whose channels are all equal: what positions do to it.")
    _chart(right, curves, charts.by_distance(farthest, *ends, scaled), "scores")
    browser_yield.yield_to_browser()
    with st.expander("Every pair", icon=":material/table_rows:"):
        _table(tables.every_pair(rotation, config.distance), TABLE, "every pair")


def _reach(rotation: Rotation, distance: int) -> int:
    """Returns the end of the axis of distances: twice the longest of the lengths and the distance, up to a power of two."""
    longest = max(distance, rotation.length * (rotation.factor if rotation.scaling != UNSCALED else 1))
    return 2 ** math.ceil(math.log2(2 * longest))


def _numbers(rotation: Rotation, d: int, distance: int) -> None:
    """The numbers that a port of the code can be compared with."""
    at = torch.tensor([float(distance)], dtype=torch.float64)
    plain, scaled = (float(constant_score(each, d, at)) for each in (pairs_unscaled(rotation), rotation))
    trained = pairs_unscaled(rotation)
    numbers = {
        "Attention factor": (
            f"{rotation.gain:.4f}",
            "Cosines and sines are multiplied by it. YaRN: 0.1 ln(factor) + 1.",
        ),
        "Rotated scores ×": (f"{rotation.gain**2:.4f}", "Query and key are both multiplied, so scores by its square."),
        f"Score at {distance:,}": (
            f"{format_mean(scaled)}",
            f"Of a constant query and key, as a share of distance 0; {format_mean(plain)} without the scaling.",
        ),
        "Pairs at new angles": (
            f"{untrained_pairs(rotation, distance)} of {rotation.pairs}",
            f"At this distance, pairs at an angle that no distance within the original length has; "
            f"{untrained_pairs(trained, distance)} without the scaling.",
        ),
    }
    for (label, (value, help)), column in zip(numbers.items(), st.columns(4), strict=True):
        column.metric(label, value, help=help)


def sentences(config: Config) -> list[str]:
    """What the settings do, in sentences with their numbers."""
    rotation, distance = rotation_of_config(config), config.distance
    found = [_setting(config, rotation)]
    if rotation.scaling == UNSCALED:
        return [*found, _unscaled(rotation, distance)]
    return [*found, _scaled_pairs(rotation, distance), _scaled_score(rotation, config.d_head, distance)]


def _setting(config: Config, rotation: Rotation) -> str:
    """Which positions are shown, and how many channels they rotate."""
    waves = wavelengths(pairs_unscaled(rotation))
    off = "" if config.positions == "rotary" else _not_rotary(config)
    some = (
        f"; {2 * rotation.pairs} of {config.d_head} channels are rotated" if 2 * rotation.pairs < config.d_head else ""
    )
    if not rotation.pairs:
        return f"{off}No pair of channels is rotated: a head has {config.d_head}."
    ends = f"from {float(waves[0]):,.1f} tokens for a full turn to {float(waves[-1]):,.0f}"
    return f"{off}**Base {rotation.base:,.0f}**: {rotation.pairs} pairs, {ends}{some}."


def _not_rotary(config: Config) -> str:
    if config.source != GENERATED:
        return "The source gives queries and keys with positions in them already. This is what rotary positions do: "
    return f"Positions are *{escape(config.positions)}* here. With *rotary* under Advanced: "


def _unscaled(rotation: Rotation, distance: int) -> str:
    """What an unscaled model meets at the distance."""
    new = untrained_pairs(rotation, distance)
    if distance <= rotation.length:
        return f"Distance {distance:,} is within the original length of {rotation.length:,}: every angle occurs in training."
    return (
        f"Distance {distance:,} is beyond the original length of {rotation.length:,}: {new} pairs that make less than a turn "
        "in training are at angles that never occurred there. A scaling under Advanced changes that."
    )


def _name(knob: str, value: str) -> str:
    """Returns what the screen shows for a choice."""
    return escape(KNOBS[knob].names.get(value, value))


def _scaled_pairs(rotation: Rotation, distance: int) -> str:
    """What the scaling does to the pairs."""
    kept, factor = rotation.kept_shares(torch.float64), f"{rotation.factor:g}"
    if SCALINGS[rotation.scaling].stretches:
        return (
            f"The base grows to {rotation.stretched_base:,.0f}: the first pair rotates as in training, the last {factor} times "
            "more slowly, those between by powers of that."
        )
    whole, none = int((kept == 1).sum()), int((kept == 0).sum())
    return (
        f"**{_name('rotary_scaling', rotation.scaling)}, factor {factor}**: {whole} pairs rotate as in training, {none} rotate "
        f"{factor} times more slowly, so that distance {distance:,} is to them what {distance / rotation.factor:,.0f} was in "
        "training; "
        f"{rotation.pairs - whole - none} are in between."
    )


def _scaled_score(rotation: Rotation, d: int, distance: int) -> str:
    """What the scaling does to the score of a constant query and key, and whether training had such distances."""
    at, trained = torch.tensor([float(distance)], dtype=torch.float64), pairs_unscaled(rotation)
    plain, scaled = (format_mean(float(constant_score(each, d, at))) for each in (trained, rotation))
    score = f"At distance {distance:,} a constant query and key score {scaled} of what they do unrotated; unscaled, {plain}."
    if distance <= rotation.length:
        return (
            f"{score} Training had such distances (up to {rotation.length:,}); the scaling changes their scores, too."
        )
    new, before = untrained_pairs(rotation, distance), untrained_pairs(trained, distance)
    return (
        f"{score} That is beyond the original length of {rotation.length:,}: {new} pairs are at angles that never occurred in "
        f"training, {before} without the scaling."
    )


def _draw_biases(config: Config) -> None:
    rule = POSITIONS[config.positions]
    head, distance = st.columns([1, 1, 2])[:2]
    with head:
        focus.head(config)
    with distance:
        knobs.number("distance", config)
    at = torch.tensor([1.0, float(config.distance)], dtype=torch.float64)
    near, far = biases(config, at)[config.head].tolist()
    st.markdown(
        f"**{_name('positions', config.positions)}** adds {rule.adds}. Head {config.head} of {config.heads}: "
        f"{format_mean(near)} at distance 1 and {format_mean(far)} at distance {config.distance:,}, which "
        "multiplies the exponential of the score by "
        f"{math.exp(near):.3g} and {math.exp(far):.3g}. Neither changes with the length of training texts."
    )
    st.markdown(
        f"**Added to the score** by distance, up to {FARTHEST_BIAS} tokens; the wide line is the selected head."
    )
    _chart(st, tables.bias_lines(config), charts.biases(config.heads, config.head), "biases")


def _chart(where: Any, columns: dict[str, list[Any]], spec: dict[str, Any], name: str) -> None:
    where.vega_lite_chart(pa.table(columns), spec, key=f"positions {name}", width="stretch", alt=ALTS[name])


def _table(columns: dict[str, list[Any]], labels: dict[str, tuple[str, str]], key: str) -> None:
    """Draws a table with short headers; what a model does not have is a dash."""
    written = {name: [_format_cell(value) for value in values] for name, values in columns.items()}
    heads = {name: st.column_config.Column(label, help=help or None) for name, (label, help) in labels.items()}
    st.dataframe(written, column_config=heads, hide_index=True, key=key)


def _format_cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
    return str(value)
