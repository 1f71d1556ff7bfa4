"""What the mask in use does to the weights: the weight it takes in every head, and one head before and after."""

from __future__ import annotations

import pandas as pd
import streamlit as st
from torch import Tensor

from attention import tables
from attention.charts import heatmap, shares, theme
from attention.config import KNOBS, Config
from attention.effect import difference, tiled, unmasked
from attention.ui import compute
from attention.ui.words import plain


def section(config: Config) -> None:
    """Formula, bars of all heads, and the head in focus without the mask, with it, and the difference."""
    hidden = compute.hidden(config.tensors)
    words, bars = st.columns([2, 3], gap="medium")
    with words:
        _words(config, hidden)
    with bars:
        spec = shares.by_head(config.heads, config.head, "weight on hidden keys")
        data = pd.DataFrame({"head": range(config.heads), "share": hidden.mean(-1).tolist()})
        st.vega_lite_chart(data, spec, key="moved", width="stretch")
    _squares(config)


def _words(config: Config, hidden: Tensor) -> None:
    knob = KNOBS["head"]
    st.selectbox(knob.label, range(config.heads), key="head", help=knob.help)
    st.latex(r"m_q = \sum_{k\ \text{hidden}} w_{qk}, \qquad w'_{qk} = \frac{w_{qk}}{1 - m_q}\ \text{ if seen}")
    names = tables.labels(config)
    token = f" {names[config.row]!r}" if names else ""
    taken = hidden[config.head]
    st.markdown(
        f"Without the mask, query {config.row}{plain(token)} in head {config.head} had "
        f"**{tables.share(float(taken[config.row]))}** of its weight on keys that **{config.rule_name}** hides; over "
        f"all queries it is {tables.share(float(taken.mean()))}. The softmax gives it to the keys in sight, in "
        f"proportion to what they had."
    )
    if config.softmax == "plus one":
        st.caption("With one added to the denominator, a part of it goes to nothing instead.")
    if float(taken.max()) == 0:
        st.caption("Nothing is hidden, so nothing moves.")


def _squares(config: Config) -> None:
    before, after = compute.trace(unmasked(config)), compute.trace(config)
    change, tile = tiled(difference(before, after, config.head), heatmap.PIXELS)
    small = {"labels": [], "height": theme.SMALL_HEIGHT}  # positions: there is no room for tokens
    row = {"colors": config.colors, "query": config.row}
    figures = {
        "no mask": heatmap.weights(*tables.focus(before, heatmap.PIXELS), **row, **small),
        config.rule_name: heatmap.weights(*tables.focus(after, heatmap.PIXELS), **row, **small),
        "difference": heatmap.difference(change, tile, **small),
    }
    for i, (column, (title, figure)) in enumerate(zip(st.columns(3), figures.items(), strict=True)):
        with column:
            st.markdown(f"**Head {config.head}, {title}**")
            st.plotly_chart(figure, key=f"square {i}", width="stretch", config={"displaylogo": False})
