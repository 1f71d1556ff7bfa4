"""Curves over d_head with and without the division by its square root (Altair), and the current settings as a point."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import altair as alt

from attention.charts import theme
from attention.charts.stages import bare
from attention.number_format import MEAN, PERCENT

KINDS = {"no scaling": theme.RAW, "1/sqrt(d_head)": theme.DIVIDED, "now": theme.QUERY}
SHAPES = ["circle", "circle", "diamond"]
WIDTHS = [4**i for i in range(6)]
NAMES = "datum.label == '1/sqrt(d_head)' ? 'divided by √d' : datum.label"
LEGEND = alt.Legend(orient="top", title=None, labelExpr=NAMES)
NORMS = {"jacobian": [], "median": [5, 4]}  # and their dashes


def _x() -> alt.X:
    scale = alt.Scale(type="log", base=2, domain=[0.9, 2300], nice=False)
    return alt.X(
        "d_head:Q", title="d, the width of a head", scale=scale, axis=alt.Axis(values=WIDTHS, format="d", grid=False)
    )


def _color() -> alt.Color:
    return alt.Color("kind:N", scale=alt.Scale(domain=list(KINDS), range=list(KINDS.values())), legend=LEGEND)


def _shape() -> alt.Shape:
    return alt.Shape("kind:N", scale=alt.Scale(domain=list(KINDS), range=SHAPES), legend=LEGEND)


def _tips(*names: str) -> list[alt.Tooltip]:
    """Returns tooltips, with the formats of the sentences below the curves."""
    formats = {"variance": ".4", "error": ".4", "median": ".3", "greatest": PERCENT}
    tips = [alt.Tooltip(f"{name}:Q", format=formats.get(name, MEAN)) for name in names]
    return [alt.Tooltip("kind:N"), alt.Tooltip("d_head:Q"), *tips]


def _curve(name: str, title: str, scale: alt.Scale, axis: alt.Axis, dash: list[int] | None = None) -> list[alt.Chart]:
    """Returns a line through the points of each kind, and a diamond at the current settings."""
    y = alt.Y(f"{name}:Q", title=title, scale=scale, axis=axis)
    base = alt.Chart().encode(x=_x(), y=y, color=_color(), tooltip=_tips(name))
    swept = base.transform_filter("datum.kind != 'now'")
    line = swept.mark_line(strokeWidth=1.5, strokeDash=dash or [])
    dots = swept.mark_point(filled=not dash, size=26).encode(shape=_shape())
    now = base.transform_filter("datum.kind == 'now'").mark_point(size=130, filled=not dash, opacity=1)
    now = now.encode(shape=_shape())
    return [line, dots, now]


@lru_cache(maxsize=1)
def variance() -> dict[str, Any]:
    """Returns the variance of the logits: measured points with standard errors on the theoretical lines, d_head and 1."""
    ends = alt.Scale(type="log", domain=[1e-3, 1e6], nice=False, clamp=True)
    axis = alt.Axis(values=[1e-3, 1, 1e3, 1e6], format="~g", labelOverlap=False)
    y = alt.Y("variance:Q", title="variance of the logits", scale=ends, axis=axis)
    base = alt.Chart().encode(x=_x(), color=_color(), tooltip=_tips("variance", "error"))
    swept = base.transform_filter("datum.kind != 'now'")
    theory = swept.transform_calculate(theory="datum.kind == 'no scaling' ? datum.d_head : 1")
    layers = [
        theory.mark_line(strokeWidth=1, strokeDash=[4, 3]).encode(y=alt.Y("theory:Q", scale=ends, axis=axis)),
        swept.transform_calculate(low="datum.variance - datum.error", high="datum.variance + datum.error")
        .mark_rule(strokeWidth=2)
        .encode(y=alt.Y("low:Q", scale=ends, axis=axis), y2="high:Q"),
        swept.mark_point(filled=True, size=36).encode(y=y, shape=_shape()),
        base.transform_filter("datum.kind == 'now'")
        .mark_point(size=130, filled=True, opacity=1)
        .encode(y=y, shape=_shape()),
    ]
    return bare(alt.layer(*layers).properties(height=theme.CURVE_HEIGHT))


@lru_cache(maxsize=16)
def entropy(most: float) -> dict[str, Any]:
    """Returns the mean entropy of a row in nats; the axis ends at its largest value `most`, ln of the number of keys."""
    layers = _curve("entropy", "entropy (nats)", alt.Scale(domain=[0, most], nice=False), alt.Axis(tickCount=4))
    return bare(alt.layer(*layers).properties(height=theme.CURVE_HEIGHT))


@lru_cache(maxsize=1)
def greatest() -> dict[str, Any]:
    """Returns the mean of the largest weight of a row."""
    layers = _curve("greatest", "largest weight (mean)", alt.Scale(domain=[0, 1]), alt.Axis(tickCount=4, format=".0%"))
    return bare(alt.layer(*layers).properties(height=theme.LESSON_HEIGHT))


@lru_cache(maxsize=1)
def jacobian() -> dict[str, Any]:
    """Returns the norm of the softmax's Jacobian, mean (solid) and median (dashed); it is at most 1/2."""
    ends, axis = alt.Scale(domain=[0, 0.5]), alt.Axis(tickCount=5)
    layers = [
        part for name, dash in NORMS.items() for part in _curve(name, "|J|: mean, median dashed", ends, axis, dash)
    ]
    return bare(alt.layer(*layers).properties(height=theme.CURVE_HEIGHT))
