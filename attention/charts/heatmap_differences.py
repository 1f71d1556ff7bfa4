"""Heatmaps of differences (Plotly): of two heads' weights, of two masks, and of two outputs."""

from __future__ import annotations

import plotly.graph_objects as go
from jaxtyping import Float
from torch import Tensor

from attention.charts import heatmap, theme


def difference(
    cells: Float[Tensor, "q k"], tile: int, labels: list[str], height: int = theme.FOCUS_HEIGHT
) -> go.Figure:
    """Returns a heatmap of weights lost (below zero) and gained (above), centred on zero and fixed at -1 to 1."""
    what = "change" if tile == 1 else f"largest magnitude of {tile} x {tile}"
    figure = heatmap.weights(cells, tile, "linear", labels, height=height)
    figure.update_traces(
        zmin=-1,
        zmax=1,
        colorscale=theme.differences(),
        colorbar={"title": {"text": "change"}, "thickness": 12, "outlinewidth": 0},
        hovertemplate=f"query %{{y}}<br>key %{{x}}<br>{what} %{{z:+.3g}}<extra></extra>",
    )
    edge = {"showline": True, "mirror": True, "linecolor": theme.HIDDEN}
    figure.layout.images = ()  # an update would append to them; cells without change show the background
    return figure.update_layout(plot_bgcolor="rgba(0,0,0,0)").update_xaxes(**edge).update_yaxes(**edge)


def mask_difference(cells: Float[Tensor, "q k"], tile: int, height: int = theme.FOCUS_HEIGHT) -> go.Figure:
    """Returns a heatmap of the pairs that one of two masks keeps alone: A below zero, B above; NaN: neither keeps one.

    The scale is fixed at -1 to 1; grey is zero, pairs that both keep.
    """
    what = "" if tile == 1 else f"<br>%{{z:+.2f}} of {tile} x {tile}"
    figure = heatmap.weights(cells, tile, "linear", [], height=height)
    bar = {"tickvals": [-1, 0, 1], "ticktext": ["A only", "both", "B only"], "title": {"text": ""}}
    return figure.update_traces(
        zmin=-1,
        zmax=1,
        colorscale=[(0, theme.LESS), (0.5, theme.KEPT), (1, theme.MORE)],
        colorbar=bar | {"thickness": 12, "outlinewidth": 0},
        hovertemplate=f"query %{{y}}<br>key %{{x}}{what}<extra></extra>",
    )


def outputs(cells: Float[Tensor, "q c"], tiles: tuple[int, int], limit: float) -> go.Figure:
    """Returns differences of outputs from -limit to limit, queries down, channels across; `tiles`: both per cell."""
    figure = difference(cells, 1, [])
    down, across = ([tile * i for i in range(count)] for tile, count in zip(tiles, cells.shape, strict=True))
    what = "difference" if tiles == (1, 1) else f"largest magnitude of {tiles[0]} x {tiles[1]}"
    figure.update_traces(
        x=across,
        y=down,
        zmin=-limit,
        zmax=limit,
        colorbar={"title": {"text": "difference"}},
        hovertemplate=f"query %{{y}}<br>channel %{{x}}<br>{what} %{{z:+.3g}}<extra></extra>",
    )
    figure.update_xaxes(title="channel →", range=[-tiles[1] / 2, (len(across) - 0.5) * tiles[1]])
    return figure.update_yaxes(range=[(len(down) - 0.5) * tiles[0], -tiles[0] / 2], scaleanchor=None)
