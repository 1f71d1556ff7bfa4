"""What the mask in use does to the weights: the weight it takes in every head, and one head before and after."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import streamlit as st
from jaxtyping import Float
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor

from attention.analysis.mask_effect import difference, tiled, unmasked
from attention.charts import heatmap, shares, theme
from attention.config import Config
from attention.tables import rows as tables
from attention.ui import compute, proof
from attention.ui.session import page, pause
from attention.ui.views import focus
from attention.ui.words import plain


def section(config: Config) -> None:
    """Formula, bars of all heads, and the head in focus without the mask, with it, and the difference."""
    with st.container():
        _first(config)
    config = config.traceable
    words, bars = st.columns([2, 3], gap="medium")
    _squares(config)
    hidden = compute.masks.hidden(config.tensors)
    with words:
        _words(config, hidden)
    with bars:
        spec = shares.by_head(config.heads, config.head, "weight on hidden keys")
        data = pa.table({"head": range(config.heads), "share": hidden.mean(-1).tolist()})
        st.vega_lite_chart(
            data,
            spec,
            key="moved",
            width="stretch",
            alt="Bars by head: the weight that each head has on keys that the mask hides",
        )


def _first(config: Config) -> None:
    """What of a long sequence is shown here, with its proof."""
    short = config.traceable
    if short is not config:
        st.caption(
            f"This needs every weight of {config.heads} heads, so it is about the first {short.tokens:,} of "
            f"{config.tokens:,} tokens, as if they were all."
        )
        proof.badge(short)


def _words(config: Config, hidden: Tensor) -> None:
    head, query = st.columns(2)
    with head:
        focus.head(config)
    with query:
        focus.query(config)
    st.latex(r"m_q = \sum_{k\ \text{hidden}} w_{qk}, \qquad w'_{qk} = \frac{w_{qk}}{1 - m_q}")
    taken = hidden[config.head]
    st.markdown(_told(config, taken))
    if (most := _hit_most(config, taken)) is not None:
        st.button(f"Look at query {_named(config, most)}", on_click=page.change, kwargs={"query": most}, key="hit most")


def _told(config: Config, taken: Float[Tensor, "q"]) -> str:
    """What the mask takes from the query and the head in focus, in words."""
    query = f"query {_named(config, config.row)}"
    square = config.rule.square(config.tokens, config.columns, config.span)
    if square.all():
        return f"**{config.rule_name}** hides no key, so nothing moves."
    if float(taken.max()) == 0:
        return f"What **{config.rule_name}** hides had no weight that float32 can tell from zero: nothing moves."
    seen = square[config.row]
    if not seen.any():
        return f"Under **{config.rule_name}**, {query} sees no key: it loses all of its weight, and nobody gets it."
    own, others = float(taken[config.row]), tables.share(float(taken.mean()))
    if (most := _hit_most(config, taken)) is not None:
        return (
            f"**{config.rule_name}** takes **{others}** of the weight of head {config.head}, over all queries, and the softmax "
            f"gives it to the keys in sight. It hits query {_named(config, most)} hardest, which had "
            f"**{tables.share(float(taken[most]))}** "
            f"on keys that are hidden now. From {query}, the one in focus, it hides no key."
        )
    rest = " A part of it goes to the one in the denominator." if config.softmax == "plus one" else ""
    return (
        f"Without the mask, {query} in head {config.head} had **{tables.share(own)}** of its weight on keys that "
        f"**{config.rule_name}** hides; over all queries it is {others}. The softmax gives it to the keys in sight, in "
        f"proportion to what they had.{rest}"
    )


def _hit_most(config: Config, taken: Float[Tensor, "q"]) -> int | None:
    """The query that the mask takes most from, where it takes nothing from the one in focus, of which all keys are in sight."""
    square = config.rule.square(config.tokens, config.columns, config.span)
    if not square[config.row].all() or float(taken.max()) == 0:
        return None
    return int(taken.argmax())


def _named(config: Config, query: int) -> str:
    """A query by its position and its token."""
    names = tables.labels(config)
    return f"{query}" + (plain(f" {names[query]!r}") if names else "")


def _squares(config: Config) -> None:
    """The weights that are in use first, then, once they are painted, those without the mask and the difference."""
    places = st.columns(3)
    after = compute.heads.trace(config)
    small = {"labels": [], "height": theme.SMALL_HEIGHT}  # positions: there is no room for tokens
    row = {"colors": config.color_scale, "query": config.row}
    cells, tile, seeing = tables.focus(after, heatmap.PIXELS)
    masked = heatmap.weights(cells, tile, seeing=seeing, **row, **small)
    _square(places[1], 1, f"Head {config.head}, {config.rule_name}", masked)
    pause.paint()
    before = compute.heads.trace(unmasked(config))
    cells, tile, seeing = tables.focus(before, heatmap.PIXELS)
    whole = heatmap.weights(cells, tile, seeing=seeing, **row, **small)
    _square(places[0], 0, f"Head {config.head}, no mask", whole)
    change = heatmap.difference(*tiled(difference(before, after, config.head), heatmap.PIXELS), **small)
    _square(places[2], 2, f"Head {config.head}, difference", change)
    st.caption(f"Colours of weights, {config.color_reason}." if config.color_reason else "")


def _square(place: DeltaGenerator, number: int, title: str, figure: Any) -> None:
    with place:
        st.markdown(f"**{title}**")
        st.plotly_chart(
            figure,
            key=f"square {number}",
            width="stretch",
            config={"displaylogo": False},
            alt=f"Heatmap by query and key: {title}",
        )
