"""The selected row of two sides, in one of several forms: a function per form, listed in `WAYS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pyarrow as pa
import streamlit as st

from attention.charts import row_change
from attention.charts.row import LABELLED
from attention.comparison.head_changes import Changes
from attention.comparison.row_numbers import EVERY, VARIATION
from attention.components.row_output import row_output
from attention.components.word_lines import MOST, word_lines
from attention.config import Config
from attention.number_format import format_mean, format_percent, format_token, format_weight
from attention.pinned import Sides
from attention.sources.providers import distributes, has
from attention.tables import rows as tables
from attention.ui import results
from attention.ui.markdown import escape, join_words
from attention.ui.session import gestures
from attention.ui.text import comparing as text
from attention.ui.views import heads_parts as parts
from attention.ui.views import heads_row, questions

CHANGE_ALT = "Bars by key: weights of the selected query in B minus A"
Shown = Sequence[Config]  # the sides whose own rows are shown, none for the difference


def row(sides: Sides, found: Changes, shown: Shown) -> None:
    """Draws a sentence about the selected row of both sides, and a fold with its picture."""
    rows = [tables.row(results.heads.trace(side)) for side in sides[:2]]
    st.markdown(escape(row_sentence(sides, found, rows)))
    heads_row.forms(sides.b, lambda: WAYS[sides.b.row_as](sides, rows, shown))


def row_sentence(sides: Sides, found: Changes, rows: Sequence[tables.Row]) -> str:
    """Returns how much the selected row changed, and the largest weight of both sides."""
    if questions.unsaid(sides.b):
        return text.ROW_ALONE.format(query=parts.query_name(rows[1]), head=sides.b.head)
    at = next((at for at, (_, head) in enumerate(found.heads) if head == sides.b.head), 0)
    value, shares = float(found.rows[found.measure][at, sides.b.query_index]), found.measure == VARIATION
    number = EVERY[found.measure].inside
    return text.ROW.format(
        query=parts.query_name(rows[1]),
        head=sides.b.head,
        changed=text.MOVED.format(share=format_percent(value))
        if shares
        else text.MEASURED.format(number=number, value=format_mean(value)),
        a=_largest(rows[0], shares),
        b=_largest(rows[1], shares),
    )


def _largest(row: tables.Row, shares: bool) -> str:
    """The largest weight of a row, as a share of it or as a number, with the keys that have it, or with how many these are."""
    if not row.seeing:
        return "none"
    said = format_percent if shares else format_weight
    weight = said(row.greatest)
    ties = [
        format_token(token, at, "key")
        for at, (token, each) in enumerate(zip(row.keys["token"], row.keys["weight"], strict=True))
        if said(each) == weight
    ]
    keys = join_words(ties) if len(ties) <= tables.NAMED else f"{len(ties):,} keys"
    return f"{weight}{' each' * (len(ties) > 1)} on {keys}"


def bars(sides: Sides, rows: Sequence[tables.Row], shown: Shown = ()) -> None:
    """Draws both rows in one chart, and their difference below."""
    weights = [row.keys["weight"] for row in rows]
    names = tuple(tables.key_labels(sides.b)) if sides.b.n_keys <= LABELLED else ()
    table = {"key": rows[1].keys["key"], "token": rows[1].keys["token"], "a": weights[0], "b": weights[1]}
    change = [after - before for before, after in zip(*weights, strict=True)]
    table |= {"change": change}
    shares = all(map(distributes, sides[:2]))
    charts = {
        "row": (
            row_change.both_rows(sides.b.n_keys, row_change.weight_ends(*weights), shares),
            "Bars by key: weights of the selected query in B, and lines: in A",
        ),
        "row change": (
            row_change.change(names, sides.b.n_keys, row_change.change_end(change), shares),
            CHANGE_ALT,
        ),
    }
    for key, (spec, alt) in charts.items():
        st.vega_lite_chart(pa.table(table), spec, key=key, width="stretch", alt=alt)


def _lines(sides: Sides, rows: Sequence[tables.Row], shown: Shown, all_rows: bool = False) -> None:
    """Draws the words with lines of the sides that are shown, or lines for their difference, dashed below zero."""
    config = sides.b
    if max(last - first for first, last in config.window) > MOST:
        heads_row.too_many(config)
        return
    if not shown:
        st.caption(text.LINES)
        cells = results.heads.line_differences(*sides[:2], (sides.a.head, config.head), config.window)
        word_lines(config, cells, all_rows=all_rows, on_pin=gestures.on_lines_pin, difference=True)

    def draw(side: Config, key: str) -> None:
        cells = results.heads.lines(side, side.head, side.window)
        word_lines(side, cells, all_rows=all_rows, key=key, on_pin=partial(gestures.on_lines_pin, key))

    _beside(sides, shown, "lines", draw)


def _outputs(sides: Sides, rows: Sequence[tables.Row], shown: Shown) -> None:
    """Draws the weighted values of the sides that are shown, of both for their difference."""

    def draw(side: Config, key: str) -> None:
        if "v" in has(side.source):
            row_output(side, results.heads.weighted_values(side, side.head, side.query_index), key=key)
        else:
            st.caption(text.NO_VALUES)

    _beside(sides, shown or sides[:2], "output", draw)


def _beside(sides: Sides, shown: Shown, key: str, draw: Callable[[Config, str], None]) -> None:
    """Draws each side with the key of its picture, in a column of its own, below its name."""
    for place, side in zip(st.columns(len(shown)) if shown else (), shown, strict=True):
        own = key if side is shown[-1] else f"{key} a"
        with place:
            st.caption(text.SIDE_B if side is sides.b else text.SIDE_A)
            draw(side, own)


WAYS: dict[str, Callable[[Sides, Sequence[tables.Row], Shown], None]] = {
    "auto": bars,
    "lines": _lines,
    "all lines": partial(_lines, all_rows=True),
    "output": _outputs,
    "bars": bars,
}
