"""Vectors as strips of cells, one cell per channel (Altair). The chart is built once per set of rows, without data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import altair as alt

from attention.charts import theme
from attention.charts.spec import dataless

CELL, GAP = 13, 0.12  # pixels of the height of a strip, and the part of it that is free between strips
KEY = "brown: below zero · green: above; the fuller, the larger"
NAMES = 150  # pixels that the names of rows have at most


@cache
def strips(names: tuple[str, ...]) -> dict[str, Any]:
    """Returns a strip per row, as a Vega-Lite specification: green cells are above zero, brown ones below, the fuller the larger.

    The columns are those of `cells`.
    """
    rows = alt.Y(
        "row:N",
        title=None,
        sort=names,
        scale=alt.Scale(paddingInner=GAP, paddingOuter=0),
        axis=alt.Axis(domain=False, ticks=False, labelFontSize=12, labelLimit=NAMES, labelPadding=6),
    )
    key = alt.Axis(
        title=KEY, labels=False, ticks=False, domain=False, titleFontSize=11, titlePadding=2, titleFontWeight="normal"
    )
    channels = alt.X("channel:O", axis=key, scale=alt.Scale(paddingInner=0, paddingOuter=0))
    chart = (
        alt.Chart()
        .mark_rect(stroke=theme.HIDDEN, strokeWidth=0.3)
        .encode(
            x=channels,
            y=rows,
            color=alt.condition("datum.value < 0", alt.value(theme.LESS), alt.value(theme.MORE)),
            fillOpacity=alt.FillOpacity("size:Q", scale=alt.Scale(domain=[0, 1], range=[0, 1]), legend=None),
            tooltip=[
                alt.Tooltip("row:N", title="vector"),
                alt.Tooltip("channel:O"),
                alt.Tooltip("label:N", title="value"),
            ],
        )
        .properties(height=len(names) * CELL)
    )
    return dataless(chart) | {"autosize": {"type": "fit-x", "contains": "padding"}, "padding": 0}


def cells(vectors: Mapping[str, tuple[Sequence[float], float]]) -> list[dict[str, Any]]:
    """Returns the data of `strips`: the numbers of some vectors by name, each with the number at which its cells are full."""
    return [
        {"row": name, "channel": channel, "value": value, "size": abs(value) / full, "label": f"{value:.3g}"}
        for name, (vector, full) in vectors.items()
        for channel, value in enumerate(vector)
    ]
