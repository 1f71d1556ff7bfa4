"""Grouped heads: the same projections from multi-head over grouped-query to multi-query attention."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import streamlit as st

from attention.analysis.kv_groups import Grouping, cache_bytes, name
from attention.charts import shares
from attention.config import Config
from attention.ui import results
from attention.ui.controls import knobs
from attention.ui.empty_states import missing_parts
from attention.ui.session import page

COLUMNS = {  # widths in pixels: all columns fit next to the chart at 1280
    "kv_heads": st.column_config.NumberColumn("kv", width=40),
    "name": st.column_config.TextColumn("Attention", width=105),
    "moved": st.column_config.NumberColumn(
        "Moved",
        format="%.1f%%",
        width=70,
        help="Weight moved to other keys: half the sum of |w' - w| per row, averaged over rows with a visible key",
    ),
    "output": st.column_config.NumberColumn(
        "Output",
        format="%.1f%%",
        width=70,
        help="Relative change of the output after W_o: |y' - y| / |y|, Frobenius norms",
    ),
    "float32": st.column_config.NumberColumn(
        "Bytes, fp32", format="localized", width=105, help="KV cache of one layer in float32"
    ),
    "bfloat16": st.column_config.NumberColumn(
        "Bytes, bf16", format="localized", width=105, help="KV cache of one layer in bfloat16"
    ),
}


def section(config: Config) -> None:
    """Draws the switch that opens the comparison, and the comparison if it is open."""
    knobs.segments("grouping", config, on_change=page.change)
    if config.grouping == "hide":
        return
    if config.heads == 1:
        st.caption("With one head, multi-head and multi-query attention are the same.")
        return
    if missing_parts(config, "The same weights from multi-head to multi-query attention", "projections"):
        return
    with st.spinner("Computing every grouping"):
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
            alt="Lines by number of key-value heads: the share of weight that each head moved to other keys",
        )


def _table(config: Config, found: list[Grouping]) -> None:
    st.latex(r"\bar K_g = \tfrac{1}{r} \textstyle\sum_{h \in g} K_h,\qquad \bar V_g = \tfrac{1}{r} \sum_{h \in g} V_h")
    st.latex(r"\text{cache} = 2 \cdot \text{kv heads} \cdot d_{head} \cdot n \cdot \text{bytes}")
    rows = [_row(config, each) for each in found]
    st.dataframe(rows, column_config=COLUMNS, hide_index=True, key="groupings")
    with st.container(horizontal=True):
        for each in found:
            _choose(config, each.kv_heads)
    drawn = (
        " The current setting draws shared projections instead of averaging."
        if config.sharing == "drawn" and config.kv_heads
        else ""
    )
    if blind := results.heads.parity(config).blind:
        st.caption(
            f"{blind} of {config.tokens:,} queries have no visible key: their weights and outputs are zero under every grouping, "
            "and “Moved” is the mean over the others."
        )
    st.caption(
        f"Groups of r = heads / kv heads share the mean of their keys and values (Ainslie et al. 2023, section 2.1, without the "
        f"uptraining). Cache: one layer, {config.tokens:,} tokens, d_head {config.d_head}. In the grid above, a bracket "
        f"marks heads that share.{drawn}"
    )


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
        help=f"Uses {name(kv_heads, config.heads)} attention: {kv_heads} averaged key-value heads",
    )


def _lines(found: list[Grouping]) -> dict[str, list[Any]]:
    """Columns of a table with one row per grouping and head."""
    rows = [(each.kv_heads, head, moved) for each in found for head, moved in enumerate(each.moved)]
    return dict(zip(("kv_heads", "head", "moved"), map(list, zip(*rows, strict=True)), strict=True))
