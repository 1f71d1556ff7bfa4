"""Pictures of a published row: all heads, one head against the reference, its output, and influence of tokens."""

from __future__ import annotations

import streamlit as st
import torch
from torch import Tensor

from attention import codec
from attention.analysis.mask_effect import farthest, tile_extremes
from attention.charts import heatmap
from attention.components.heads_grid import heads_grid
from attention.config import Config
from attention.published.compare import Comparison
from attention.tables import rows as tables
from attention.ui import results
from attention.ui.session import address_bar, gestures

GRID_HEIGHT = 360
NOTHING = 1e-6  # a difference of weights below this is rounding and has no visible colour
INFLUENCE = (
    "Change of each output when one token is replaced, relative to the mean output norm. Grey: exactly zero, as for masked "
    "pairs. Under a causal mask, colour above the diagonal is a leak from later tokens."
)
OUTPUT = (
    "Rows are queries, columns are channels. The scale ends at the largest value of the reference output, so full colour is "
    "an error as large as that value."
)
NAMES = {  # alternative texts of the pictures
    "reference": "Heatmap by query and key: weights of the reference",
    "difference": "Heatmap by query and key: weights, difference from reference",
    "vector": "Heatmap by key: the one row of weights for all queries",
    "output": "Heatmap by query and channel: output, difference from reference",
    "influence": "Heatmap by output and token: influence of each token on each output",
}


def grid(config: Config, name: str, printed: bool, found: Comparison) -> None:
    """Draws all heads of the first sequence, if the row has weights."""
    cells = results.published.published_cells(config.for_page(results.published.PAGE), name, printed)
    if cells is not None:
        note = f"weights of this version{_first(config)}"
        heads_grid(
            _grid_config(config, found),
            cells,
            height=GRID_HEIGHT,
            on_pin=gestures.on_grid_pin,
            note=note,
            address=address_bar.address(),
        )


def pictures(config: Config, name: str, printed: bool, found: Comparison) -> None:
    """Draws one head against the reference, the output against the reference's, and the influence, two by two."""
    head, shown = min(config.head, len(found.reference) - 1), _grid_config(config, found)
    where = f", head {head}{_first(config)}"
    above, below = st.columns(2, gap="medium"), st.columns(2, gap="medium")
    with above[0]:
        scaled = ", × uniform" if shown.color_scale == "times even" else ""
        st.caption(f"Weights of the reference{where}{scaled}")
        square, tile, seeing = _square(found.reference[head], found.mask)
        _plot(heatmap.weights(square, tile, shown.color_scale, [], seeing=seeing), "reference")
    with above[1]:
        st.caption(f"Weights: difference from reference{where}", help="Zero is close to the page background.")
        if found.difference is None:
            st.info("It raises before it returns weights.")
        else:
            square, tile = tile_extremes(found.difference[head].float(), heatmap.PIXELS)
            square = square.masked_fill(~found.visible[head], torch.nan) if tile == 1 else square
            _plot(heatmap.difference(square, tile, []), "difference")
            if (most := float(found.difference.abs().nan_to_num(0).max())) < NOTHING:
                st.caption(f"No visible difference: at most {most:.1g}, which is rounding.")
    with below[0]:
        st.caption(f"Output: difference from reference{_first(config)}", help=OUTPUT)
        _output(found)
    with below[1]:
        if found.pooled and found.weights is not None:
            st.caption(f"One vector of weights for all queries{where}")
            square, tile, seeing = _square(found.weights[head, :1], found.visible[head, :1])
            _plot(heatmap.vector(square, tile, shown.color_scale, seeing), "vector")
        else:
            _influence(config, name, printed, found)


def _output(found: Comparison) -> None:
    if found.apart is None:
        st.info("It raises before it returns an output." if found.weights is None else "Its output has another shape.")
        return
    tiles = tuple(-(-size // heatmap.PIXELS) for size in found.apart.shape)
    limit = float(found.target.nan_to_num(0).abs().max()) or 1.0
    _plot(heatmap.outputs(farthest(found.apart.float(), *tiles), tiles, limit), "output")  # pyright: ignore[reportArgumentType]  two of them


def _influence(config: Config, name: str, printed: bool, found: Comparison) -> None:
    reach = results.published.influences(config.for_page(results.published.PAGE), name, printed)
    queries, keys = found.mask.shape if reach is None else reach.shape
    cut = "" if (queries, keys) == found.mask.shape else f"; the first {queries} outputs and {keys} tokens"
    st.caption(f"Influence of tokens on outputs{_first(config)}{cut}", help=INFLUENCE)
    if reach is None:
        st.info(
            "It raises before it returns an output."
            if found.weights is None
            else "It returns one output for all tokens."
        )
    else:
        _plot(heatmap.influence(reach.float()), "influence")


def _first(config: Config) -> str:
    """A suffix that says which sequence is shown, if there are several."""
    return f", first of {config.batch} sequences" if config.batch > 1 else ""


def _grid_config(config: Config, found: Comparison) -> Config:
    """The config with the heads and tokens that were compared, for the grid."""
    changed = {"heads": len(found.reference), "tokens": len(found.mask), "kv_heads": 0}
    return codec.fit_values(vars(config) | changed)[0]


def _square(weights: Tensor, visible: Tensor) -> tuple[Tensor, int, Tensor]:
    """Cells of weights, tokens per cell, and visible keys per row of cells."""
    tile = -(-max(weights.shape) // heatmap.PIXELS)
    cells, seeing = tables.pool_row(weights.float(), visible, visible.sum(-1), tile)
    return cells, tile, seeing


def _plot(figure: object, key: str) -> None:
    shown = heatmap.narrow(figure)  # pyright: ignore[reportArgumentType]  a figure
    st.plotly_chart(shown, key=key, width="stretch", config={"displaylogo": False}, alt=NAMES[key])
