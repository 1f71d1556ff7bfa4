"""How a token's vector moves towards words (Altair): by one head, and by all layers. Charts are built once, without data."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import altair as alt

from attention.charts import theme
from attention.charts.spec import dataless

BEFORE, LAYERS = "before", "after all six layers"
RECORDED = "six layers, as recorded"  # in place of `LAYERS`: the settings differ from the model's own
FONT = "Source Sans, sans-serif"  # that of the app, which bold letters otherwise lack
LINE = 22  # pixels per word
EDGE, BESIDE = 8, 44  # pixels between the ends of an axis and the border; those have room for the number of a bar
LEAST = 0.02  # half of the axis of changes: a head alone moves a vector by little
LABEL = 5  # pixels between the end of a bar and its number
ENDS: tuple[tuple[str, Literal["left", "right"], int], ...] = ((">=", "left", LABEL), ("<", "right", -LABEL))


@cache
def by_head(words: tuple[str, ...], most: float) -> dict[str, Any]:
    """Returns a bar per word, as a Vega-Lite specification: the change of its cosine by a head, from -`most` to `most`.

    The columns are `word`, `change`, and `label`, what is written at the end of the bar.
    """
    y = _words(words)
    x = alt.X(
        "change:Q",
        title="← farther · change of the cosine · closer →",
        scale=alt.Scale(domain=[-most, most], padding=BESIDE),
        axis=_axis("+.2f", values=[-most, 0, most], labelExpr="datum.value ? datum.label : '0'"),
    )
    bars = (
        alt.Chart()
        .mark_bar(size=14, color=theme.QUERY)
        .encode(x=x, y=y, tooltip=[alt.Tooltip("word:N"), alt.Tooltip("label:N", title="change")])
    )
    labels = [
        alt.Chart()
        .transform_filter(f"datum.change {sign} 0")
        .mark_text(align=align, dx=dx, fontSize=12, font=FONT, fontWeight="bold", color="currentColor", aria=False)
        .encode(x=x, y=y, text="label:N")
        for sign, align, dx in ENDS
    ]
    return _specification(alt.layer(bars, *labels), words)


@cache
def by_layers(words: tuple[str, ...], low: float, high: float, last: str = LAYERS) -> dict[str, Any]:
    """Returns two points per word, as a Vega-Lite specification: its cosine before the head and after all layers.

    `last` is the name of the second, `LAYERS` or `RECORDED`; the axis goes from `low` to `high`.

    The columns are `word`, `stage`, `cosine`, and `least` and `most`, the ends of the line of a word.
    """
    y, scale = _words(words), alt.Scale(domain=[low, high], padding=EDGE)
    tenths = [tenth / 10 for tenth in range(round(10 * low), round(10 * high) + 1)]
    stages = [BEFORE, last]
    colors = alt.Scale(domain=stages, range=[theme.HIDDEN, theme.MORE])
    shapes = alt.Scale(domain=stages, range=["circle", "diamond"])
    legend = alt.Legend(title=None, orient="top", symbolSize=90, labelFontSize=12, labelFont=FONT)
    points = (
        alt.Chart()
        .mark_point(filled=True, size=90, opacity=1)
        .encode(
            x=alt.X(
                "cosine:Q", title="cosine to the word at the same stage", scale=scale, axis=_axis(".1f", values=tenths)
            ),
            y=y,
            color=alt.Color("stage:N", legend=legend, sort=stages, scale=colors),
            shape=alt.Shape("stage:N", sort=stages, scale=shapes),
            tooltip=[alt.Tooltip("word:N"), alt.Tooltip("stage:N"), alt.Tooltip("cosine:Q", format=".3f")],
        )
    )
    ranges = (
        alt.Chart().mark_rule(opacity=0.5, color=theme.HIDDEN).encode(x=alt.X("least:Q", scale=scale), x2="most:Q", y=y)
    )
    return _specification(alt.layer(ranges, points), words)


def _specification(chart: Any, words: tuple[str, ...]) -> dict[str, Any]:
    """Returns the specification of a chart as wide as its place, with equal room per word."""
    spec = dataless(chart.properties(height=LINE * len(words)))
    return spec | {"autosize": {"type": "fit-x", "contains": "padding"}}


def _words(words: tuple[str, ...]) -> alt.Y:
    """Returns the axis of words, in their order."""
    axis = alt.Axis(labelFontSize=13, labelFont=FONT, ticks=False, domain=False)
    return alt.Y("word:N", title=None, sort=list(words), axis=axis)


def _axis(format: str, **ticks: Any) -> alt.Axis:
    return alt.Axis(
        tickCount=5,
        **ticks,
        format=format,
        labelFontSize=12,
        labelFont=FONT,
        titleFontSize=12,
        titleFont=FONT,
        titleFontWeight="normal",
    )
