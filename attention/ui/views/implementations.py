"""Implementations: published ways to write attention, each against the reference, and what its print does."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attention.config import Config
from attention.published import HUNTS, ROWS, Row, called, hunted
from attention.published.case import left_out, longest
from attention.ui import compute, provenance
from attention.ui.controls import knobs
from attention.ui.lacking import lacking, too_large
from attention.ui.session import page, pause
from attention.ui.views import code, published_details, published_overview, published_squares, questions
from attention.ui.words import plain


def view(config: Config) -> None:
    """The page of a config."""
    if questions.closed(config):
        return
    if lacking(config, "Implementations: published ways to write attention", "x", "projections"):
        return
    if refused := compute.published.refusal(config):
        too_large(*refused, f"Compare at {refused[1].d_model:,} channels")
        return
    asked, off = config.bug == "question", config.bug == "off"
    names = [name for name, row in ROWS.items() if row.as_printed or off]
    name = HUNTS.get(config.implementation, config.implementation)
    name = name if name in names else names[0]
    name_there = called(name, asked)
    version = "as printed" if asked else config.version  # what was asked is what the answer begins with
    if (name_there, version) != (config.implementation, config.version):
        page.put(implementation=name_there, version=version)
        config = replace(config, implementation=name_there, version=version)
    row = ROWS[name]
    printed = bool(row.as_printed) and version == "as printed"
    words = st.container()  # filled after the grid, which is what one waits for
    found = compute.published.comparison(config.on(compute.published.PAGE), name, printed)
    published_squares.grid(config, name, printed, found)
    pause.paint()
    with words:
        _intro(config, row)
        if off:
            published_overview.table(config, name)
        _controls(names, config, row)
        published_overview.question(found) if asked else published_overview.row(config, name, printed, found)
    published_squares.pictures(config, name, printed, found)
    if asked:
        with st.expander("The code as it runs"):
            code.shown(found.source)
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
        f"**Implementations.** {provenance.beside(config)} "
        f"Public write-ups of attention, written anew and run on the same weights and input as the "
        f"reference, in float64: what differs is a mistake, not rounding. {plain(' '.join(notes))}",
        help=provenance.told(config),
    )


def _controls(names: list[str], config: Config, row: Row) -> None:
    asked = config.bug == "question"
    numbers = {hunted(name): f"Number {i}" for i, name in enumerate(names, 1)}
    named = numbers.get if asked else lambda name: ROWS[name].name
    knobs.pills(
        "implementation", config, list(numbers) if asked else names, format_func=named, label_visibility="collapsed"
    )
    switches = ("bug",) if asked else ("version", "bug")  # what is asked about is a print
    sizes = ("batch", "keys", "d_v") if row.crosses else ("batch",)
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        for name in switches:
            knobs.segments(name, config, width="content", on_change=SWITCHED.get(name))
        knobs.menu("colors", config, width=170)
        for name in sizes:
            knobs.number(name, config, width=200)


def _switched() -> None:
    """Whoever asks for the mistake has it named by nothing from then on, also where the link is copied at once."""
    _asks(page.widgets()["bug"] or page.setting().bug)


def _asks(bug: str) -> None:
    page.change(bug=bug, implementation=called(page.setting().implementation, bug == "question"))


SWITCHED = {"bug": _switched}
ASKS = {"Ask to find the bug": lambda: _asks("question")}  # for a class
