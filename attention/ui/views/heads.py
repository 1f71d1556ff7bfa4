"""Heads: the weights of all heads; the selected row and head, statistics, code, groupings and files."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from attention.analysis.head_kinds import Role
from attention.components.heads_grid import heads_grid
from attention.config import Config
from attention.knobs import GENERATED
from attention.pinned import shown_side, sides_of
from attention.steps import file_program, program
from attention.tables import rows as tables
from attention.ui import proof, results
from attention.ui.heading import reserve_finding, title_part
from attention.ui.session import address_bar, browser_yield, gestures, page, present
from attention.ui.text import comparing, terms
from attention.ui.text import heads as text
from attention.ui.views import (
    grouping,
    head_statistics,
    heads_compared,
    heads_large,
    heads_long,
    heads_long_compared,
    heads_row,
    own_text,
    questions,
    run_switches,
    unscaled,
)
from attention.ui.views import heads_parts as parts

PROGRAM = "heads program"  # key of the expander with the code
FOCUS = frozenset({"head", "query"})


def begin(config: Config) -> None:
    """Starts the computations that the page waits for."""
    if config.truncated is not config:
        if shown := heads_long_compared.shown_alone(config):
            heads_long.begin(shown)
        return
    if config.against:
        heads_compared.begin(config)
        return
    results.heads.begin_shown_cells(config)
    results.heads.roles.begin(config)


def view(config: Config) -> None:
    """Draws all heads and the selected row, a question in their place, or the whole page of a long sequence."""
    if questions.question_closes(config.truncated):
        heads_large.draw_asked_row(config.truncated)
        return
    if config.truncated is not config:
        if sides := sides_of(config):
            heads_long_compared.view(sides)
        else:
            heads_long.view(config)
        return
    if sides := sides_of(config):
        heads_compared.view(sides)
        return
    finding, roles = reserve_finding(), results.heads.roles(config)
    if not (present.shows_one_picture(config) or page.card()):
        _above_map(config, roles)
    heads_grid(
        config,
        results.heads.shown_cells(config),
        on_pin=gestures.on_grid_pin,
        names=parts.names(config, roles),
        short_names=parts.short_names(config, roles),
        on_percent=gestures.on_percent,
        address=address_bar.address(),
    )
    browser_yield.yield_to_browser()
    said = parts.finding(config, roles, tables.row(results.heads.trace(config)))
    finding.markdown(said, help=parts.elsewhere(config, roles[config.head]))
    proof.badge(config)


def _above_map(config: Config, roles: Sequence[Role | None]) -> None:
    """Draws how the maps are read; while scores are not divided, what that does, with a link to the reason."""
    with st.container(horizontal=True, vertical_alignment="center", key="above-map"):
        if said := parts.unscaled(config):
            st.caption(said, width="content")
            parts.draw_random_head_button(config)
            unscaled.link(config)
        elif above := parts.mask_rule(config) if config.head_softmax.signed else parts.how_to_read(config, roles):
            st.caption(above.rstrip())


def _fields(config: Config) -> None:
    """Draws the fields of the selected head and query, a button that compares them, and whether the head is switched off."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        parts.focus(
            config, 190
        )  # where it is narrower, Streamlit does not say that Enter is missing, and copy_link would not wait
        if not config.against:
            heads_compared.offer()
        run_switches.offer(config)
    if off := run_switches.off_note(config):
        st.caption(off)
    terms.draw("heads")


def _row(config: Config) -> None:
    """Draws the selected row, of both sides of a comparison."""
    with st.container():
        if sides := sides_of(config):
            heads_compared.row(sides)
        else:
            heads_row.row(results.heads.trace(config))


def _head(config: Config) -> None:
    """Draws the statistics of every head, and the selected head enlarged."""
    if sides := sides_of(config):
        heads_compared.numbers(sides)
    shown = shown_side(config)
    of = "" if sides is None else comparing.OF_B if shown is config else comparing.OF_A
    if shown.truncated is shown and not (sides and heads_compared.has_numbers(sides)):
        head_statistics.numbers(lambda: results.heads.numbers(shown), shown, lambda: results.heads.roles(shown), of)
    heads_large.large(config)


def _code(config: Config) -> None:
    made = config.source == GENERATED
    core = (lambda: program.lines(config).strip()) if made else None
    parts.code(PROGRAM, lambda: (program if made else file_program).source(config), core)


def _look_code(config: Config) -> object:
    return (config if parts.code_open(PROGRAM) else config.source) if _short(config) else None


def _files(config: Config) -> None:
    """Draws what few changes affect: the comparison of groupings, and the files."""
    now = page.view_export()
    with st.container():
        grouping.section(config)
        files = st.expander(text.DOWNLOADS, icon=":material/download:")
    with files:
        st.download_button(
            text.TENSORS,
            lambda: tables.npz(results.heads.trace(now())),
            file_program.FILE,
            on_click="ignore",
            key="npz",
        )
        st.download_button(
            text.WEIGHTS,
            lambda: tables.weights_csv(results.heads.trace(now())),
            "weights.csv",
            "text/csv",
            on_click="ignore",
            key="csv",
            help=text.WEIGHTS_HELP.format(lines=f"{tables.CSV_ROWS:,}"),
        )


def _look_files(config: Config) -> object:
    if not _short(config):
        return None
    return config.for_page() if config.grouping == "show" else grouping.has_section(config)


def _short(config: Config) -> bool:
    """Whether the sequence is short enough for a trace and no question hides the page."""
    return config.truncated is config and not questions.is_hidden(config)


TITLE = title_part("heads", parts.help_text, parts.badge)  # which stays while a question hides the page
CHOICES = page.Part("choices", parts.choices, parts.look_choices, own_text.KNOB | {"colors"})
FIELDS = page.Part(
    "fields",
    _fields,
    lambda config: ("fields", bool(config.against), run_switches.look(config)) if _short(config) else None,
    FOCUS,
)
ROW = page.Part("row", _row, lambda config: config if _short(config) else None, frozenset({"row_as"}))
HEAD = page.Part("large", _head, lambda config: config if _short(config) else None)
CODE = page.Part("program", _code, _look_code)
FILES = page.Part("files", _files, _look_files, frozenset({"grouping"}))
