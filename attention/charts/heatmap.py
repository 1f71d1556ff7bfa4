"""One head, large (Plotly): zoom, hover, camera."""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping
from math import log10
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch
from jaxtyping import Float
from torch import Tensor

from attention.charts import theme

LABELLED = 32  # tokens up to which the axes carry them
PIXELS = 256  # cells a side at the most; beyond, a cell is the greatest weight of its tile
MASKED = "rgba(128,128,128,0.18)"  # what is not drawn shows the ground; what fades into it would look half hidden
STRIPES = (
    "<svg xmlns='http://www.w3.org/2000/svg'><pattern id='p' width='8.5' height='8.5' patternUnits='userSpaceOnUse' "
    "patternTransform='rotate(45)'><path d='M0 0V9' stroke='gray' stroke-opacity='.28' stroke-width='8.5'/></pattern>"
    "<rect width='100%' height='100%' fill='url(#p)'/></svg>"
)
HATCH = {  # and the stripes of all hidden cells: in pixels, whatever the size, and below every cell
    "source": "data:image/svg+xml;base64," + base64.b64encode(STRIPES.encode()).decode(),
    "layer": "below",
    "sizing": "stretch",
    "xref": "x domain",
    "yref": "y domain",
    "y": 1,
    "sizex": 1,
    "sizey": 1,
}
AXIS = {"showgrid": False, "zeroline": False, "constrain": "domain", "automargin": False}
LETTER, CUT = 7, 10  # pixels of a letter beside an axis, and letters of a token at the most
FEW = 6  # tokens up to which each has a tick
BAR_BELOW = {"b": 100, "r": 14}  # pixels around a square whose scale is below it
SELECTING = {  # Plotly offers no way back from these two to a rectangle
    "displaylogo": False,
    "modeBarButtonsToRemove": ["zoom2d", "pan2d"],
}
NO_TICKS: Mapping[str, Any] = {}


def weights(
    cells: Float[Tensor, "q k"],
    tile: int,
    colors: str,
    labels: list[str],
    query: int | None = None,
    height: int = theme.FOCUS_HEIGHT,
    seeing: Float[Tensor, "q k"] | None = None,
) -> go.Figure:
    """A head's weights, queries down and keys across, NaN where the mask hides; `tile` tokens a cell.

    The colour scale is fixed at 0 to 1; "log" shows 1e-4 to 1, "times even" the weight times the keys in sight of its
    query (`seeing`; unless given, those that are drawn) from 1/100 to 100, "own maximum" 0 to the greatest weight of
    queries that see more than one key. The row of `query` has a frame.
    """
    spec = _spec(cells, tile, colors, labels, query, height, seeing=seeing)
    return go.Figure(spec, _validate=False)  # checking it all takes ten times as long


def selectable(
    cells: Float[Tensor, "q k"],
    tile: int,
    colors: str,
    labels: list[str],
    query: int,
    first: tuple[int, int],
    seeing: Float[Tensor, "q k"] | None = None,
    keys: list[str] | None = None,
) -> Ready:
    """The same of a part that begins at the query and the key `first`; dragging in it selects a rectangle.

    `keys`: the labels of keys that are not the queries.
    """
    spec = _spec(cells, tile, colors, labels, query, theme.FOCUS_HEIGHT, first, seeing, keys)
    spec["layout"]["dragmode"] = "select"
    return Ready(spec)


class Ready(go.Figure):
    """A figure that is sent as it stands, and can do nothing else: its arrays are in the form that travels.

    What Plotly's own does on its way, to check, copy and convert what it is made of, takes longer than the pass.
    """

    spec: dict[str, Any]

    def __init__(self, spec: dict[str, Any]) -> None:
        for trace in spec["data"]:
            trace |= {name: _typed_array(value) for name, value in trace.items() if isinstance(value, np.ndarray)}
        object.__setattr__(self, "spec", spec)

    def to_dict(self) -> dict[str, Any]:
        return self.spec


def _typed_array(values: np.ndarray) -> dict[str, str]:
    """An array of float32 as the browser reads it: a typed array in base64."""
    packed = base64.b64encode(np.ascontiguousarray(values, np.float32)).decode()  # pyright: ignore[reportArgumentType]  an array is a buffer
    return {"dtype": "f4", "bdata": packed, "shape": ", ".join(map(str, values.shape))}


def _spec(
    cells: Float[Tensor, "q k"],
    tile: int,
    colors: str,
    labels: list[str],
    query: int | None,
    height: int,
    first: tuple[int, int] = (0, 0),
    seeing: Float[Tensor, "q k"] | None = None,
    keys: list[str] | None = None,
) -> dict[str, Any]:
    """The figure as Plotly's JSON has it, with arrays."""
    rows, columns = cells.shape
    top, left, high, wide = *first, rows * tile, columns * tile  # cells are centred on their tokens
    below, beside = _ticks(labels if keys is None else keys, left, wide), _ticks(labels, top, high)
    across = {"title": {"text": "key →"}, "range": [left - 0.5, left + wide - 0.5], **below}
    down = {"title": {"text": "← query"}, "range": [top + high - 0.5, top - 0.5], **beside}
    layout = {
        "template": {},
        "height": height,
        "margin": margin(below, beside),
        "plot_bgcolor": MASKED,
        "images": [HATCH],
        "xaxis": AXIS | across,
        "yaxis": AXIS | down | {"scaleanchor": "x"},
        "uirevision": f"{rows} {columns} {tile} {first}",  # a zoom stays while the size does
        "shapes": [] if query is None else _frames(query, tile, first, rows, columns),
    }
    drawn = _cells(cells, tile, first) | _shades(cells, tile, colors, seeing)
    data = [{"type": "heatmap", **drawn, **_scale(cells, colors, seeing)}]
    return {"data": data, "layout": layout}


def margin(below: Mapping[str, Any] = NO_TICKS, beside: Mapping[str, Any] = NO_TICKS) -> dict[str, int | bool]:
    """Pixels around a square: room for its scale and for what stands along its axes.

    Fixed, as Plotly draws a figure that finds its own margins twice: half of the 100 ms that a browser spends on one.
    """
    upright = LETTER * max(map(len, below.get("ticktext", ())), default=2)  # tokens that have no room side by side
    long = max(map(len, [*beside.get("ticktext", ()), *beside.get("labelalias", {}).values()]), default=0)
    return {"l": 34 + LETTER * max(5, long), "r": 88, "t": 12, "b": 40 + upright, "pad": 0, "autoexpand": False}


def _cells(cells: Float[Tensor, "q k"], tile: int, first: tuple[int, int]) -> dict:
    """Where the cells are."""
    middle = (tile - 1) / 2
    return {"x0": first[1] + middle, "y0": first[0] + middle, "dx": tile, "dy": tile, "hoverongaps": False}


def _shades(cells: Float[Tensor, "q k"], tile: int, colors: str, seeing: Float[Tensor, "q k"] | None) -> dict:
    """Where on their scale the cells stand, and what is said of them under the pointer: the weight itself."""
    at = "query %{y}<br>key %{x}" if tile == 1 else f"query %{{y:.0f}} ± {tile // 2}<br>key %{{x:.0f}} ± {tile // 2}"
    what = f"{at}<br>{'weight' if tile == 1 else f'greatest of {tile} x {tile}'}"
    if colors == "times even":
        times = cells * (seeing if seeing is not None else (~cells.isnan()).sum(-1, keepdim=True))
        shades = times.clamp(1 / theme.TIMES, theme.TIMES).log10().numpy()
        said = f"{what} %{{customdata[0]:.3g}}<br>%{{customdata[1]:.3g}} × even<extra></extra>"
        return {"z": shades, "customdata": torch.stack([cells, times], -1).numpy(), "hovertemplate": said}
    if colors == "log":
        shades = cells.clamp(min=theme.LOG_FLOOR).log10().numpy()
        return {"z": shades, "customdata": cells.numpy(), "hovertemplate": f"{what} %{{customdata:.3g}}<extra></extra>"}
    return {"z": cells.numpy(), "hovertemplate": f"{what} %{{z:.3g}}<extra></extra>"}


def _scale(cells: Float[Tensor, "q k"], colors: str, seeing: Float[Tensor, "q k"] | None) -> dict:
    """The map of colours, from where to where, and its bar."""
    low, high, bar = 0.0, 1.0, {"title": {"text": "weight"}, "thickness": 12, "outlinewidth": 0}
    if colors == "log":
        low = log10(theme.LOG_FLOOR)
        bar |= {"tickvals": [-4, -3, -2, -1, 0], "ticktext": ["≤ 0.0001", "0.001", "0.01", "0.1", "1"]}
    if colors == "times even":
        low, high = -log10(theme.TIMES), log10(theme.TIMES)
        ends = {"tickvals": [-2, -1, 0, 1, 2], "ticktext": ["≤ 1/100", "1/10", "even", "10", "≥ 100"]}
        bar |= ends | {"title": {"text": "× even"}}
    if colors == "own maximum":
        high = _most(cells, seeing)
    return {"zmin": low, "zmax": high, "colorscale": theme.plotly_scale(), "colorbar": bar}


def _most(cells: Float[Tensor, "q k"], seeing: Float[Tensor, "q k"] | None) -> float:
    """The greatest weight of queries that see more than one key, of all where none does; 1 where nothing is greater than 0."""
    drawn = cells.nan_to_num(0)
    several = drawn if seeing is None else drawn.masked_fill(seeing == 1, 0)
    return float(several.max()) or float(drawn.max()) or 1.0


def difference(
    cells: Float[Tensor, "q k"], tile: int, labels: list[str], height: int = theme.FOCUS_HEIGHT
) -> go.Figure:
    """What was taken (below zero) and what was given (above), centred on zero and fixed at -1 to 1."""
    what = "change" if tile == 1 else f"farthest from 0 of {tile} x {tile}"
    figure = weights(cells, tile, "linear", labels, height=height)
    figure.update_traces(
        zmin=-1,
        zmax=1,
        colorscale=theme.differences(),
        colorbar={"title": {"text": "change"}, "thickness": 12, "outlinewidth": 0},
        hovertemplate=f"query %{{y}}<br>key %{{x}}<br>{what} %{{z:+.3g}}<extra></extra>",
    )
    edge = {"showline": True, "mirror": True, "linecolor": theme.HIDDEN}
    figure.layout.images = ()  # an update would add to them; no change is the ground itself
    return figure.update_layout(plot_bgcolor="rgba(0,0,0,0)").update_xaxes(**edge).update_yaxes(**edge)


def outputs(cells: Float[Tensor, "q c"], tiles: tuple[int, int], limit: float) -> go.Figure:
    """Differences of outputs, queries down and channels across, from -limit to limit; `tiles`: queries, channels a cell."""
    figure = difference(cells, 1, [])
    down, across = ([tile * i for i in range(count)] for tile, count in zip(tiles, cells.shape, strict=True))
    what = "difference" if tiles == (1, 1) else f"farthest from 0 of {tiles[0]} x {tiles[1]}"
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


def vector(
    cells: Float[Tensor, "1 k"], tile: int, colors: str, seeing: Float[Tensor, "1 k"] | None = None
) -> go.Figure:
    """One row of weights for all queries; it has no axis of queries, and is as high as there is room."""
    figure = weights(cells, tile, colors, [], seeing=seeing)
    return figure.update_yaxes(title="", showticklabels=False, ticks="", scaleanchor=None)


def influence(cells: Float[Tensor, "q k"]) -> go.Figure:
    """How much each output changes with each token; what is exactly nothing is left out, as hidden pairs are."""
    figure = weights(cells.masked_fill(cells == 0, torch.nan), 1, "own maximum", [])
    figure.update_traces(
        colorscale=theme.plotly_scale(theme.INFLUENCE),
        colorbar={"title": {"text": "change"}},
        hovertemplate="output %{y}<br>token %{x}<br>change %{z:.3g}<extra></extra>",
    )
    return figure.update_xaxes(title="token →").update_yaxes(title="← output")


def narrow(figure: go.Figure) -> go.Figure:
    """The same square for a narrow column, with its scale below; what the scale is of stands above the figure."""
    bar = {"orientation": "h", "y": -0.24, "yanchor": "top", "thickness": 8, "title": {"text": ""}, "nticks": 5}
    return figure.update_layout(height=theme.NARROW_HEIGHT, margin=BAR_BELOW).update_traces(colorbar=bar)


def _ticks(labels: list[str], first: int, count: int) -> dict:
    """Tokens as tick labels where they fit, beside their positions elsewhere; Plotly reads markup, so it is escaped."""
    names = {first + at: html.escape(_cut(label)) for at, label in enumerate(labels[first : first + count])}
    if len(names) > LABELLED:
        return {"tickformat": "d", "labelalias": {str(at): f"{at} {name}" for at, name in names.items()}}
    few = {"dtick": 1} if count <= FEW else {}  # or Plotly puts ticks between tokens
    return {"tickvals": list(names), "ticktext": list(names.values())} if names else few


def _cut(label: str) -> str:
    return label if len(label) <= CUT else f"{label[: CUT - 1]}…"


def _frames(query: int, tile: int, first: tuple[int, int], rows: int, columns: int) -> list[dict]:
    """A frame around the row of tiles with the query, where that is shown."""
    top = first[0] + (query - first[0]) // tile * tile
    if not first[0] <= top < first[0] + rows * tile:
        return []
    ends = {"x0": first[1] - 0.5, "x1": first[1] + columns * tile - 0.5, "y0": top - 0.5, "y1": top + tile - 0.5}
    return [{"type": "rect", "line": {"color": theme.QUERY, "width": 2}, **ends}]
