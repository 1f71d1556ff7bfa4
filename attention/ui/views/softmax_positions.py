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
from attention.ui.text import softmax_positions as text
from attention.ui.views import focus

EXACT_YARN = "yarn (not rounded)"  # of the two rules of YaRN, the one that keeps fractions of a pair
WIDEST = 2048  # channels of a token


def draw(trace: Trace) -> None:
    """Draws the positions of a config: charts of rotary pairs, or of what is added to scores; models to load above them."""
    config = trace.config
    _models(config)
    if POSITIONS[config.positions].to_scores:
        _draw_biases(config)
    else:
        _draw_rotary(config)
    with st.expander(text.SOURCES, icon=":material/menu_book:"):
        _table(tables.models(), text.MODEL_TABLE, "models")


def _models(config: Config) -> None:
    st.markdown(text.MODELS)
    with st.container(horizontal=True, key="position models"):
        for model in MODELS:
            st.button(
                model.title,
                key=f"model {model.title}",
                on_click=page.change,
                kwargs=model_knobs(model, config),
                type="primary" if _is_loaded(model, config) else "secondary",
                help=text.MODEL_HELP.format(d_head=model.d_head, where=model.where),
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
    st.markdown("\n\n".join(sentences(config)))
    farthest, scaled = _reach(rotation, config.distance), rotation.scaling != UNSCALED
    left, right = st.columns(2, gap="medium")
    longest = 10 ** math.ceil(math.log10(max(farthest, float(wavelengths(rotation).max()))))
    left.markdown(text.WAVELENGTHS)
    _chart(
        left,
        tables.pairs(rotation, config.distance),
        charts.wavelengths(rotation.pairs, longest, scaled),
        "wavelengths",
    )
    curves = tables.scores(rotation, d, config.distance, farthest)
    values = [value for value in curves["score"] if value is not None]
    ends = (min(-0.2, math.floor(10 * min(values)) / 10), max(1.0, math.ceil(10 * max(values)) / 10))
    right.markdown(text.SCORES)
    _chart(right, curves, charts.by_distance(farthest, *ends, scaled), "scores")
    browser_yield.yield_to_browser()
    with st.expander(text.NUMBERS, icon=":material/calculate:"):
        _numbers(rotation, d, config.distance)
    with st.expander(text.EVERY_PAIR, icon=":material/table_rows:"):
        _table(tables.every_pair(rotation, config.distance), text.TABLE, "every pair")


def _reach(rotation: Rotation, distance: int) -> int:
    """Returns the end of the axis of distances: twice the longest of the lengths and the distance, up to a power of two."""
    longest = max(distance, rotation.length * (rotation.factor if rotation.scaling != UNSCALED else 1))
    return 2 ** math.ceil(math.log2(2 * longest))


def _numbers(rotation: Rotation, d: int, distance: int) -> None:
    """The numbers that a port of the code can be compared with."""
    at = torch.tensor([float(distance)], dtype=torch.float64)
    plain, scaled = (float(constant_score(each, d, at)) for each in (pairs_unscaled(rotation), rotation))
    trained = pairs_unscaled(rotation)
    new = text.NEW_ANGLES_COUNT.format(new=untrained_pairs(rotation, distance), pairs=rotation.pairs)
    numbers = (
        (f"{rotation.gain:.4f}", *text.GAIN),
        (f"{rotation.gain**2:.4f}", *text.ROTATED),
        (
            format_mean(scaled),
            text.SCORE.format(distance=distance),
            text.SCORE_HELP.format(unscaled=format_mean(plain)),
        ),
        (new, text.NEW_ANGLES, text.NEW_ANGLES_HELP.format(unscaled=untrained_pairs(trained, distance))),
    )
    for (value, label, help), column in zip(numbers, st.columns(4), strict=True):
        column.metric(label, value, help=help)


def sentences(config: Config) -> list[str]:
    """What the settings do, in sentences with their numbers."""
    rotation, distance = rotation_of_config(config), config.distance
    found = [_setting(config, rotation)]
    if rotation.scaling == UNSCALED:
        return [*found, _unscaled(rotation, distance)]
    gained = [text.GAINED.format(gain=rotation.gain, square=rotation.gain**2)] if rotation.gain != 1 else []
    return [*found, _scaled_pairs(rotation, distance), *gained, _scaled_score(rotation, config.d_head, distance)]


def _setting(config: Config, rotation: Rotation) -> str:
    """Which positions are shown, and how many channels they rotate."""
    waves = wavelengths(pairs_unscaled(rotation))
    off = "" if config.positions == "rotary" else _not_rotary(config)
    if not rotation.pairs:
        return text.NO_PAIR.format(off=off, channels=config.d_head)
    rotated = 2 * rotation.pairs
    return text.BASE.format(
        off=off,
        base=rotation.base,
        pairs=rotation.pairs,
        first=float(waves[0]),
        last=float(waves[-1]),
        some=text.SOME.format(rotated=rotated, channels=config.d_head) if rotated < config.d_head else "",
    )


def _not_rotary(config: Config) -> str:
    if config.source != GENERATED:
        return text.IN_SOURCE
    return text.OTHER_POSITIONS.format(positions=escape(config.positions))


def _unscaled(rotation: Rotation, distance: int) -> str:
    """What an unscaled model meets at the distance."""
    if distance <= rotation.length:
        return text.WITHIN.format(distance=distance, length=rotation.length)
    new = untrained_pairs(rotation, distance)
    return text.BEYOND.format(distance=distance, length=rotation.length, new=new)


def _name(knob: str, value: str) -> str:
    """Returns what the screen shows for a choice."""
    return escape(KNOBS[knob].names.get(value, value))


def _scaled_pairs(rotation: Rotation, distance: int) -> str:
    """What the scaling does to the pairs."""
    if SCALINGS[rotation.scaling].stretches:
        return text.STRETCHED.format(base=rotation.stretched_base, factor=rotation.factor)
    kept = rotation.kept_shares(torch.float64)
    whole, none = int((kept == 1).sum()), int((kept == 0).sum())
    return text.SCALED_PAIRS.format(
        name=_name("rotary_scaling", rotation.scaling),
        factor=rotation.factor,
        whole=_pairs(0, whole),
        none=_pairs(rotation.pairs - none, rotation.pairs),
        distance=distance,
        trained=distance / rotation.factor,
        between=_pairs(whole, rotation.pairs - none),
        ramp=text.RAMP_ENDS.format(other=_name("rotary_scaling", EXACT_YARN)) if rotation.scaling == "yarn" else "",
    )


def _pairs(first: int, stop: int) -> str:
    """Names the pairs from `first` to the one before `stop`."""
    if stop <= first:
        return text.NO_PAIRS
    return (text.ONE_PAIR if stop == first + 1 else text.PAIRS).format(first=first, last=stop - 1)


def _scaled_score(rotation: Rotation, d: int, distance: int) -> str:
    """What the scaling does to the score of a constant query and key, and whether training had such distances."""
    at, trained = torch.tensor([float(distance)], dtype=torch.float64), pairs_unscaled(rotation)
    plain, scaled = (format_mean(float(constant_score(each, d, at))) for each in (trained, rotation))
    score = text.SCALED_SCORE.format(distance=distance, scaled=scaled, unscaled=plain)
    if distance <= rotation.length:
        return score + text.SCALED_WITHIN.format(length=rotation.length)
    new, before = untrained_pairs(rotation, distance), untrained_pairs(trained, distance)
    return score + text.SCALED_BEYOND.format(length=rotation.length, new=new, before=before)


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
        text.BIASES.format(
            name=_name("positions", config.positions),
            adds=rule.adds,
            head=config.head,
            heads=config.heads,
            near=format_mean(near),
            far=format_mean(far),
            distance=config.distance,
            near_factor=math.exp(near),
            far_factor=math.exp(far),
        )
    )
    st.markdown(text.ADDED.format(farthest=FARTHEST_BIAS))
    _chart(st, tables.bias_lines(config), charts.biases(config.heads, config.head), "biases")


def _chart(where: Any, columns: dict[str, list[Any]], spec: dict[str, Any], name: str) -> None:
    where.vega_lite_chart(pa.table(columns), spec, key=f"positions {name}", width="stretch", alt=text.ALTS[name])


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
