"""The matrix of distances between heads (Plotly), in the order of a tree, which places similar heads next to each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxtyping import Float
from torch import Tensor

from attention.charts import theme
from attention.charts.heatmap import Ready

HEIGHT = 438  # as high as the map of the heads beside it, with its key


def square(apart: Float[Tensor, "h h"], names: Sequence[str], focus: int | None) -> Ready:
    """Returns the distances in bits, from 0 to 1, of every two heads in the given order. The selected head has a frame.

    The names are generated from layer and head, as in L1H3, so they contain no text of a visitor.
    """
    ticks: dict[str, Any] = {
        "type": "category",
        "tickfont": {"size": 11},
        "showgrid": False,
        "zeroline": False,
        "constrain": "domain",
        "automargin": False,
    }
    data = {
        "type": "heatmap",
        "x": list(names),
        "y": list(names),
        "z": apart.numpy(),
        "zmin": 0,
        "zmax": 1,
        "colorscale": theme.plotly_scale(theme.DISTANCES),
        "colorbar": {"title": {"text": "distance"}, "thickness": 12, "outlinewidth": 0, "xpad": 18},
        "hovertemplate": "heads %{y} and %{x}<br>%{z:.3f} apart<extra></extra>",
    }
    ends = [-0.5, len(names) - 0.5]
    layout = {
        "template": {},
        "height": HEIGHT,
        "margin": {"l": 46, "r": 78, "t": 20, "b": 46, "pad": 0, "autoexpand": False},
        "xaxis": ticks | {"range": ends, "tickangle": -90 if len(names) > 12 else 0},
        "yaxis": ticks | {"range": ends[::-1], "scaleanchor": "x"},
        "uirevision": len(names),
        "shapes": [] if focus is None else [_frame(focus, ends, "x"), _frame(focus, ends, "y")],
        "annotations": [] if focus is None else [_name(names[focus], focus, ends, along) for along in ("x", "y")],
    }
    return Ready({"data": [data], "layout": layout})


def _name(name: str, at: int, ends: list[float], along: str) -> dict[str, Any]:
    """Returns the name of the selected head above its column, or right of its row: the axes have room for few of the names."""
    look = {"text": f"<b>{name}</b>", "showarrow": False, "font": {"size": 11, "color": theme.QUERY}}
    if along == "x":
        return look | {"x": at, "y": ends[0], "yanchor": "bottom"}
    return look | {"x": ends[1], "y": at, "xanchor": "left", "textangle": 90}


def _frame(at: int, ends: list[float], along: str) -> dict[str, Any]:
    """Returns a frame around a row or a column."""
    one = [at - 0.5, at + 0.5]
    (x0, x1), (y0, y1) = (one, ends) if along == "x" else (ends, one)
    return {"type": "rect", "x0": x0, "x1": x1, "y0": y0, "y1": y1, "line": {"color": theme.QUERY, "width": 1.5}}
