"""A head in a number type against float64: the map of differences (Plotly) and the row that is farthest off (Altair)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import altair as alt
import plotly.graph_objects as go
from jaxtyping import Bool, Float
from torch import Tensor

from attention.charts import theme
from attention.charts.stages import bare


def differences(cells: Float[Tensor, "p p"], broken: Bool[Tensor, "p p"], tile: int, end: float) -> go.Figure:
    """Weights less the exact ones, queries down and keys across, on a scale from -end to end; NaN where hidden.

    Cells that are no number (`broken`) have a colour of their own; `tile` tokens a cell.
    """
    at = [tile * i for i in range(len(cells))]
    place = {"x": at, "y": at, "hoverongaps": False}
    what = "difference" if tile == 1 else f"greatest difference of {tile} x {tile}"
    over = f"query %{{y}}<br>key %{{x}}<br>{what} %{{z:.3e}}<extra></extra>"
    colors = [(i / (len(theme.DIFFERENCES) - 1), color) for i, color in enumerate(theme.DIFFERENCES)]
    bar = {"title": {"text": "difference"}, "thickness": 12, "outlinewidth": 0, "exponentformat": "e", "nticks": 5}
    shades = {"zmin": -end, "zmax": end, "colorscale": colors, "colorbar": bar}
    figure = go.Figure(
        go.Heatmap(z=cells.masked_fill(broken, float("nan")).numpy(), hovertemplate=over, **place, **shades)
    )
    if broken.any():
        lost = cells.new_ones(cells.shape).masked_fill(~broken, float("nan")).numpy()
        said = "query %{y}<br>key %{x}<br>not a number<extra></extra>"
        flat = [(0, theme.BROKEN), (1, theme.BROKEN)]
        figure.add_trace(go.Heatmap(z=lost, hovertemplate=said, colorscale=flat, showscale=False, **place))
    axis = {"constrain": "domain", "showgrid": False, "zeroline": False}
    return figure.update_layout(
        height=theme.FOCUS_HEIGHT,
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        xaxis=axis | {"title": "key →"},
        yaxis=axis | {"title": "query ↓", "autorange": "reversed", "scaleanchor": "x"},
        uirevision=f"{tile}-{len(cells)}",
    )


@lru_cache(maxsize=32)
def row(keys: int, end: float) -> dict[str, Any]:
    """The differences of one row over the columns of `softmax_tables.worst_row`, from -end to end."""
    x = alt.X("key:Q", title="key →", scale=alt.Scale(domain=[-0.5, keys - 0.5], nice=False), axis=alt.Axis(grid=False))
    scale = alt.Scale(domain=[-end, end], nice=False)
    y = alt.Y("difference:Q", title="difference", scale=scale, axis=alt.Axis(format=".1e", tickCount=5))
    tips = [
        alt.Tooltip("key:Q"),
        *(alt.Tooltip(f"{name}:Q", format=".4e") for name in ("weight", "exact", "difference")),
    ]
    chart = alt.Chart().encode(x=x, tooltip=tips)
    bars = chart.mark_bar(color=theme.QUERY, width=max(1, min(24, 360 // keys))).encode(y=y)
    lost = chart.transform_filter("!isValid(datum.difference)").mark_text(text="×", color=theme.BROKEN)
    return bare(alt.layer(bars, lost).properties(height=theme.CURVE_HEIGHT))
