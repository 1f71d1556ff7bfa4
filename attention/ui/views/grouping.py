"""Grouped heads: the same projections from multi-head over grouped-query to multi-query attention."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import streamlit as st

from attention.analysis.kv_groups import Grouping, cache_bytes, name
from attention.charts import shares
from attention.config import Config
from attention.number_format import format_head
from attention.sources.providers import has
from attention.ui import results
from attention.ui.empty_states import missing_parts
from attention.ui.session import page
from attention.ui.text import grouping as text

FOLD = "groupings fold"  # key of the expander
COLUMNS = {  # widths in pixels: all columns fit next to the chart at 1280
    "kv_heads": st.column_config.NumberColumn(text.KV_HEADS, width=66),
    "name": st.column_config.TextColumn(text.NAME, width=106),
    "moved": st.column_config.NumberColumn(text.MOVED, format="%.1f%%", width=70, help=text.MOVED_HELP),
    "output": st.column_config.NumberColumn(text.OUTPUT, format="%.1f%%", width=72, help=text.OUTPUT_HELP),
} | {
    dtype: st.column_config.NumberColumn(label, format="localized", width=98, help=text.BYTES_HELP.format(dtype=dtype))
    for dtype, label in text.BYTES.items()
}


def has_section(config: Config) -> bool:
    """Whether there is a fold: if there is something to compare, or a link opens it, to say what is missing."""
    return config.grouping == "show" or (config.heads > 1 and "projections" in has(config.source))


def section(config: Config) -> None:
    """Draws the fold with the comparison, which is open if a link says so."""
    if not has_section(config):
        st.empty()  # replaces the fold of another source
        return
    page.widgets()[FOLD] = config.grouping == "show"
    fold = st.expander(text.FOLD, icon=":material/hub:", key=FOLD, on_change=_toggle)
    if fold.open:
        with fold:
            _compare(config)


def _toggle() -> None:
    page.change(grouping="show" if page.widgets().get(FOLD) else "hide")


def _compare(config: Config) -> None:
    """Draws the comparison, or why there is none."""
    if config.heads == 1:
        st.caption(text.ONE_HEAD)
        return
    if missing_parts(config, text.NEEDS, "projections"):
        return
    with st.spinner(text.COMPUTING):
        found = results.heads.groupings(config)
    left, right = st.columns([8, 5], gap="medium")
    with left:
        _table(config, found)
    with right:
        spec = shares.by_grouping(tuple(each.kv_heads for each in found), config.n_kv_heads)
        st.vega_lite_chart(
            pa.table(_lines(found)),
            spec,
            key="moved by group",
            width="stretch",
            alt=text.CHART_ALT,
        )


def _table(config: Config, found: list[Grouping]) -> None:
    st.markdown(text.INTRO)
    rows = [_row(config, each) for each in found]
    st.dataframe(rows, column_config=COLUMNS, hide_index=True, key="groupings")
    with st.container(horizontal=True):
        for each in found:
            _choose(config, each.kv_heads)
    st.latex(r"\bar K_g = \tfrac{1}{r} \textstyle\sum_{h \in g} K_h,\qquad \bar V_g = \tfrac{1}{r} \sum_{h \in g} V_h")
    st.latex(r"\text{cache} = 2 \cdot \text{kv heads} \cdot d_{head} \cdot n \cdot \text{bytes}")
    if blind := results.heads.parity(config).blind:
        st.caption(text.BLIND.format(blind=blind, queries=config.tokens))
    is_drawn = config.sharing == "drawn" and config.kv_heads
    st.caption(text.METHOD.format(tokens=config.tokens, d_head=config.d_head, drawn=text.DRAWN if is_drawn else ""))


def _row(config: Config, each: Grouping) -> dict[str, Any]:
    return {
        "kv_heads": each.kv_heads,
        "name": name(each.kv_heads, config.heads),
        "moved": 100 * each.mean_moved,
        "output": 100 * each.output,
        **{dtype: cache_bytes(config, each.kv_heads, dtype) for dtype in ("float32", "bfloat16")},
    }


def _choose(config: Config, kv_heads: int) -> None:
    """Draws a button that applies a grouping everywhere."""
    whole = kv_heads == config.heads
    st.button(
        str(kv_heads),
        on_click=page.change,
        kwargs={"kv_heads": 0 if whole else kv_heads, "sharing": "averaged"},
        type="primary" if kv_heads == config.n_kv_heads else "secondary",
        key=f"kv {kv_heads}",
        help=text.USE_HELP.format(name=name(kv_heads, config.heads), kv_heads=kv_heads),
    )


def _lines(found: list[Grouping]) -> dict[str, list[Any]]:
    """Columns of a table with one row per grouping and head; in those of the last grouping, heads have their names."""
    heads = range(len(found[-1].moved))
    rows = [(each.kv_heads, head, each.moved[head], format_head(head), None) for each in found[:-1] for head in heads]
    heights = shares.name_heights(found[-1].moved)
    rows += [(found[-1].kv_heads, head, found[-1].moved[head], format_head(head), heights[head]) for head in heads]
    return dict(zip(("kv_heads", "head", "moved", "label", "named"), map(list, zip(*rows, strict=True)), strict=True))
