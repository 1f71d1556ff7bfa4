"""A large heatmap of one head (Plotly), with zoom, hover and download."""

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

LABELLED = 32  # maximum number of tokens for which the axes show their texts
PIXELS = 256  # maximum number of cells per side; with more tokens, a cell is the largest weight of its tile
MASKED = "rgba(128,128,128,0.18)"  # shows where no cell is drawn; a colour of the map that fades into it would look partly masked
STRIPES = (
    "<svg xmlns='http://www.w3.org/2000/svg'><pattern id='p' width='8.5' height='8.5' patternUnits='userSpaceOnUse' "
    "patternTransform='rotate(45)'><path d='M0 0V9' stroke='gray' stroke-opacity='.28' stroke-width='8.5'/></pattern>"
    "<rect width='100%' height='100%' fill='url(#p)'/></svg>"
)
HATCH = {  # the stripes of masked cells, below all cells: their width is in pixels, at any size of the figure
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
LETTER, CUT = 7, 10  # pixels per letter next to an axis, and maximum number of letters of a token
FEW = 6  # maximum number of tokens for which each has a tick
BAR_BELOW = {"b": 100, "r": 14}  # margins in pixels of a heatmap with its colour bar below
SELECTING = {  # Plotly has no button that returns from these two to a rectangle
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
    signed: bool = False,
) -> go.Figure:
    """Returns a heatmap of a head's weights, queries down and keys across, NaN for masked pairs; `tile` tokens per cell.

    The colour scale is fixed at 0 to 1; "log" shows 1e-4 to 1, "times even" the weight relative to the uniform weight from
    1/100 to 100, "own maximum" 0 to the largest weight of queries with more than one visible key. `seeing`: the number of
    visible keys per query; by default the keys drawn are counted, and "own maximum" includes all queries. The row of
    `query` has a frame. If `signed`, weights may be negative, and the scale goes as far on both sides of zero.
    """
    spec = _spec(cells, tile, colors, labels, query, height, seeing=seeing, signed=signed)
    return go.Figure(spec, _validate=False)  # validation takes ten times as long


def selectable(
    cells: Float[Tensor, "q k"],
    tile: int,
    colors: str,
    labels: list[str],
    query: int,
    first: tuple[int, int],
    seeing: Float[Tensor, "q k"] | None = None,
    keys: list[str] | None = None,
    signed: bool = False,
    shares: bool = False,
) -> Ready:
    """Returns a heatmap of a part that begins at the query and key `first`; dragging in it selects a rectangle.

    `keys`: the labels of the keys, if they are not the queries. `shares`: whether weights are percentages.
    """
    spec = _spec(cells, tile, colors, labels, query, theme.FOCUS_HEIGHT, first, seeing, keys, signed)
    spec["layout"]["dragmode"] = "select"
    if shares:
        (shown,) = spec["data"]
        shown["hovertemplate"] = shown["hovertemplate"].replace(":.3g", ":.3p", 1)  # the weight comes first
        if colors == "linear":
            shown["colorbar"] = shown["colorbar"] | {"tickformat": ".0%"}
    return Ready(spec)


class Ready(go.Figure):
    """A figure that can only be sent to the browser: its arrays are already in the transfer format.

    Plotly's own figures are validated, copied and converted before they are sent, which takes longer than the pass.
    """

    spec: dict[str, Any]

    def __init__(self, spec: dict[str, Any]) -> None:
        for trace in spec["data"]:
            trace |= {name: _typed_array(value) for name, value in trace.items() if isinstance(value, np.ndarray)}
        object.__setattr__(self, "spec", spec)

    def to_dict(self) -> dict[str, Any]:
        return self.spec


def _typed_array(values: np.ndarray) -> dict[str, str]:
    """Returns an array as float32 in the format that the browser reads: a typed array in base64."""
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
    signed: bool = False,
) -> dict[str, Any]:
    """Returns the figure as in Plotly's JSON, but with arrays."""
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
        "uirevision": f"{rows} {columns} {tile} {first}",  # the zoom is kept as long as the size is the same
        "shapes": [] if query is None else _frames(query, tile, first, rows, columns),
    }
    if signed:
        shown = _signed(cells, tile, colors, seeing)
    else:
        shown = _shades(cells, tile, colors, seeing) | _scale(cells, colors, seeing)
    data = [{"type": "heatmap", **_cells(cells, tile, first), **shown}]
    return {"data": data, "layout": layout}


def margin(below: Mapping[str, Any] = NO_TICKS, beside: Mapping[str, Any] = NO_TICKS) -> dict[str, int | bool]:
    """Returns the margins of a heatmap in pixels: room for its colour bar and for the labels of its axes.

    They are fixed, because Plotly draws a figure with automatic margins twice, which is half of the 100 ms in a browser.
    """
    upright = LETTER * max(map(len, below.get("ticktext", ())), default=2)  # tokens below are upright if they don't fit
    long = max(map(len, [*beside.get("ticktext", ()), *beside.get("labelalias", {}).values()]), default=0)
    return {"l": 34 + LETTER * max(5, long), "r": 88, "t": 12, "b": 40 + upright, "pad": 0, "autoexpand": False}


def _cells(cells: Float[Tensor, "q k"], tile: int, first: tuple[int, int]) -> dict:
    """Returns the positions of the cells."""
    middle = (tile - 1) / 2
    return {"x0": first[1] + middle, "y0": first[0] + middle, "dx": tile, "dy": tile, "hoverongaps": False}


def _place(tile: int) -> str:
    """Returns the beginning of a hover text: where a cell is, and what its number is."""
    at = "query %{y}<br>key %{x}" if tile == 1 else f"query %{{y:.0f}} ± {tile // 2}<br>key %{{x:.0f}} ± {tile // 2}"
    return f"{at}<br>{'weight' if tile == 1 else f'largest of {tile} x {tile}'}"


def _shades(cells: Float[Tensor, "q k"], tile: int, colors: str, seeing: Float[Tensor, "q k"] | None) -> dict:
    """Returns the values of the cells on the colour scale, and their hover text, which has the weight itself."""
    what = _place(tile)
    if colors == "times even":
        times = cells * (seeing if seeing is not None else (~cells.isnan()).sum(-1, keepdim=True))
        shades = times.clamp(1 / theme.TIMES, theme.TIMES).log10().numpy()
        said = f"{what} %{{customdata[0]:.3g}}<br>%{{customdata[1]:.3g}} × uniform<extra></extra>"
        return {"z": shades, "customdata": torch.stack([cells, times], -1).numpy(), "hovertemplate": said}
    if colors == "log":
        shades = cells.clamp(min=theme.LOG_FLOOR).log10().numpy()
        return {"z": shades, "customdata": cells.numpy(), "hovertemplate": f"{what} %{{customdata:.3g}}<extra></extra>"}
    return {"z": cells.numpy(), "hovertemplate": f"{what} %{{z:.3g}}<extra></extra>"}


SIGNED_ENDS = {  # the ticks of weights of both signs, from the size of each on the colour scale
    "linear": ([-1, -0.5, 0, 0.5, 1], ["−1", "−0.5", "0", "0.5", "1"]),
    "log": ([-1, -0.5, 0, 0.5, 1], ["−1", "−0.01", "±0.0001", "0.01", "1"]),
    "times even": ([-1, -0.5, 0, 0.5, 1], ["≤ −100", "−1", "±1/100", "1", "≥ 100"]),
    "own maximum": ([-1, 0, 1], ["−max", "0", "max"]),
}


def _signed(cells: Float[Tensor, "q k"], tile: int, colors: str, seeing: Float[Tensor, "q k"] | None) -> dict:
    """Returns weights of both signs: the size of each on the colour scale, 0 to 1, with its sign, and that scale."""
    size = cells.abs()
    scale = _scale(size, colors, seeing)
    low, high = scale["zmin"], scale["zmax"]
    shades = (torch.as_tensor(_shades(size, tile, colors, seeing)["z"]) - low) / (high - low) * cells.sign()
    title = {"title": scale["colorbar"]["title"], "thickness": 12, "outlinewidth": 0}
    said = f"{_place(tile)} %{{customdata:.3g}}<extra></extra>"
    shown = {"z": shades.numpy(), "customdata": cells.numpy(), "hovertemplate": said, "zmin": -1, "zmax": 1}
    bar = title | dict(zip(("tickvals", "ticktext"), SIGNED_ENDS[colors], strict=True))
    return shown | {"colorscale": theme.plotly_scale(theme.PLOTLY_SIGNED), "colorbar": bar}


def _scale(cells: Float[Tensor, "q k"], colors: str, seeing: Float[Tensor, "q k"] | None) -> dict:
    """Returns the colour map, its range and the colour bar."""
    low, high, bar = 0.0, 1.0, {"title": {"text": "weight"}, "thickness": 12, "outlinewidth": 0}
    if colors == "log":
        low = log10(theme.LOG_FLOOR)
        bar |= {"tickvals": [-4, -3, -2, -1, 0], "ticktext": ["≤ 0.0001", "0.001", "0.01", "0.1", "1"]}
    if colors == "times even":
        low, high = -log10(theme.TIMES), log10(theme.TIMES)
        ends = {"tickvals": [-2, -1, 0, 1, 2], "ticktext": ["≤ 1/100", "1/10", "1", "10", "≥ 100"]}
        bar |= ends | {"title": {"text": "× uniform"}}
    if colors == "own maximum":
        high = _most(cells, seeing)
    return {"zmin": low, "zmax": high, "colorscale": theme.plotly_scale(theme.PLOTLY_WEIGHTS), "colorbar": bar}


def _most(cells: Float[Tensor, "q k"], seeing: Float[Tensor, "q k"] | None) -> float:
    """Returns the largest weight of queries with more than one visible key, of all queries if that is 0; 1 if both are."""
    drawn = cells.nan_to_num(0)
    several = drawn if seeing is None else drawn.masked_fill(seeing == 1, 0)
    return float(several.max()) or float(drawn.max()) or 1.0


def vector(
    cells: Float[Tensor, "1 k"], tile: int, colors: str, seeing: Float[Tensor, "1 k"] | None = None
) -> go.Figure:
    """Returns a heatmap of one row of weights that all queries share; it has no query axis, and the row fills the height."""
    figure = weights(cells, tile, colors, [], seeing=seeing)
    return figure.update_yaxes(title="", showticklabels=False, ticks="", scaleanchor=None)


def influence(cells: Float[Tensor, "q k"]) -> go.Figure:
    """Returns how much each output changes with each token; exact zeros are left out, like masked pairs."""
    figure = weights(cells.masked_fill(cells == 0, torch.nan), 1, "own maximum", [])
    figure.update_traces(
        colorscale=theme.plotly_scale(theme.INFLUENCE["light"]),
        colorbar={"title": {"text": "change"}},
        hovertemplate="output %{y}<br>token %{x}<br>change %{z:.3g}<extra></extra>",
    )
    return figure.update_xaxes(title="token →").update_yaxes(title="← output")


def narrow(figure: go.Figure) -> go.Figure:
    """Changes the figure for a narrow column: the colour bar is below, without a title, which the page shows above."""
    bar = {"orientation": "h", "y": -0.24, "yanchor": "top", "thickness": 8, "title": {"text": ""}, "nticks": 5}
    return figure.update_layout(height=theme.NARROW_HEIGHT, margin=BAR_BELOW).update_traces(colorbar=bar)


def _ticks(labels: list[str], first: int, count: int) -> dict:
    """Returns tokens as tick labels if they fit, otherwise next to their positions; escaped, as Plotly reads markup."""
    names = {first + at: html.escape(_cut(label)) for at, label in enumerate(labels[first : first + count])}
    if len(names) > LABELLED:
        return {"tickformat": "d", "labelalias": {str(at): f"{at} {name}" for at, name in names.items()}}
    few = {"dtick": 1} if count <= FEW else {}  # or Plotly puts ticks between tokens
    return {"tickvals": list(names), "ticktext": list(names.values())} if names else few


def _cut(label: str) -> str:
    return label if len(label) <= CUT else f"{label[: CUT - 1]}…"


def _frames(query: int, tile: int, first: tuple[int, int], rows: int, columns: int) -> list[dict]:
    """Returns a frame around the row of tiles with the query, none if that is not shown."""
    top = first[0] + (query - first[0]) // tile * tile
    if not first[0] <= top < first[0] + rows * tile:
        return []
    ends = {"x0": first[1] - 0.5, "x1": first[1] + columns * tile - 0.5, "y0": top - 0.5, "y1": top + tile - 0.5}
    return [{"type": "rect", "line": {"color": theme.QUERY, "width": 2}, **ends}]
