"""The heads of two sides compared: the choice of what is shown, the grid, the selected row, and the numbers of every head."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.codec import link
from attention.comparison import head_changes
from attention.comparison.head_changes import Changes
from attention.comparison.row_numbers import EVERY
from attention.comparison.sides import why_not_subtracted
from attention.components.heads_grid import difference_grid, heads_grid
from attention.config import Config
from attention.knobs import KNOBS
from attention.pinned import Sides, pin, sides_of
from attention.settings import ConfigError
from attention.sources.providers import distributes
from attention.ui import results
from attention.ui.controls import knobs
from attention.ui.heading import reserve_finding
from attention.ui.markdown import escape
from attention.ui.session import address_bar, browser_yield, gestures, page
from attention.ui.session.kept_bytes import kept_bytes
from attention.ui.text import comparing as text
from attention.ui.views import head_statistics, pinned_sides, questions, row_compared, unequal_sides
from attention.ui.views import heads_parts as parts
from attention.wire.cells import weights

NEAREST = "nearest"  # the head of A that is nearest to the selected one


def begin(config: Config) -> None:
    """Starts the computations that the picture waits for."""
    if (sides := sides_of(config)) is None or why_not(sides):
        results.heads.cells.begin(config)
    elif config.side == "difference":
        results.heads.differences.begin(*_args(sides))
    for side in sides_to_show(sides) if sides else ():
        results.heads.cells.begin(side)


def offer() -> None:
    """Draws the button that pins what is shown as side A; side B begins equal to it."""
    st.button(text.COMPARE, on_click=_pin, key="compare", icon=":material/compare_arrows:", help=text.COMPARE_HELP)


def _pin() -> None:
    try:
        config = page.setting()
        page.change(against=pin(config), side="difference")
    except ConfigError as error:  # a long text may not fit into a link twice
        page.note([str(error)])
        page.change()


def view(sides: Sides) -> None:
    """Draws the choice of a side, the sentence on what changed most, the picture, and the selected row."""
    reason = why_not(sides)
    place = _controls(sides)
    finding = reserve_finding()
    if reason:
        finding.markdown(escape(reason))
        if has_numbers(sides):
            unequal_sides.draw_way_out(sides)
        _picture(sides, reason)
        return
    _picture(sides, reason)
    browser_yield.yield_to_browser()
    found = results.heads.changes(*_args(sides))
    said = text.EQUAL if pinned_sides.are_equal(sides) else escape(head_changes.sentence(found, sides.b.head))
    finding.markdown(questions.unsaid_finding(text.UNSAID) if questions.unsaid(sides.b) else said)
    most = None if questions.unsaid(sides.b) or sides.of_head else head_changes.most_changed(found)
    if most not in (None, sides.b.head):
        label = text.SEE_HEAD.format(head=most)
        place.button(label, key="most changed", on_click=page.change, kwargs={"head": most}, type="tertiary")


def row(sides: Sides) -> None:
    """Draws the selected row of both sides, if they can be compared."""
    if not why_not(sides):
        row_compared.row(sides, results.heads.changes(*_args(sides)), sides_to_show(sides))


def why_not(sides: Sides) -> str:
    """Why both sides have no difference; "" if they have one."""
    if sides.a.truncated is not sides.a:
        return text.LENGTH.format(tokens=f"{sides.a.tokens:,}", most=f"{sides.a.truncated.tokens:,}")
    return why_not_subtracted(sides.a, sides.b)


def _args(sides: Sides) -> tuple[Config, Config, Any]:
    return sides.a, sides.b, sides.heads


def _controls(sides: Sides) -> DeltaGenerator:
    """Draws what differs between both sides, the choice of what is shown, and the buttons of a comparison.

    Returns the place of another button behind these.
    """
    config = sides.b
    if pinned_sides.are_equal(sides):
        _offer_changes(config)
    else:
        st.caption(pinned_sides.differences_text(sides, not why_not(sides)))
    with st.container(horizontal=True, vertical_alignment="bottom", key="comparison"):
        knobs.segments("side", config, on_change=page.change, label_visibility="collapsed")
        draw_head_of_a(sides)
        pinned_sides.draw_buttons()
        return st.empty()


def _offer_changes(config: Config) -> None:
    """Draws a button for each change that has an effect, so that one click shows a difference."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(text.TRY, width="content")
        for name, value in pinned_sides.tries(config).items():
            shown = f"{value:g}" if isinstance(value, float) else value
            label = text.SET.format(knob=KNOBS[name].label.lower(), value=shown)
            st.button(label, key=f"try {name}", on_click=page.change, kwargs={name: value})


def draw_head_of_a(sides: Sides) -> None:
    """Draws the menu of the head of A: the selected head, or another one."""
    key = f"head of a: {sides.a.heads} {sides.a.head if sides.of_head else ''}"

    def change() -> None:
        chosen = page.widgets().get(key)
        if chosen == NEAREST:
            chosen = results.heads.nearest(sides.a, sides.b, sides.b.head)
        page.change(against=pin(sides.a, chosen if isinstance(chosen, int) else None))

    matched = not why_not(sides) and all(map(distributes, sides[:2]))  # otherwise there is no Jensen-Shannon distance
    options = [None, *[NEAREST] * matched, *range(sides.a.heads)]
    names = {None: text.SAME_HEAD, NEAREST: text.NEAREST_HEAD}
    st.selectbox(
        text.HEAD_OF_A,
        options,
        index=options.index(sides.a.head) if sides.of_head else 0,
        format_func=lambda head: f"{text.HEAD_OF_A}: {names.get(head, head)}",
        key=key,
        on_change=change,
        help=text.HEAD_HELP,
        label_visibility="collapsed",
        width=200,
    )


def sides_to_show(sides: Sides) -> list[Config]:
    """Returns the sides whose own weights are shown; none if their difference is."""
    if sides.a.truncated is not sides.a:
        return [sides.b]
    side = "both" if why_not(sides) and sides.b.side == "difference" else sides.b.side
    return {"a": [sides.a], "b": [sides.b], "both": [sides.a, sides.b]}.get(side, [])


def places_of(shown: list[Config], key: str) -> list[DeltaGenerator]:
    """Returns a place for each side that is shown. In a narrow window one of them fills the page, and one swipes to the other.

    key: "both sides", or more after it, by which the style of the page knows two places.
    """
    if len(shown) == 1:
        return [st.container()]
    with st.container(key=key):
        return st.columns(len(shown), gap="medium")


def side_name(sides: Sides, side: Config) -> str:
    """Returns what a side is called beside its picture."""
    return text.SIDE_B if side is sides.b else text.SIDE_A


def _picture(sides: Sides, reason: str) -> None:
    """Draws the difference, one side, or both beside each other."""
    config, shown = sides.b, sides_to_show(sides)
    if not shown:
        difference_grid(
            config,
            results.heads.differences(*_args(sides)),
            on_pin=gestures.on_grid_pin,
            address=address_bar.address(),
            kept=kept_bytes("grid"),
        )
        return
    end = max(map(_largest_of_row, shown))
    for place, side in zip(places_of(shown, "both sides"), shown, strict=True):
        with place:
            st.caption(side_name(sides, side), help=parts.in_brackets(side, results.heads.roles(side)) or None)
            _grid(sides, side, end)


def _largest_of_row(side: Config) -> float:
    """Returns the largest magnitude of the selected row in the grid of a side."""
    cells = results.heads.cells(side)
    row = cells.codes[side.head, side.query_index // cells.tile]
    return float(weights(row, cells.signed).nan_to_num().abs().max())


def _grid(sides: Sides, side: Config, end: float) -> None:
    """Draws the grid of one side; `end`: that of the bars of both sides, so that they can be compared."""
    roles = results.heads.roles(side)
    names, short_names = parts.names(side, roles), parts.short_names(side, roles)
    if side is sides.b:
        heads_grid(
            side,
            results.heads.cells(side),
            on_pin=gestures.on_grid_pin,
            names=names,
            short_names=short_names,
            address=address_bar.address(),
            painted=link(sides.b),
            end=end,
        )
        return
    heads_grid(
        side,
        results.heads.cells(side),
        key="grid a",
        on_pin=gestures.on_side_pin,
        names=names,
        short_names=short_names,
        kept=kept_bytes("grid a"),
        end=end,
    )


def numbers(sides: Sides) -> None:
    """Draws how much every head changed as a table, the largest change first; the numbers of both sides if they have no B − A."""
    if not why_not(sides):
        table(results.heads.changes(*_args(sides)))
    elif has_numbers(sides):
        unequal_sides.numbers(sides)


def has_numbers(sides: Sides) -> bool:
    """Whether both sides have numbers per head, but no B − A, as they have different lengths."""
    return bool(why_not(sides)) and all(side.truncated is side for side in sides[:2])


def table(changes: Changes, note: str = "") -> None:
    """Draws the numbers of every head, with the formula of each; `note`: over which rows, if not over all."""
    found = head_changes.columns(changes)
    st.markdown(f"{text.NUMBERS} {note}".rstrip())
    columns: dict[str, Any] = {"head": st.column_config.TextColumn("Head")}
    for name in found:
        if number := EVERY.get(name):
            unit = f" ({number.unit})" if number.unit else ""
            source = f" {number.source}." if number.source else ""
            help = f"{number.formula}{unit}.{source}"
            columns[name] = st.column_config.NumberColumn(number.label, help=help, format="%.3f")
    quartiles = {"lower": "Lower quartile", "upper": "Upper quartile"}
    columns |= {name: st.column_config.NumberColumn(label, format="%.3f") for name, label in quartiles.items()}
    height = head_statistics.table_height(len(found["head"]))
    st.dataframe(pa.table(found), column_config=columns, hide_index=True, height=height, key="changes")
