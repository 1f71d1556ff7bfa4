"""Shares of the weight per head (Altair). Charts are built once, without data."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import altair as alt

from attention.charts import theme
from attention.charts.spec import dataless
from attention.number_format import PERCENT

GROUPINGS, AXIS = 300, 80  # pixels of the height of the lines by grouping, and what the axis below takes of it
LETTERS, LINE = 12, 14  # pixels of the names of their heads, and from one name to the next
ROOM = {"left": 0, "top": 8, "right": 44, "bottom": 0}  # pixels around the lines, for the names on the right


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

    They go from multi-head on the left to multi-query on the right; the axis is 0 to 1, a rule marks `used`. Heads are named
    behind the ends of their lines, at the height `named` of the table, which `name_heights` spreads; a short line leads from
    each end to its name. Those without a height have no name.
    """
    x = alt.X("kv_heads:O", title="key-value heads →", sort=list(kv_heads), axis=alt.Axis(labelAngle=0))
    whole = alt.Scale(domain=[0, 1])
    y = alt.Y(
        "moved:Q", title="weight moved", axis=alt.Axis(format="%", labelFlush=False, labelBound=False), scale=whole
    )
    tooltip = [alt.Tooltip("head:O"), alt.Tooltip("kv_heads:O"), alt.Tooltip("moved:Q", format=PERCENT)]
    lines = alt.Chart().mark_line(point=True).encode(x=x, y=y, color=_colors(max(kv_heads)), tooltip=tooltip)
    here = alt.Chart().mark_rule(color=theme.QUERY, strokeDash=[4, 3]).encode(x=x)
    here = here.transform_filter(f"datum.kv_heads == {used}")
    ends = (
        alt.Chart()
        .transform_filter("isValid(datum.named)")
        .encode(x=x, y=alt.Y("named:Q", scale=whole), tooltip=tooltip)
    )
    dots = ends.mark_point(xOffset=11, size=40, opacity=1, filled=True, aria=False).encode(color=_colors(max(kv_heads)))
    words = ends.mark_text(align="left", dx=18, fontSize=LETTERS, aria=False).encode(
        text=alt.Text("label:N"), color=alt.value("currentColor")
    )
    leaders = ends.mark_rule(xOffset=3, x2Offset=8, opacity=0.7, aria=False).encode(
        x2=alt.X2("kv_heads"), y=alt.Y("moved:Q", scale=whole), y2=alt.Y2("named"), color=_colors(max(kv_heads))
    )
    return dataless(alt.layer(here, lines, leaders, dots, words).properties(height=GROUPINGS)) | {"padding": ROOM}


def name_heights(values: Sequence[float]) -> list[float | None]:
    """Returns a height for the name of each line that ends at these values, 0 to 1, so that names are apart.

    Names that would overlap are spread around the mean of their ends. If there are too many, every second name is left out, and
    so on: None.
    """
    apart, order = LINE / (GROUPINGS - AXIS), sorted(range(len(values)), key=lambda at: -values[at])
    every = 1
    while (-(-len(order) // every) - 1) * apart > 1:
        every += 1
    heights: list[float | None] = [None] * len(values)
    groups: list[list[int]] = []
    for at in order[::every]:
        groups.append([at])
        while len(groups) > 1 and _top(values, groups[-2], apart) - len(groups[-2]) * apart < _top(
            values, groups[-1], apart
        ):
            groups[-2:] = [groups[-2] + groups[-1]]
    for group in groups:
        top = _top(values, group, apart)
        for place, at in enumerate(group):
            heights[at] = top - place * apart
    return heights


def _top(values: Sequence[float], group: Sequence[int], apart: float) -> float:
    """Returns the height of the first name of a group, the names of which are around their ends and within 0 and 1."""
    below = (len(group) - 1) * apart
    return min(1.0, max(below, sum(values[at] for at in group) / len(group) + below / 2))


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
