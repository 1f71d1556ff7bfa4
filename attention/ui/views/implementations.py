"""Implementations: published ways to write attention, each compared with the reference."""

from __future__ import annotations

import streamlit as st

from attention.config import Config
from attention.published import ROWS, Row
from attention.published.case import left_out, longest
from attention.ui import provenance, results
from attention.ui.controls import knobs
from attention.ui.empty_states import missing_parts, too_large
from attention.ui.heading import draw_heading
from attention.ui.markdown import escape
from attention.ui.session import browser_yield, present
from attention.ui.text import implementations as text
from attention.ui.text import terms
from attention.ui.views import implementations_details, implementations_overview, implementations_squares, questions


def view(config: Config) -> None:
    """Draws the page of a config."""
    if questions.question_closes(config):
        return
    if missing_parts(config, text.REFUSED, "x", "projections"):
        return
    if refused := results.published.refusal(config):
        too_large(*refused, text.SMALLER.format(channels=refused[1].d_model))
        return
    name = config.implementation
    row = ROWS[name]
    printed = bool(row.as_printed) and config.version == "as printed"
    if present.is_embedded():
        found = results.published.comparison(config.for_page(results.published.PAGE), name, printed)
        implementations_overview.row(config, name, printed, found)
        implementations_squares.draw_alone(config, name, printed, found)
        return
    head = st.container()
    listed, detail = st.columns([3, 7], gap="medium")
    with detail:
        about = st.container()  # filled after the picture, which the user waits for
        implementations_overview.lines(name)
        implementations_overview.origin(name, printed)
        found = results.published.comparison(config.for_page(results.published.PAGE), name, printed)
        implementations_squares.draw(config, name, printed, found)
        browser_yield.yield_to_browser()
    with head:
        _intro(config)
    with listed:
        implementations_overview.choices(config)
        st.caption(text.HOW)
    with about:
        implementations_overview.row(config, name, printed, found)
        implementations_overview.not_applied(config, row, found)
    with detail:
        implementations_overview.tries(config, row)
        _notes(config, row)
    implementations_squares.more(config, name, printed, found)
    implementations_squares.all_heads(config, name, printed, found)
    implementations_overview.explanation(config, name, printed)
    with st.expander(text.DETAILS, icon=":material/code:"):
        implementations_details.draw(config, name, printed, found)
    _sizes(config, row)
    terms.draw("implementations")


def _intro(config: Config) -> None:
    """Draws the title, and how many implementations are wrong."""
    told = f"{text.ABOUT} {provenance.full_text(config)}"
    draw_heading("implementations", implementations_overview.finding(config), provenance.beside(config), told)


def _sizes(config: Config, row: Row) -> None:
    """Draws the sizes that only published code has, and the width of the values."""
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        for name in ("batch", "keys", "d_v") if row.crosses else ("batch",):
            knobs.number(name, config, width=200)


def _notes(config: Config, row: Row) -> None:
    """Draws what of the settings is not applied."""
    notes = (
        [text.FIRST_TOKENS.format(shown=n, tokens=config.tokens)] if (n := longest(config)[0]) < config.tokens else []
    )
    if odd := left_out(config):
        notes.append(text.LEFT_OUT.format(settings=", ".join(odd)))
    if (config.keys or config.d_v) and not row.crosses:
        notes.append(text.SELF_ONLY)
    if notes:
        st.caption(escape(" ".join(notes)))
