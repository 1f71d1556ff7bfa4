"""Implementations: published ways to write attention, each compared with the reference."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attention.config import Config
from attention.published import HUNTS, ROWS, Row, hunt_name, link_name
from attention.published.case import left_out, longest
from attention.ui import provenance, results
from attention.ui.controls import knobs
from attention.ui.empty_states import missing_parts, too_large
from attention.ui.markdown import escape
from attention.ui.session import browser_yield, page
from attention.ui.text import terms
from attention.ui.views import code, published_details, published_overview, published_squares, questions


def view(config: Config) -> None:
    """Draws the page of a config."""
    if questions.question_closes(config):
        return
    if missing_parts(config, "Implementations: published ways to write attention", "x", "projections"):
        return
    if refused := results.published.refusal(config):
        too_large(*refused, f"Compare at {refused[1].d_model:,} channels")
        return
    asked, off = config.bug == "question", config.bug == "off"
    names = [name for name, row in ROWS.items() if row.as_printed or off]
    name = HUNTS.get(config.implementation, config.implementation)
    name = name if name in names else names[0]
    name_there = link_name(name, asked)
    version = "as printed" if asked else config.version  # the answer begins with the version that was asked about
    if (name_there, version) != (config.implementation, config.version):
        page.put(implementation=name_there, version=version)
        config = replace(config, implementation=name_there, version=version)
    row = ROWS[name]
    printed = bool(row.as_printed) and version == "as printed"
    words = st.container()  # filled after the grid, which the user waits for
    found = results.published.comparison(config.for_page(results.published.PAGE), name, printed)
    published_squares.grid(config, name, printed, found)
    browser_yield.yield_to_browser()
    with words:
        _intro(config, row)
        if off:
            published_overview.table(config, name)
        _controls(names, config, row)
        published_overview.question(found) if asked else published_overview.row(config, name, printed, found)
    published_squares.pictures(config, name, printed, found)
    if asked:
        with st.expander("Code that runs"):
            code.show_source(found.source)
    else:
        published_details.draw(config, name, printed, found)


def _intro(config: Config, row: Row) -> None:
    n = longest(config)[0]
    notes = [f"Compared on the first {n:,} of {config.tokens:,} tokens."] if n < config.tokens else []
    if odd := left_out(config):
        notes.append(f"Not applied here, because no document supports them: {', '.join(odd)}.")
    if (config.keys or config.d_v) and not row.crosses:
        notes.append("This one is self-attention only: cross-attention keys and d_v are not applied.")
    st.markdown(
        f"**Implementations.** {provenance.beside(config)} "
        f"Published attention code, rewritten and run on the same weights and input as the reference, in "
        f"float64: a difference is a mistake, not rounding. {escape(' '.join(notes))}",
        help=provenance.full_text(config),
    )
    terms.draw("implementations")


def _controls(names: list[str], config: Config, row: Row) -> None:
    asked = config.bug == "question"
    numbers = {hunt_name(name): f"Number {i}" for i, name in enumerate(names, 1)}
    named = numbers.get if asked else lambda name: ROWS[name].name
    knobs.pills(
        "implementation", config, list(numbers) if asked else names, format_func=named, label_visibility="collapsed"
    )
    switches = ("bug",) if asked else ("version", "bug")  # questions are about the published version
    sizes = ("batch", "keys", "d_v") if row.crosses else ("batch",)
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        for name in switches:
            knobs.segments(name, config, width="content", on_change=SWITCHED.get(name))
        knobs.menu("colors", config, width=170)
        for name in sizes:
            knobs.number(name, config, width=200)


def _on_mistake_switch() -> None:
    """Asks for the mistake or shows it. Once asked, nothing names it, not even a link that is copied at once."""
    _asks(page.widgets()["bug"] or page.setting().bug)


def _asks(bug: str) -> None:
    page.change(bug=bug, implementation=link_name(page.setting().implementation, bug == "question"))


SWITCHED = {"bug": _on_mistake_switch}
ASKS = {"Ask to find the bug": lambda: _asks("question")}  # callbacks of the class section, by label
