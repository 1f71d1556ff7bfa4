"""The Softmax page of two sides: how the selected row changed, or sizes of weights and entropies of queries in every head."""

from __future__ import annotations

import math
from collections.abc import Callable

import pyarrow as pa
import streamlit as st

from attention.charts import distribution_changes as charts
from attention.comparison.sides import why_not_subtracted
from attention.number_format import format_mean, format_percent
from attention.pinned import Sides
from attention.sources.providers import distributes
from attention.tables import distribution_changes as tables
from attention.tables import rows
from attention.tables.distribution_changes import Pairs
from attention.ui import results
from attention.ui.markdown import escape
from attention.ui.session import browser_yield, present
from attention.ui.text import comparing as text
from attention.ui.views import focus, row_compared


def has_difference(sides: Sides) -> bool:
    """Whether one row or all rows are shown, and both sides have equally many, few enough to be computed at once."""
    few = all(side.truncated is side for side in sides[:2])
    return few and sides.b.topic in FORMS and not why_not_subtracted(sides.a, sides.b)


def draw(sides: Sides) -> None:
    """Draws the difference of the selected row, or of the distributions of all rows."""
    FORMS[sides.b.topic](sides)


def finding(sides: Sides) -> str:
    """How much the selected row changed; of all rows, which head did most by their mean entropy, "" if they have none."""
    if sides.b.topic == "row":
        found = results.heads.changes(sides.a, sides.b, sides.heads)
        return escape(row_compared.row_sentence(sides, found, _rows(sides)))
    if not all(map(distributes, sides[:2])):
        return ""
    found = [results.softmax.distribution(side) for side in sides[:2]]
    counted = (found[0].seen > 0) | (found[1].seen > 0)
    pairs = _pairs(sides)
    a, b = ([float(each.entropy[pair[at]][counted].double().mean()) for pair in pairs] for at, each in enumerate(found))
    if not counted.any() or a == b:
        return text.SAME_ENTROPIES
    most = max(range(len(pairs)), key=lambda at: abs(b[at] - a[at]))
    return text.ENTROPY_CHANGED.format(head=pairs[most][1], before=format_mean(a[most]), after=format_mean(b[most]))


def _pairs(sides: Sides) -> Pairs:
    return sides.heads or tuple((head, head) for head in range(sides.b.heads))


def _rows(sides: Sides) -> list[rows.Row]:
    return [rows.row(results.heads.trace(side)) for side in sides[:2]]


def _draw_row(sides: Sides) -> None:
    """Draws the selected row of both sides and its change, with the choice of head and query."""
    row_compared.bars(sides, _rows(sides))
    if present.is_embedded():
        return
    browser_yield.yield_to_browser()
    head, query, _ = st.columns([1, 1.3, 1.7])
    with head:
        focus.head(sides.b)
    with query:
        focus.query(sides.b)


def _draw_all(sides: Sides) -> None:
    """Draws the changes of every head, one below the other."""
    a, b = (results.softmax.distribution(side) for side in sides[:2])
    pairs = _pairs(sides)
    heads = tuple(head for _, head in pairs)
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(f"## {text.SIZES}")
        columns = tables.histogram_changes(a, b, pairs)
        spec = charts.histogram_changes(heads)
        st.vega_lite_chart(pa.table(columns), spec, key="sizes", width="stretch", alt=text.SIZES_ALT)
        st.caption(text.STRIPS.format(limit=format_percent(1.0)))
        browser_yield.yield_to_browser()
    with right:
        st.markdown(text.ENTROPIES)
        if not all(map(distributes, sides[:2])):
            st.caption(text.NO_ENTROPIES)
            return
        columns = tables.entropy_changes(a, b, pairs)
        limit = math.log(max(sides.a.n_keys, sides.b.n_keys) + 1)
        spec = charts.entropy_changes(heads, sides.b.tokens, limit)
        st.vega_lite_chart(pa.table(columns), spec, key="entropies", width="stretch", alt=text.ENTROPIES_ALT)
        st.caption(text.STRIPS.format(limit=f"{format_mean(limit)} nats"))


FORMS: dict[str, Callable[[Sides], None]] = {"row": _draw_row, "all": _draw_all}  # by topic
