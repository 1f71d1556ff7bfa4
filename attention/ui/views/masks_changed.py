"""The masks of two sides: which pairs both keep, and which one of them keeps alone."""

from __future__ import annotations

import streamlit as st

from attention.charts import heatmap_differences, theme
from attention.pinned import Sides
from attention.sources.providers import mask_in_use, mask_name
from attention.ui import results
from attention.ui.markdown import escape
from attention.ui.text import comparing as text


def has_mask_difference(sides: Sides) -> bool:
    """Whether both sides have a mask, of equally many queries and keys."""
    a, b = sides[:2]
    return (a.tokens, a.n_keys) == (b.tokens, b.n_keys) and mask_in_use(a.source) and mask_in_use(b.source)


def finding(sides: Sides) -> str:
    """How many pairs each side keeps, and how many one side keeps alone."""
    found = results.masks.difference(*sides[:2])
    both, only_a, only_b = (int(each.sum()) for each in (found.both, found.only_a, found.only_b))
    counts = {"a": both + only_a, "b": both + only_b, "only_a": only_a, "only_b": only_b}
    return text.PAIRS.format(**{name: f"{count:,}" for name, count in counts.items()})


def draw_map(sides: Sides) -> None:
    """Draws the map of both masks, beside what its colours mean."""
    found = results.masks.difference(*sides[:2])
    left, right = st.columns([3, 2], gap="medium")
    names = [mask_name(side) for side in sides[:2]]
    with left:
        st.plotly_chart(
            heatmap_differences.mask_difference(found.cells, found.tile, theme.SMALL_HEIGHT),
            key="masks changed",
            width="stretch",
            config={"displaylogo": False},
            alt=text.MASKS_ALT.format(a=names[0], b=names[1]),
        )
    a, b = map(escape, names)
    tiles = "" if found.tile == 1 else text.MASKS_TILES.format(tile=found.tile)
    right.markdown(f"{text.MASKS_MAP.format(a=a, b=b)}{tiles}")
