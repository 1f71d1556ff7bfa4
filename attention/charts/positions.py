"""Positions by pair and by distance (Altair). Charts are built once, without data."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import altair as alt

from attention.analysis.position_curves import SCALED, TRAINED
from attention.charts import theme
from attention.charts.spec import dataless
from attention.number_format import MEAN

KINDS = {TRAINED: theme.RAW, SCALED: theme.DIVIDED}
FACTOR = "× factor"  # the rule at the original length times the factor
RULES = {"original length": [1, 0], FACTOR: [6, 3], "distance": [2, 2]}


def _color(scaled: bool) -> alt.Color:
    names = list(KINDS)[: 1 + scaled]
    scale = alt.Scale(domain=names, range=[KINDS[name] for name in names])
    return alt.Color("kind:N", scale=scale, legend=alt.Legend(orient="bottom", title=None))


def _dash(scaled: bool) -> alt.StrokeDash:
    names = [name for name in RULES if scaled or name != FACTOR]
    legend = alt.Legend(orient="top", title=None, symbolStrokeColor=theme.HIDDEN, symbolStrokeWidth=1.5)
    return alt.StrokeDash("rule:N", scale=alt.Scale(domain=names, range=[RULES[name] for name in names]), legend=legend)


def _log(most: float) -> alt.Scale:
    return alt.Scale(type="log", domain=[1, most], nice=False, clamp=True)


def _fit(chart: alt.TopLevelMixin) -> dict[str, Any]:
    return dataless(chart) | {"autosize": {"type": "fit-x", "contains": "padding"}}


def _over_rules(marks: alt.Chart, scaled: bool, **place: Any) -> dict[str, Any]:
    """Returns marks over a rule at each length, on the axis `place`."""
    rules = alt.Chart().transform_filter("datum.rule != null").mark_rule(color=theme.HIDDEN, strokeWidth=1.5)
    return _fit(alt.layer(rules.encode(**place, strokeDash=_dash(scaled)), marks).properties(height=theme.SMALL_HEIGHT))


@lru_cache(maxsize=32)
def wavelengths(pairs: int, most: float, scaled: bool) -> dict[str, Any]:
    """Returns a point per pair and kind (columns pair, kind, wavelength, turns), and the lengths (columns rule, tokens)."""
    x = alt.X("pair:Q", title="pair of channels", scale=alt.Scale(domain=[-0.5, pairs - 0.5], nice=False))
    y = alt.Y(
        "wavelength:Q",
        title="tokens in a full turn",
        scale=_log(most),
        axis=alt.Axis(format="~s", tickCount=6, grid=False),
    )
    tips = [alt.Tooltip("pair:Q", format="d"), alt.Tooltip("kind:N")]
    tips += [
        alt.Tooltip("wavelength:Q", format=",.5~g"),
        alt.Tooltip("turns:Q", format=".3~g", title="turns in training"),
    ]
    tips += [alt.Tooltip("kept:Q", format=".0%", title="kept as trained")]
    points = alt.Chart().transform_filter("datum.pair != null").mark_point(filled=True, size=34, opacity=0.9)
    marks = points.encode(x=x, y=y, color=_color(scaled), tooltip=tips)
    return _over_rules(marks, scaled, y=alt.Y("tokens:Q", scale=_log(most)))


@lru_cache(maxsize=32)
def by_distance(farthest: int, least: float, most: float, scaled: bool) -> dict[str, Any]:
    """Returns the score of a constant query and key (columns distance, kind, score), and the lengths (rule, tokens)."""
    axis = alt.Axis(format="~s", tickCount=6, grid=False)
    x = alt.X("distance:Q", title="distance of query and key (tokens)", scale=_log(farthest), axis=axis)
    y = alt.Y("score:Q", title="score, share of distance 0", scale=alt.Scale(domain=[least, most], nice=True))
    tips = [alt.Tooltip("distance:Q", format=","), alt.Tooltip("kind:N"), alt.Tooltip("score:Q", format=MEAN)]
    lines = alt.Chart().transform_filter("datum.distance != null").mark_line(strokeWidth=1.5, clip=True)
    marks = lines.encode(x=x, y=y, color=_color(scaled), tooltip=tips)
    return _over_rules(marks, scaled, x=alt.X("tokens:Q", scale=_log(farthest)))


@lru_cache(maxsize=64)
def biases(heads: int, focus: int) -> dict[str, Any]:
    """Returns one line per head over the columns head, distance, bias; the selected head's is wide."""
    numbers = list(range(heads))
    legend = alt.Legend(orient="top", title="head", columns=8) if heads <= 16 else None
    tips = [alt.Tooltip("head:O"), alt.Tooltip("distance:Q", format=","), alt.Tooltip("bias:Q", format=MEAN)]
    line = alt.Chart().encode(
        x=alt.X("distance:Q", title="distance of query and key (tokens)", axis=alt.Axis(format="d", grid=False)),
        y=alt.Y("bias:Q", title="added to the score"),
        color=alt.Color("head:O", scale=alt.Scale(domain=numbers, range=theme.head_colors(heads)), legend=legend),
        tooltip=tips,
    )
    return _fit(
        alt.layer(
            line.mark_line(strokeWidth=1.2),
            line.transform_filter(f"datum.head == {focus}").mark_line(strokeWidth=4),
        ).properties(height=theme.SMALL_HEIGHT)
    )
