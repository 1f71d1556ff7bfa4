"""Implementations: published ways to write attention, each against the reference, and what its print does."""

from __future__ import annotations

import streamlit as st

from attention.config import KNOBS, Config
from attention.published import ROWS, Row
from attention.published.case import left_out, longest
from attention.ui import compute, page, pause
from attention.ui.views import published_details, published_overview, published_squares, questions
from attention.ui.words import plain


def view(config: Config) -> None:
    """The page of a config."""
    if questions.closed(config):
        return
    asked, off = config.bug == "question", config.bug == "off"
    names = [name for name, row in ROWS.items() if row.as_printed or off]
    name = config.implementation if config.implementation in names else names[0]
    if name != config.implementation:
        page.put(implementation=name)
    if asked and config.version != "as printed":
        page.put(version="as printed")  # what was asked is what the answer begins with
    row = ROWS[name]
    printed = bool(row.as_printed) and (asked or config.version == "as printed")
    words = st.container()  # filled after the grid, which is what one waits for
    found = compute.comparison(compute.published(config), name, printed)
    published_squares.grid(config, name, printed, found)
    pause.paint()
    with words:
        _intro(config, row)
        _controls(names, config, row)
        if off:
            published_overview.table(config, name)
        published_overview.question(found) if asked else published_overview.row(config, name, printed, found)
    published_squares.pictures(config, name, printed, found)
    if asked:
        with st.expander("The code as it runs"):
            st.code(found.source, language="python")
    else:
        published_details.draw(config, name, printed, found)


def _intro(config: Config, row: Row) -> None:
    n = longest(config)[0]
    notes = [f"Compared on the first {n:,} of {config.tokens:,} tokens."] if n < config.tokens else []
    if odd := left_out(config):
        notes.append(f"Left out here, as no document knows them: {', '.join(odd)}.")
    if (config.keys or config.d_v) and not row.crosses:
        notes.append("This one attends to its own sequence: keys of another one and d_v are left out.")
    st.markdown(
        "**Implementations.** Public write-ups of attention, written anew and run on the same weights and input as the "
        f"reference, in float64: what differs is a mistake, not rounding. {plain(' '.join(notes))}"
    )


def _controls(names: list[str], config: Config, row: Row) -> None:
    asked = config.bug == "question"
    numbers = {name: f"Number {i}" for i, name in enumerate(names, 1)}
    called = numbers.get if asked else lambda name: ROWS[name].name
    knob = KNOBS["implementation"]
    st.pills(knob.label, names, key="implementation", required=True, format_func=called, label_visibility="collapsed")
    switches = ("bug", "colors") if asked else ("version", "bug", "colors")  # what is asked about is a print
    sizes = ("batch", "keys", "d_v") if row.crosses else ("batch",)
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        for name in switches:
            knob = KNOBS[name]
            st.segmented_control(knob.label, knob.choices, key=name, help=knob.help, required=True, width="content")
        for name in sizes:
            knob = KNOBS[name]
            st.number_input(knob.label, int(knob.low), int(knob.high), key=name, help=knob.help, width=200)
