"""The distribution of all weights (Altair): a histogram and the entropy per query, one strip per head."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import altair as alt

from attention.charts import theme
from attention.charts.stages import bare
from attention.number_format import PERCENT

TALL, FULL = 0.88, 400  # share of a head's strip that its largest bar fills, and the height of all strips in pixels
SIZES = (1e-8, 1e-6, 1e-4, 1e-2, 1)


def size_axis() -> alt.X:
    """Returns the axis of weights by size, which is logarithmic and fixed, over the column low."""
    return alt.X(
        "low:Q",
        title="weight (log)",
        scale=alt.Scale(type="log", domain=[SIZES[0], 1], nice=False),
        axis=alt.Axis(values=list(SIZES), format="~g", labelOverlap=False),
    )


@lru_cache(maxsize=32)
def histogram(heads: int, focus: int) -> dict[str, Any]:
    """Returns weights by size on a log axis, one strip per head, over the columns of `tables.softmax.histogram`.

    The axes are fixed.
    """
    tips = [
        alt.Tooltip("head:Q"),
        alt.Tooltip("low:Q", title="from", format=".2~g"),
        alt.Tooltip("high:Q", title="to", format=".2~g"),
        alt.Tooltip("pairs:Q", format=","),
        alt.Tooltip("share:Q", format=PERCENT),
    ]
    chart = (
        _strips(heads, focus, "datum.tall")
        .mark_bar()
        .encode(x=size_axis(), x2="high:Q", y=_heads(heads), y2="top:Q", color=_colors(heads), tooltip=tips)
    )
    return bare(_mark_selected(chart, heads, focus), heads * 8)


@lru_cache(maxsize=32)
def entropies(heads: int, queries: int, greatest: float, focus: int) -> dict[str, Any]:
    """Returns the entropy by query, one strip per head, over the columns of `tables.softmax.entropies`.

    A strip is `greatest` nats tall, the largest possible entropy of any query; the grey line is that of each query.
    """
    scale = alt.Scale(domain=[-0.5, queries - 0.5], nice=False)
    x = alt.X("query:Q", title="query →", scale=scale, axis=alt.Axis(tickMinStep=1, format="d", grid=False))
    tips = [alt.Tooltip("head:Q"), alt.Tooltip("query:Q")]
    tips += [alt.Tooltip(f"{name}:Q", format=".3f") for name in ("low", "mean", "high", "most")]
    base = _strips(heads, focus, f"datum.mean / {greatest}").transform_calculate(
        under=f"datum.head + 0.5 - {TALL} * datum.low / {greatest}",
        over=f"datum.head + 0.5 - {TALL} * datum.high / {greatest}",
        limit=f"datum.head + 0.5 - {TALL} * datum.most / {greatest}",
    )
    color = _colors(heads)
    area = base.mark_area(opacity=0.25).encode(x=x, y=_heads(heads), y2="top:Q", color=color)
    band = base.mark_area(opacity=0.35).encode(x=x, y=_heads(heads, "under:Q"), y2="over:Q", color=color)
    line = base.mark_line(strokeWidth=1.5).encode(x=x, y=_heads(heads, "top:Q"), color=color)
    limit = base.mark_line(color=theme.HIDDEN, strokeWidth=1, strokeDash=[3, 2]).encode(
        x=x, y=_heads(heads, "limit:Q"), detail="head:N"
    )
    touch = base.mark_point(opacity=0, size=80).encode(x=x, y=_heads(heads, "top:Q"), tooltip=tips)
    return bare(_mark_selected(alt.layer(limit, area, band, line, touch), heads, focus), heads * queries)


def _strips(heads: int, focus: int, height: str) -> alt.Chart:
    """Returns a chart with computed columns `base` and `top` for its bars: a head's strip is one unit tall."""
    return alt.Chart().transform_calculate(base="datum.head + 0.5", top=f"datum.head + 0.5 - {TALL} * {height}")


def _heads(heads: int, field: str = "base:Q") -> alt.Y:
    axis = alt.Axis(values=list(range(heads)), grid=False, domain=False, format="d", labelOverlap=False)
    scale = alt.Scale(domain=[-0.5, heads - 0.5], nice=False, zero=False, reverse=True)
    return alt.Y(field, title="← head", scale=scale, axis=axis)


def _colors(heads: int) -> alt.Color:
    colors = theme.head_colors(heads)
    return alt.Color("head:N", scale=alt.Scale(domain=list(range(heads)), range=colors), legend=None)


def _mark_selected(chart: Any, heads: int, focus: int) -> alt.LayerChart | alt.FacetChart:
    """Adds a frame around the selected head."""
    frame = alt.Chart().mark_rect(fill=None, stroke=theme.QUERY, strokeWidth=1.5)
    around = frame.encode(
        x=alt.value(0),
        x2=alt.value("width"),
        y=alt.YDatum(focus - 0.5, type="quantitative"),
        y2=alt.Y2Datum(focus + 0.5),
    )
    layers = chart.layer if isinstance(chart, alt.LayerChart) else [chart]
    return alt.layer(around, *layers).properties(height=strips_height(heads))


def strips_height(heads: int) -> int:
    """Returns the height in pixels of the strips of so many heads."""
    return max(150, min(FULL, 60 * heads), 24 * heads)
