"""One head, large (Plotly): zoom, hover, camera."""

from __future__ import annotations

import html

import plotly.graph_objects as go
from jaxtyping import Float
from torch import Tensor

from attention.charts import theme

LABELLED = 32  # tokens up to which the axes carry them
PIXELS = 256  # cells a side at the most; beyond, a cell is the greatest weight of its tile


def weights(
    cells: Float[Tensor, "q k"], tile: int, colors: str, labels: list[str], query: int | None = None
) -> go.Figure:
    """A head's weights, queries down and keys across, NaN where the mask hides; `tile` tokens a cell.

    The colour scale is fixed at 0 to 1; "log" shows 1e-4 to 1, "own maximum" 0 to the greatest weight.
    """
    seen = cells[~cells.isnan()]
    top = float(seen.max()) if colors == "own maximum" and seen.numel() else 1.0
    z = cells.clamp(min=theme.LOG_FLOOR).log10() if colors == "log" else cells
    at = [tile * i for i in range(cells.shape[-1])]
    what = "weight" if tile == 1 else f"greatest of {tile} x {tile}"
    figure = go.Figure(
        go.Heatmap(
            z=z.numpy(),
            customdata=cells.numpy() if colors == "log" else None,
            x=at,
            y=[tile * i for i in range(cells.shape[-2])],
            zmin=-4 if colors == "log" else 0,
            zmax=0 if colors == "log" else top or 1.0,
            colorscale=theme.plotly_scale(),
            colorbar=_colorbar(colors),
            hoverongaps=False,
            hovertemplate=f"query %{{y}}<br>key %{{x}}<br>{what} %{{{'customdata' if colors == 'log' else 'z'}:.3g}}<extra></extra>",
        )
    )
    figure.update_layout(
        height=theme.FOCUS_HEIGHT,
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        xaxis={"title": "key →", "constrain": "domain", "showgrid": False, "zeroline": False, **_ticks(labels)},
        yaxis={
            "title": "query ↓",
            "autorange": "reversed",
            "scaleanchor": "x",
            "constrain": "domain",
            "showgrid": False,
            "zeroline": False,
            **_ticks(labels),
        },
        uirevision=f"{len(labels)}-{tile}-{cells.shape}",
    )
    if query is not None:
        low, high = (query // tile - 0.5) * tile, (query // tile + 0.5) * tile
        right = (cells.shape[-1] - 0.5) * tile
        figure.add_shape(
            type="rect", x0=-0.5 * tile, x1=right, y0=low, y1=high, line={"color": theme.QUERY, "width": 2}
        )
    return figure


def _ticks(labels: list[str]) -> dict:
    """Tokens as tick labels where they fit; Plotly reads markup in them, so it is escaped."""
    if not labels or len(labels) > LABELLED:
        return {}
    return {"tickvals": list(range(len(labels))), "ticktext": [html.escape(label[:16]) for label in labels]}


def _colorbar(colors: str) -> dict:
    bar = {"title": {"text": "weight"}, "thickness": 12, "outlinewidth": 0}
    if colors == "log":
        bar |= {"tickvals": [-4, -3, -2, -1, 0], "ticktext": ["≤ 0.0001", "0.001", "0.01", "0.1", "1"]}
    return bar
