"""The selected row below the grid of heads, in one of several forms: a function per form, listed in `WAYS`."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import streamlit as st

from attention.charts import row as bars
from attention.charts.spec import empty
from attention.codec import CONFIGS
from attention.components.row_output import row_output
from attention.components.word_lines import MOST, word_lines
from attention.config import Config
from attention.number_format import format_weight
from attention.operations.differential import NAME as DIFFERENTIAL
from attention.sources.providers import distributes, unit
from attention.tables import rows as tables
from attention.trace import Trace
from attention.ui import results
from attention.ui.controls import knobs
from attention.ui.empty_states import missing_parts
from attention.ui.markdown import escape
from attention.ui.session import gestures, page
from attention.ui.text import heads as text
from attention.ui.views import heads_parts as parts
from attention.ui.views import questions, run_switches

FOLD = "selected row"  # key of the expander
FEW = 40  # tokens up to which words with lines are readable at a glance


def row(trace: Trace) -> None:
    """Draws a fold with the picture of the selected row."""
    config, found = trace.config, tables.row(trace)
    forms(config, lambda: _row_form(config, found))


def forms(config: Config, draw: Callable[[], None]) -> None:
    """Draws the fold with the choice of the form of the selected row; `draw` draws the row."""
    fold = parts.fold(text.ROW_FOLD, "conversion_path", FOLD, config.row_as != CONFIGS.defaults["row_as"])
    if fold.open:
        with fold:
            knobs.segments("row_as", config, on_change=page.change)
            draw()


def _row_form(config: Config, found: tables.Row) -> None:
    """Draws the row in the chosen form, below a sentence about it; lines have a sentence of their own."""
    way = _way(config)
    if way not in (_lines, _all_lines):
        st.markdown(_row_sentence(config, found), help=_help(config, found))
    elif found.seeing and not questions.unsaid(config) and (more := _more(config, found)):
        st.caption(escape(more))
    way(config, found)


def _more(config: Config, found: tables.Row) -> str:
    """What is special about the weights of the row, "" if nothing is."""
    return f"{tables.support_text(found, config)}{tables.missing_share(found, config)}".rstrip()


def _row_sentence(config: Config, found: tables.Row) -> str:
    name = parts.query_name(found)
    if not found.seeing:
        return text.BLIND.format(query=escape(name))
    if questions.unsaid(config):
        return escape(text.ROW_UNSAID.format(query=name, head=found.head))
    if distributes(config):
        said = tables.puts(found, unit(config))
    else:
        largest = format_weight(found.greatest)
        said = text.LARGEST_WEIGHT.format(most=tables.mostly(found, unit(config)), largest=largest)
    return escape(text.ROW.format(query=name, said=said, more=_more(config, found)).rstrip())


def _help(config: Config, found: tables.Row) -> str | None:
    """How many keys have most of the row, and its entropy."""
    if questions.unsaid(config) or not found.seeing:
        return None
    most, entropy = tables.mostly(found, unit(config)), tables.entropy_text(config, found.entropy)
    return escape(text.ROW_HELP.format(query=parts.query_name(found), head=found.head, most=most, entropy=entropy))


def _way(config: Config) -> Callable[[Config, tables.Row], None]:
    """The function of the chosen form; unless one was chosen, lines for a few tokens."""
    if config.row_as != "auto":
        return WAYS[config.row_as]
    return _bars if max(config.tokens, config.n_keys) > FEW else _lines


def _bars(config: Config, found: tables.Row) -> None:
    names = tuple(tables.key_labels(config)) if config.n_keys <= bars.LABELLED else ()
    scale, seeing = parts.bars(config, found)
    spec = bars.weights(names, config.n_keys, scale, seeing, distributes(config))
    with st.container(horizontal=True, horizontal_alignment="right"):
        parts.other_scale(config, scale)
    st.vega_lite_chart(
        pa.table(found.keys),
        spec if found.seeing else empty(spec),
        key="row",
        width="stretch",
        alt=text.ROW_ALT,
    )


def _lines(config: Config, found: tables.Row, all_rows: bool = False) -> None:
    if max(last - first for first, last in config.window) > MOST:
        too_many(config)
        return
    cells = results.heads.lines(config, config.head, config.window)
    word_lines(config, cells, all_rows=all_rows, on_pin=gestures.on_lines_pin)


def _all_lines(config: Config, found: tables.Row) -> None:
    _lines(config, found, all_rows=True)


def too_many(config: Config) -> None:
    """Draws two alternatives in place of too many lines."""
    near = _around(config.query_index, config.tokens)
    with st.container(border=True):
        st.markdown(text.TOO_MANY.format(most=MOST))
        with st.container(horizontal=True):
            st.button(
                text.NEAR.format(words=near.replace("-", " to ")),
                on_click=page.change,
                kwargs={"rows": near, "cols": near},
                key="near",
                help=text.NEAR_HELP,
            )
            st.button(text.TO_BARS, on_click=page.change, kwargs={"row_as": "bars"}, key="as bars")


def _around(at: int, tokens: int) -> str:
    """A range of `MOST` tokens with position `at` in the middle, or as near to it as the sequence allows."""
    first = max(0, min(at - MOST // 2, tokens - MOST))
    return f"{first}-{first + MOST - 1}"


def _output(config: Config, found: tables.Row) -> None:
    if not missing_parts(config, text.WEIGHTED, "v"):
        if off := run_switches.off_note(config):
            st.caption(off)
        row_output(config, results.heads.weighted_values(config, config.head, config.query_index))
        if config.softmax == DIFFERENTIAL:
            st.caption(text.NORMED)


WAYS: dict[str, Callable[[Config, tables.Row], None]] = {
    "lines": _lines,
    "all lines": _all_lines,
    "output": _output,
    "bars": _bars,
}
