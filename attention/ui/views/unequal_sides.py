"""Two sides of different lengths, which have no B − A: a way to equal lengths, and the numbers of every head of both."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attention.config import Config
from attention.fitting import coerce
from attention.heads import ALL_METRICS
from attention.pinned import Sides, pin
from attention.sources.providers import distributes
from attention.ui import next_step, results
from attention.ui.session import page
from attention.ui.text import comparing as text
from attention.ui.text import heads as heads_text
from attention.ui.views import head_statistics


def draw_way_out(sides: Sides) -> None:
    """Draws a button that gives one side the length of the other; if neither can have it, says which texts can be compared."""
    if sides.a.is_cross or sides.b.is_cross:
        return
    if (found := _of_equal_length(sides)) is None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(text.EQUAL_TEXTS, width="content")
            next_step.page_link("model", text.TO_MODEL, {})
        return
    name, side = found
    values = {"tokens": side.tokens} if name == "B" else {"against": pin(side, side.head if sides.of_head else None)}
    label = text.SET_LENGTH.format(side=name, tokens=side.tokens)
    st.button(label, on_click=page.change, kwargs=values, key="equal lengths", icon=":material/straighten:")


def _of_equal_length(sides: Sides) -> tuple[str, Config] | None:
    """The name of a side that can have as many tokens as the other, and that side with so many; the longer one if both can."""
    longer_is_b = sides.b.tokens > sides.a.tokens
    pairs = [("B", sides.b, sides.a.tokens), ("A", sides.a, sides.b.tokens)]
    for name, side, tokens in pairs if longer_is_b else pairs[::-1]:
        changed = Config(**coerce(vars(side) | {"tokens": tokens}))
        if changed.tokens == tokens and changed.source == side.source:
            return name, changed
    return None


def numbers(sides: Sides) -> None:
    """Draws the statistics of every head of both sides in a table, those of A beside those of B."""
    found = [results.heads.numbers(side) for side in sides[:2]]
    heads, shares = max(side.heads for side in sides[:2]), all(map(distributes, sides[:2]))
    table: dict[str, list[Any]] = {"head": list(range(heads))}
    columns: dict[str, Any] = {"head": st.column_config.NumberColumn(heads_text.HEAD)}
    for name in ALL_METRICS:
        for side, of in zip(found, "AB", strict=True):
            if name in side:
                values = head_statistics.in_percent(name, side[name], shares)
                table[f"{name} {of}"] = values + [None] * (heads - len(values))
                columns[f"{name} {of}"] = head_statistics.metric_column(name, of)
    st.markdown(text.BOTH_NUMBERS)
    st.dataframe(
        head_statistics.with_formats(table, *sides[:2]),
        column_config=columns,
        hide_index=True,
        height=head_statistics.table_height(heads),
        key="numbers of both",
    )
