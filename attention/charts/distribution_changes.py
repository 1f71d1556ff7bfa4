"""How the distributions of all weights changed from A to B (Altair): bars around zero, one strip per head."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import altair as alt

from attention.charts import theme
from attention.charts.distribution import size_axis, strips_height
from attention.charts.stages import bare
from attention.number_format import PERCENT

TALL = 0.46  # share of a strip that a bar at the limit fills, above or below its middle
CHANGE = alt.Tooltip("change:Q", title="B − A", format="+.3g")


@lru_cache(maxsize=32)
def histogram_changes(heads: tuple[int, ...]) -> dict[str, Any]:
    """Returns the change of shares by size on a log axis, over the columns of `tables.distribution_changes.histogram_changes`.

    A strip ends at -1 and 1; heights are by the square root.
    """
    tips = [
        alt.Tooltip("head:Q"),
        alt.Tooltip("low:Q", title="from", format=".2~g"),
        alt.Tooltip("high:Q", title="to", format=".2~g"),
        alt.Tooltip("a:Q", title="A", format=PERCENT),
        alt.Tooltip("b:Q", title="B", format=PERCENT),
        alt.Tooltip("change:Q", title="B − A", format=f"+{PERCENT}"),
    ]
    return _bars(heads, 1.0, size_axis(), "high:Q", tips)


@lru_cache(maxsize=32)
def entropy_changes(heads: tuple[int, ...], queries: int, limit: float) -> dict[str, Any]:
    """Returns the change of entropies by query, in nats, over the columns of `tables.distribution_changes.entropy_changes`.

    A strip ends at -`limit` and `limit`, the most that an entropy can change by; heights are by the square root.
    """
    scale = alt.Scale(domain=[0, queries], nice=False)
    x = alt.X("first:Q", title="query →", scale=scale, axis=alt.Axis(tickMinStep=1, format="d", grid=False))
    tips = [alt.Tooltip("head:Q"), alt.Tooltip("query:Q")]
    tips += [alt.Tooltip(f"{side}:Q", title=side.upper(), format=".3f") for side in "ab"]
    return _bars(heads, limit, x, "next:Q", [*tips, CHANGE])


def _bars(heads: tuple[int, ...], limit: float, x: alt.X, end: str, tips: list[alt.Tooltip]) -> dict[str, Any]:
    """Returns bars from the middle of each head's strip, upwards for what is more in B, and a line at zero."""
    names = f"{json.dumps(heads)}[datum.value]"
    axis = alt.Axis(
        values=list(range(len(heads))), grid=False, domain=False, labelExpr=names, labelOverlap=False, ticks=False
    )
    scale = alt.Scale(domain=[-0.5, len(heads) - 0.5], nice=False, zero=False, reverse=True)
    y = alt.Y("strip:Q", title="← head", scale=scale, axis=axis)
    color = alt.condition("datum.change < 0", alt.value(theme.LESS), alt.value(theme.MORE))
    tall = f"{TALL} * sqrt(abs(datum.change) / {limit})"
    base = alt.Chart().transform_calculate(end=f"datum.strip + (datum.change < 0 ? 1 : -1) * {tall}")
    bars = base.mark_bar().encode(x=x, x2=end, y=y, y2="end:Q", color=color, tooltip=tips)
    zero = alt.Chart().mark_rule(color=theme.HIDDEN, strokeWidth=1, aria=False).encode(y=y)
    return bare(alt.layer(zero, bars).properties(height=strips_height(len(heads))), len(heads) * 8)
