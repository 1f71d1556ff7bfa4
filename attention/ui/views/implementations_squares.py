"""Pictures of a published row: all heads, one head against the reference, its output, and influence of tokens."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial

import streamlit as st
import torch
from torch import Tensor

from attention import codec
from attention.analysis.mask_effect import farthest, tile_extremes
from attention.charts import heatmap, heatmap_differences
from attention.components.heads_grid import heads_grid
from attention.config import Config
from attention.published.compare import Comparison
from attention.tables import rows as tables
from attention.ui import results
from attention.ui.session import address_bar, gestures
from attention.ui.text import implementations as text

GRID_HEIGHT = 360
NOTHING = 1e-6  # a difference of weights below this is rounding and has no visible colour


def grid(config: Config, name: str, printed: bool, found: Comparison) -> None:
    """Draws all heads of the first sequence, if the row has weights."""
    cells = results.published.published_cells(config.for_page(results.published.PAGE), name, printed)
    if cells is not None:
        heads_grid(
            _grid_config(config, found),
            cells,
            height=GRID_HEIGHT,
            on_pin=gestures.on_grid_pin,
            note=text.GRID.format(first=_first(config)),
            address=address_bar.address(),
        )


def all_heads(config: Config, name: str, printed: bool, found: Comparison) -> None:
    """Draws all heads: folded if their weights are right, as they look like those of the reference then."""
    most = _largest(found)
    with (
        st.expander(text.ALL_RIGHT, icon=":material/grid_view:")
        if most is not None and most < NOTHING
        else nullcontext()
    ):
        grid(config, name, printed, found)


def pictures(config: Config, name: str, printed: bool, found: Comparison) -> None:
    """Draws what is wrong: a head beside that of the reference; if all weights are right, the output and the influence.

    The others are folded. A row that agrees has no differences to draw, only its weights and the influence.
    """

    def reference() -> None:
        _reference(config, found)

    def difference() -> None:
        _difference(config, found, most)

    def output() -> None:
        _output(config, found)

    def last() -> None:
        _last(config, name, printed, found)

    most, fold = _largest(found), partial(st.expander, icon=":material/grid_view:")
    if found.judgement.verdict == "agrees":
        _pair(reference, last)
    elif most is not None and most < NOTHING:
        _pair(last, output)
        with fold(text.RIGHT_WEIGHTS):
            _pair(reference, difference)
    elif found.weights is None:
        _pair(reference, difference)
        with fold(text.ITS_OUTPUT):
            _pair(output, last)
    else:
        _pair(lambda: _own(config, found), reference)
        with fold(text.DIFFERENCES):
            _pair(difference, output)
            _pair(last)


def _pair(*pictures: Callable[[], None]) -> None:
    """Draws up to two pictures beside each other."""
    for place, draw in zip(st.columns(2, gap="medium"), pictures, strict=False):
        with place:
            draw()


def _own(config: Config, found: Comparison) -> None:
    """Draws the weights of a head of this version, which are wrong, and says in how many rows."""
    head, wrong = _head(config, found), text.RAISED
    if found.difference is not None:
        wrong = _rows_apart(found.difference[head])
    st.caption(text.OWN.format(where=text.HEAD.format(head=head, first=""), wrong=wrong))
    assert found.weights is not None
    square, tile, seeing = _square(found.weights[head].nan_to_num(0), found.visible[head])
    _plot(heatmap.weights(square, tile, _grid_config(config, found).color_scale, [], seeing=seeing), "own")


def _reference(config: Config, found: Comparison) -> None:
    shown = _grid_config(config, found)
    scaled = text.UNIFORM if shown.color_scale == "times even" else ""
    st.caption(text.REFERENCE.format(where=_where(config, found), scaled=scaled))
    square, tile, seeing = _square(found.reference[_head(config, found)], found.mask)
    _plot(heatmap.weights(square, tile, shown.color_scale, [], seeing=seeing), "reference")


def _difference(config: Config, found: Comparison, most: float | None) -> None:
    """Draws the weights of a head minus those of the reference, and says how many rows differ."""
    head, wrong = _head(config, found), text.RAISED
    if found.difference is not None:
        wrong = _rows_apart(found.difference[head])
    where = text.HEAD.format(head=head, first="")  # the reference beside it names the sequence
    st.caption(text.DIFFERENCE.format(where=where, wrong=wrong), help=text.DIFFERENCE_HELP)
    if found.difference is None:
        st.info(text.RAISES_WEIGHTS)
    elif most is not None and most < NOTHING:
        st.caption(text.NO_DIFFERENCE.format(largest=most))
    else:
        square, tile = tile_extremes(found.difference[head].float(), heatmap.PIXELS)
        square = square.masked_fill(~found.visible[head], torch.nan) if tile == 1 else square
        _plot(heatmap_differences.difference(square, tile, []), "difference")


def _last(config: Config, name: str, printed: bool, found: Comparison) -> None:
    """Draws the influence of tokens on outputs, or the one vector of weights of all queries."""
    if not (found.pooled and found.weights is not None):
        _influence(config, name, printed, found)
        return
    head = _head(config, found)
    st.caption(text.VECTOR.format(where=_where(config, found)))
    square, tile, seeing = _square(found.weights[head, :1], found.visible[head, :1])
    _plot(heatmap.vector(square, tile, _grid_config(config, found).color_scale, seeing), "vector")


def draw_alone(config: Config, name: str, printed: bool, found: Comparison) -> None:
    """Draws all heads, or the difference of the output if that alone is wrong."""
    most = _largest(found)
    if found.judgement.verdict == "disagrees" and most is not None and most < NOTHING:
        _output(config, found)
    else:
        grid(config, name, printed, found)


def _largest(found: Comparison) -> float | None:
    """The largest difference of a weight; None if there are no weights of the shape of the reference."""
    return None if found.difference is None else float(found.difference.abs().nan_to_num(0).max())


def _output(config: Config, found: Comparison) -> None:
    """Draws the output minus that of the reference, and says how many rows differ."""
    wrong = text.RAISED if found.apart is None else _rows_apart(found.apart)
    st.caption(text.OUTPUT.format(first=_first(config), wrong=wrong), help=text.OUTPUT_HELP)
    if found.apart is None:
        st.info(text.RAISES_OUTPUT if found.weights is None else text.OUTPUT_SHAPE)
        return
    tiles = tuple(-(-size // heatmap.PIXELS) for size in found.apart.shape)
    limit = float(found.target.nan_to_num(0).abs().max()) or 1.0
    _plot(heatmap_differences.outputs(farthest(found.apart.float(), *tiles), tiles, limit), "output")  # pyright: ignore[reportArgumentType]  two of them


def _rows_apart(difference: Tensor) -> str:
    """How many rows of a difference (rows, columns) are not zero or NaN."""
    wrong = int((~(difference.abs() < NOTHING)).any(-1).sum())
    return text.ROWS_APART.format(wrong=wrong, rows=len(difference))


def _influence(config: Config, name: str, printed: bool, found: Comparison) -> None:
    reach = results.published.influences(config.for_page(results.published.PAGE), name, printed)
    queries, keys = found.mask.shape if reach is None else reach.shape
    is_whole = (queries, keys) == found.mask.shape
    cut = "" if is_whole else text.INFLUENCE_CUT.format(outputs=queries, tokens=keys)
    leaks = "" if reach is None else _leaks(reach, found.mask[:queries, :keys])
    st.caption(text.INFLUENCE.format(cut=cut, leaks=leaks), help=text.INFLUENCE_HELP)
    if reach is None:
        st.info(text.RAISES_OUTPUT if found.weights is None else text.ONE_OUTPUT)
    else:
        _plot(heatmap.influence(reach.float()), "influence")


def _leaks(reach: Tensor, visible: Tensor) -> str:
    """How many masked pairs have influence. A token always has influence on its own output, as its query."""
    own = torch.eye(*visible.shape, dtype=torch.bool) if len(visible) == visible.shape[1] else torch.zeros_like(visible)
    masked = ~visible & ~own
    leaks = int((masked & (reach != 0)).sum())
    return text.LEAKS.format(leaks=leaks, masked=int(masked.sum())) if leaks else ""


def _head(config: Config, found: Comparison) -> int:
    return min(config.head, len(found.reference) - 1)


def _where(config: Config, found: Comparison) -> str:
    """A suffix that names the head that is shown, and the sequence if there are several."""
    return text.HEAD.format(head=_head(config, found), first=_first(config))


def _first(config: Config) -> str:
    """A suffix that says which sequence is shown, if there are several."""
    return text.FIRST.format(batch=config.batch) if config.batch > 1 else ""


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
    st.plotly_chart(shown, key=key, width="stretch", config={"displaylogo": False}, alt=text.ALTS[key])
