"""Pictures of a published row: all heads, one head against the reference, its output, and influence of tokens."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
import torch
from torch import Tensor

from attention import codec
from attention.analysis.mask_effect import farthest, tile_extremes
from attention.charts import heatmap, heatmap_differences
from attention.components.heads_grid import heads_grid
from attention.config import Config
from attention.published import ROWS
from attention.published.compare import ROUNDING, Comparison, rows_apart
from attention.tables import rows as tables
from attention.ui import results
from attention.ui.controls import knobs
from attention.ui.session import address_bar, gestures
from attention.ui.text import implementations as text
from attention.ui.views import implementations_maps as maps

GRID_HEIGHT = 360


def grid(config: Config, name: str, printed: bool, found: Comparison) -> None:
    """Draws all heads of the first sequence, if the row has weights."""
    cells = results.published.published_cells(config.for_page(results.published.PAGE), name, printed)
    if cells is not None:
        heads_grid(
            _grid_config(config, found),
            cells,
            height=GRID_HEIGHT,
            on_pin=gestures.on_grid_pin,
            note=text.GRID.format(first=maps.first(config)),
            address=address_bar.address(),
        )


def all_heads(config: Config, name: str, printed: bool, found: Comparison) -> None:
    """Draws all heads, folded, if the row has weights."""
    if found.weights is not None:
        with st.expander(text.ALL_HEADS, icon=":material/grid_view:"):
            knobs.menu("colors", config, width=170)
            grid(config, name, printed, found)


def draw(config: Config, name: str, printed: bool, found: Comparison) -> None:
    """Draws the one picture that shows what is wrong: weights beside correct ones, or the influence if all weights are right."""
    kind = _shown_kind(config, name, printed, found)
    words = maps.words(config, found)
    if kind == "influence":
        _influence(config, name, printed, found, words)
    elif found.weights is not None and words:
        maps.weights(config, found, words, printed)
    elif kind == "own":
        _pair(lambda: _own(config, found), lambda: _reference(config, found))
    elif kind == "right":
        _reference(config, found)


def more(config: Config, name: str, printed: bool, found: Comparison) -> None:
    """Draws the other pictures, folded."""

    def difference() -> None:
        _difference(config, found)

    def output() -> None:
        _output(config, found)

    def last() -> None:
        _last(config, name, printed, found)

    kind = _kind(found)
    of_kind = {"right": [last], "influence": [output, difference], "own": [output, difference, last], "none": []}
    shown = of_kind[kind] if kind == _shown_kind(config, name, printed, found) else []  # the influence is drawn already
    if shown:
        with st.expander(text.MORE if len(shown) > 1 else text.MORE_RIGHT, icon=":material/grid_view:"):
            for at in range(0, len(shown), 2):
                _pair(*shown[at : at + 2])


def _shown_kind(config: Config, name: str, printed: bool, found: Comparison) -> str:
    """The picture of a version: a corrected one has that of the published one, so that both can be compared."""
    kind = _kind(found)
    if printed or kind != "right" or ROWS[name].as_printed is None or not maps.words(config, found):
        return kind
    published = _kind(results.published.comparison(config.for_page(results.published.PAGE), name, True))
    return "influence" if published == "influence" else kind


def _kind(found: Comparison) -> str:
    """What shows a version best: its "own" weights beside correct ones, the "influence", or, if it is "right", its weights."""
    if found.judgement.verdict == "agrees":
        return "right"
    most = _largest(found)
    if most is not None and most < ROUNDING:
        return "influence"
    return "none" if found.weights is None else "own"


def _pair(*pictures: Callable[[], None]) -> None:
    """Draws up to two pictures beside each other."""
    for place, draw_one in zip(st.columns(2, gap="medium"), pictures, strict=False):
        with place:
            draw_one()


def _own(config: Config, found: Comparison) -> None:
    """Draws the weights of a head of this version, which are wrong, and says in how many rows."""
    head, wrong = maps.shown_head(config, found), text.RAISED
    if found.difference is not None:
        wrong = _rows_apart(found.difference[head])
    st.caption(text.OWN.format(where=text.HEAD.format(head=head, first=""), wrong=wrong))
    assert found.weights is not None
    square, tile, seeing = _square(found.weights[head].nan_to_num(0), found.unmasked[head])
    _plot(heatmap.weights(square, tile, _grid_config(config, found).color_scale, [], seeing=seeing), "own")


def _reference(config: Config, found: Comparison) -> None:
    shown = _grid_config(config, found)
    scaled = text.UNIFORM if shown.color_scale == "times even" else ""
    st.caption(text.REFERENCE.format(where=maps.where(config, found), scaled=scaled))
    square, tile, seeing = _square(found.reference[maps.shown_head(config, found)], found.mask)
    _plot(heatmap.weights(square, tile, shown.color_scale, [], seeing=seeing), "reference")


def _difference(config: Config, found: Comparison) -> None:
    """Draws the weights of a head minus those of the reference, and says how many rows differ."""
    head, wrong, most = maps.shown_head(config, found), text.RAISED, _largest(found)
    if found.difference is not None:
        wrong = _rows_apart(found.difference[head])
    where = text.HEAD.format(head=head, first="")  # the reference beside it names the sequence
    st.caption(text.DIFFERENCE.format(where=where, wrong=wrong), help=text.DIFFERENCE_HELP)
    if found.difference is None:
        st.info(text.RAISES_WEIGHTS)
    elif most is not None and most < ROUNDING:
        st.caption(text.NO_DIFFERENCE.format(largest=most) if most else text.NO_DIFFERENCE_AT_ALL)
    else:
        square, tile = tile_extremes(found.difference[head].float(), heatmap.PIXELS)
        square = square.masked_fill(~found.visible[head], torch.nan) if tile == 1 else square
        _plot(heatmap_differences.difference(square, tile, []), "difference")


def _last(config: Config, name: str, printed: bool, found: Comparison) -> None:
    """Draws the influence of tokens on outputs, or the one vector of weights of all queries."""
    if not (found.pooled and found.weights is not None):
        _influence(config, name, printed, found)
        return
    head = maps.shown_head(config, found)
    st.caption(text.VECTOR.format(where=maps.where(config, found)))
    square, tile, seeing = _square(found.weights[head, :1], found.visible[head, :1])
    _plot(heatmap.vector(square, tile, _grid_config(config, found).color_scale, seeing), "vector")


def draw_alone(config: Config, name: str, printed: bool, found: Comparison) -> None:
    """Draws all heads, or the difference of the output if that alone is wrong."""
    most = _largest(found)
    if found.judgement.verdict == "disagrees" and most is not None and most < ROUNDING:
        _output(config, found)
    else:
        grid(config, name, printed, found)


def _largest(found: Comparison) -> float | None:
    """The largest difference of a weight; None if there are no weights of the shape of the reference."""
    return None if found.difference is None else float(found.difference.abs().nan_to_num(0).max())


def _output(config: Config, found: Comparison) -> None:
    """Draws the output minus that of the reference, and says how many rows differ."""
    wrong = text.RAISED if found.apart is None else _rows_apart(found.apart)
    st.caption(text.OUTPUT.format(first=maps.first(config), wrong=wrong), help=text.OUTPUT_HELP)
    if found.apart is None:
        st.info(text.RAISES_OUTPUT if found.weights is None else text.OUTPUT_SHAPE)
        return
    tiles = tuple(-(-size // heatmap.PIXELS) for size in found.apart.shape)
    limit = float(found.target.nan_to_num(0).abs().max()) or 1.0
    _plot(heatmap_differences.outputs(farthest(found.apart.float(), *tiles), tiles, limit), "output")  # pyright: ignore[reportArgumentType]  two of them


def _rows_apart(difference: Tensor) -> str:
    """How many rows of a difference (rows, columns) are not zero or NaN."""
    return text.ROWS_APART.format(wrong=rows_apart(difference), rows=len(difference))


def _influence(config: Config, name: str, printed: bool, found: Comparison, words: list[str] | None = None) -> None:
    """Draws the influence of tokens on outputs, with `words` at rows and columns if there are any, and masked pairs that leak."""
    reach = results.published.influences(config.for_page(results.published.PAGE), name, printed)
    queries, keys = found.mask.shape if reach is None else reach.shape
    is_whole = (queries, keys) == found.mask.shape
    leaking = None if reach is None else _leaking(reach, found.mask[:queries, :keys])
    leaks = text.LEAKS.format(leaks=int(leaking[0].sum()), masked=int(leaking[1].sum())) if leaking else ""
    if reach is not None and words and is_whole:
        maps.influence(config, name, printed, reach, words, leaking)
        return
    cut = "" if is_whole else text.INFLUENCE_CUT.format(outputs=queries, tokens=keys)
    st.caption(text.INFLUENCE.format(cut=cut, leaks=leaks), help=text.INFLUENCE_HELP)
    if reach is None:
        st.info(text.RAISES_OUTPUT if found.weights is None else text.ONE_OUTPUT)
    else:
        _plot(heatmap.influence(reach.float()), "influence")


def _leaking(reach: Tensor, visible: Tensor) -> tuple[Tensor, Tensor] | None:
    """The masked pairs that have influence, and all masked pairs; None if none leaks.

    A token always has influence on its own output, as its query.
    """
    own = torch.eye(*visible.shape, dtype=torch.bool) if len(visible) == visible.shape[1] else torch.zeros_like(visible)
    masked = ~visible & ~own
    leaks = masked & (reach != 0)
    return (leaks, masked) if leaks.any() else None


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
