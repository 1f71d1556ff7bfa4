"""Shares of the weight per head (Altair). Charts are built once, without data."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import altair as alt

from attention.charts import theme
from attention.charts.spec import dataless
from attention.number_format import PERCENT


@lru_cache(maxsize=64)
def by_head(heads: int, focus: int, title: str) -> dict[str, Any]:
    """Returns bars over the columns `head` and `share` of a table, as a Vega-Lite specification; the axis is 0 to 1."""
    chart = (
        alt.Chart()
        .mark_bar(strokeWidth=2)
        .encode(
            x=alt.X("head:O", title="head", axis=alt.Axis(labelAngle=0), scale=alt.Scale(domain=list(range(heads)))),
            y=alt.Y("share:Q", title=title, axis=alt.Axis(format="%", tickCount=5), scale=alt.Scale(domain=[0, 1])),
            color=_colors(heads),
            stroke=alt.condition(f"datum.head == {focus}", alt.value(theme.QUERY), alt.value(None)),
            tooltip=[alt.Tooltip("head:O"), alt.Tooltip("share:Q", format=PERCENT, title=title)],
        )
        .properties(height=theme.SMALL_HEIGHT - 60)
    )
    return dataless(chart)


@lru_cache(maxsize=64)
def by_grouping(kv_heads: tuple[int, ...], used: int) -> dict[str, Any]:
    """Returns one line per head over the columns `kv_heads`, `head`, `moved`, as a Vega-Lite specification.

    They go from multi-head on the left to multi-query on the right; the axis is 0 to 1, a rule marks `used`.
    """
    x = alt.X("kv_heads:O", title="key-value heads →", sort=list(kv_heads), axis=alt.Axis(labelAngle=0))
    y = alt.Y("moved:Q", title="weight moved", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1]))
    tooltip = [alt.Tooltip("head:O"), alt.Tooltip("kv_heads:O"), alt.Tooltip("moved:Q", format=PERCENT)]
    lines = alt.Chart().mark_line(point=True).encode(x=x, y=y, color=_colors(max(kv_heads)), tooltip=tooltip)
    here = alt.Chart().mark_rule(color=theme.QUERY, strokeDash=[4, 3]).encode(x=x)
    here = here.transform_filter(f"datum.kv_heads == {used}")
    return dataless(alt.layer(here, lines).properties(height=theme.SMALL_HEIGHT - 60))


@lru_cache(maxsize=4)
def by_distance(across: str, title: str) -> dict[str, Any]:
    """Returns bars over the columns `distance` and `share` of a table, as a Vega-Lite specification; the axis is 0 to 1."""
    chart = (
        alt.Chart()
        .mark_bar(color=theme.MORE)
        .encode(
            x=alt.X("distance:O", title=f"{across} →", axis=alt.Axis(labelAngle=0, labelOverlap=True)),
            y=alt.Y("share:Q", title=title, axis=alt.Axis(format="%", tickCount=5), scale=alt.Scale(domain=[0, 1])),
            tooltip=[alt.Tooltip("distance:O", title=across), alt.Tooltip("share:Q", format=PERCENT, title=title)],
        )
        .properties(height=theme.SMALL_HEIGHT - 60)
    )
    return dataless(chart)


def _colors(heads: int) -> alt.Color:
    """Returns one colour per head, from `theme.HEADS`."""
    return alt.Color("head:O", legend=None, scale=alt.Scale(domain=list(range(heads)), range=theme.head_colors(heads)))
