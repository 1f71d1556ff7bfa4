"""A head in a number type against float64: the map of differences (Plotly) and the row with the largest one (Altair)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import altair as alt
import plotly.graph_objects as go
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.charts import theme
from attention.charts.heatmap import AXIS, MASKED, margin
from attention.charts.stages import bare

HEIGHT = 430


def differences(cells: Float[Tensor, "p r"], broken: Bool[Tensor, "p r"], tile: int, end: float) -> go.Figure:
    """Returns weights minus the exact ones, queries down, keys across, on a scale from -end to end; NaN for masked pairs.

    Cells that are not finite (`broken`) have their own colour; `tile` tokens per cell.
    """
    beside, below = ([tile * i for i in range(size)] for size in cells.shape)
    place = {"type": "heatmap", "x": below, "y": beside, "hoverongaps": False}
    what = "difference" if tile == 1 else f"largest difference of {tile} × {tile}"
    bar = {"title": {"text": "difference"}, "thickness": 12, "outlinewidth": 0, "exponentformat": "e", "nticks": 5}
    shown = {
        "z": cells.masked_fill(broken, torch.nan).numpy(),
        "hovertemplate": f"query %{{y}}<br>key %{{x}}<br>{what} %{{z:.3e}}<extra></extra>",
        "colorbar": bar,
    }
    shown |= {"zmin": -end, "zmax": end, "colorscale": theme.differences()}
    kinds = ((cells.isnan() & ~broken, MASKED, "masked"), (broken, theme.BROKEN, "NaN"))
    flat = [_flat(*kind) for kind in kinds if kind[0].any()]  # one image each, which a browser renders again every time
    down = AXIS | {"title": {"text": "← query"}, "autorange": "reversed", "scaleanchor": "x"}
    layout = {
        "height": HEIGHT,
        "template": {},
        "margin": margin(),
        "xaxis": AXIS | {"title": {"text": "key →"}},
        "yaxis": down,
        "uirevision": f"{tile}-{len(cells)}",
    }
    return go.Figure({"data": [place | each for each in [shown, *flat]], "layout": layout}, _validate=False)


def _flat(where: Bool[Tensor, "p r"], color: str, said: str) -> dict[str, Any]:
    """Returns the cells of `where` in one colour."""
    ones = torch.ones(where.shape).masked_fill(~where, torch.nan).numpy()
    words = f"query %{{y}}<br>key %{{x}}<br>{said}<extra></extra>"
    return {"z": ones, "hovertemplate": words, "colorscale": [(0, color), (1, color)], "showscale": False}


@lru_cache(maxsize=32)
def row(keys: int, end: float) -> dict[str, Any]:
    """Returns the differences of one row over the columns of `tables.softmax.worst_row`, from -end to end."""
    x = alt.X("key:Q", title="key →", scale=alt.Scale(domain=[-0.5, keys - 0.5], nice=False), axis=alt.Axis(grid=False))
    scale = alt.Scale(domain=[-end, end], nice=False)
    y = alt.Y("difference:Q", title="difference", scale=scale, axis=alt.Axis(format="~g", tickCount=5))
    tips = [
        alt.Tooltip("key:Q"),
        *(alt.Tooltip(f"{name}:Q", format=".4e") for name in ("weight", "exact", "difference")),
    ]
    chart = alt.Chart().encode(x=x, tooltip=tips)
    bars = chart.mark_bar(color=theme.QUERY, width=max(1, min(24, 360 // keys))).encode(y=y)
    lost = chart.transform_filter("!isValid(datum.difference)").mark_text(text="×", color=theme.BROKEN, aria=False)
    return bare(alt.layer(bars, lost).properties(height=theme.CURVE_HEIGHT), keys)
