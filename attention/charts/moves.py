"""How the vector of a token moves towards words (Altair): by one head, and by all layers.

Charts are built once, without data.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import altair as alt

from attention.charts import theme
from attention.charts.spec import dataless

BEFORE, LAYERS = "before", "after all six layers"
RECORDED = "six layers, as recorded"  # in place of `LAYERS`: the settings differ from the model's own
FONT = "Source Sans, sans-serif"  # that of the app, which bold letters otherwise lack
LINE = 16  # pixels per word
BESIDE = 44  # pixels between the ends of an axis and the border, for the number of a bar or of a point
LEAST = 0.02  # half of the axis of changes: a head alone moves a vector by little
LABEL = 5  # pixels between the end of a bar and its number
POINT = 9  # pixels between the middle of a point and its number
Align = Literal["left", "right"]


@cache
def by_head(words: tuple[str, ...], most: float) -> dict[str, Any]:
    """Returns a bar per word, as a Vega-Lite specification: the change of its cosine by a head, from -`most` to `most`.

    The columns are `word`, `change`, and `label`, what is written at the end of the bar. The two signs have the colours of
    differences.
    """
    y = _words(words)
    x = alt.X(
        "change:Q",
        title="← farther · change of the cosine · closer →",
        scale=alt.Scale(domain=[-most, most], padding=BESIDE),
        axis=_axis(),
    )
    bars = (
        alt.Chart()
        .mark_bar(size=12)
        .encode(
            x=x,
            y=y,
            color=alt.condition("datum.change < 0", alt.value(theme.LESS), alt.value(theme.MORE)),
            tooltip=[alt.Tooltip("word:N"), alt.Tooltip("label:N", title="change")],
        )
    )
    ends: tuple[tuple[str, Align, int], ...] = (("change >= 0", "left", LABEL), ("change < 0", "right", -LABEL))
    labels = [_numbers(sign, align, dx).encode(x=x, y=y, text="label:N") for sign, align, dx in ends]
    return _specification(alt.layer(bars, *labels), words)


@cache
def by_layers(words: tuple[str, ...], low: float, high: float, last: str = LAYERS) -> dict[str, Any]:
    """Returns two points per word, as a Vega-Lite specification: its cosine before the head and after all layers.

    `last` is the name of the second, `LAYERS` or `RECORDED`; the axis goes from `low` to `high`.

    The columns are `word`, `stage`, `cosine`, `label`, its number, and `least` and `most`, the ends of the line of a word.
    """
    y, scale = _words(words), alt.Scale(domain=[low, high], padding=BESIDE)
    x = alt.X("cosine:Q", title="cosine to the word, both at the same stage", scale=scale, axis=_axis())
    stages = [BEFORE, last]
    colors = alt.Scale(domain=stages, range=[theme.HIDDEN, theme.QUERY])
    shapes = alt.Scale(domain=stages, range=["circle", "diamond"])
    legend = alt.Legend(title=None, orient="top", symbolSize=90, labelFontSize=12, labelFont=FONT, offset=4)
    points = (
        alt.Chart()
        .mark_point(filled=True, size=90, opacity=1)
        .encode(
            x=x,
            y=y,
            color=alt.Color("stage:N", legend=legend, sort=stages, scale=colors),
            shape=alt.Shape("stage:N", sort=stages, scale=shapes),
            tooltip=[alt.Tooltip("word:N"), alt.Tooltip("stage:N"), alt.Tooltip("label:N", title="cosine")],
        )
    )
    ends: tuple[tuple[str, Align, int], ...] = (
        ("cosine == datum.least", "right", -POINT),
        ("cosine == datum.most", "left", POINT),
    )
    labels = [_numbers(end, align, dx).encode(x=x, y=y, text="label:N") for end, align, dx in ends]
    ranges = (
        alt.Chart().mark_rule(opacity=0.5, color=theme.HIDDEN).encode(x=alt.X("least:Q", scale=scale), x2="most:Q", y=y)
    )
    return _specification(alt.layer(ranges, points, *labels), words)


def _numbers(where: str, align: Align, dx: int) -> alt.Chart:
    """Returns the numbers of the rows whose column meets a condition, beside their marks."""
    return (
        alt.Chart()
        .transform_filter(f"datum.{where}")
        .mark_text(align=align, dx=dx, fontSize=12, font=FONT, fontWeight="bold", color="currentColor", aria=False)
    )


def _specification(chart: Any, words: tuple[str, ...]) -> dict[str, Any]:
    """Returns the specification of a chart as wide as its place, with equal room per word."""
    spec = dataless(chart.properties(height=LINE * len(words)))
    room = {"left": 0, "right": 0, "top": 2, "bottom": 2}
    return spec | {"autosize": {"type": "fit-x", "contains": "padding"}, "padding": room}


def _words(words: tuple[str, ...]) -> alt.Y:
    """Returns the axis of words, in their order."""
    axis = alt.Axis(labelFontSize=13, labelFont=FONT, ticks=False, domain=False)
    return alt.Y("word:N", title=None, sort=list(words), axis=axis)


def _axis() -> alt.Axis:
    """Returns an axis with a line at zero, if that is on it, and a title: the marks have their numbers beside them."""
    return alt.Axis(
        values=[0],
        labels=False,
        ticks=False,
        domain=False,
        titleFontSize=12,
        titleFont=FONT,
        titleFontWeight="normal",
        titlePadding=2,
    )
