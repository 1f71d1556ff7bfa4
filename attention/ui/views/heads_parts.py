"""What the Heads page shows at any length: its title, the focus, the numbers of every head."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.config import GENERATED, Config
from attention.heads import NUMBERS
from attention.sources.origins import idle, named
from attention.tables import rows as tables
from attention.ui.controls import knobs
from attention.ui.session import page
from attention.ui.views import questions

OWN = "Which keys it sees is its source's own matter: no mask that is set acts here."
FAINT = 0.15  # greatest weight below which little is seen on a scale from 0 to 1


def title(config: Config) -> None:
    """What is shown, and the scale of its colours."""
    said, scale = st.columns([5, 2], vertical_alignment="bottom")
    said.markdown(_said(config))
    with scale:
        knobs.segments("colors", config, on_change=page.change)


def look(config: Config) -> object:
    """What the title shows of a config; None while a question hides it."""
    return None if questions.hidden(config.traceable) else _said(config)


def _said(config: Config) -> str:
    recorded = f" of layer {config.layer}, {named(config.source).lower()}," if config.source != GENERATED else ""
    return (
        f"**Heads.** {config.heads} head{'s' * (config.heads > 1)}{recorded} over {config.tokens:,} tokens. A row is a "
        f"query: how it spreads a weight of one over the keys. {OWN if idle('mask', config) else config.rule.help}"
    )


def faint(config: Config, found: tables.Row) -> str:
    """A hint where little is seen."""
    small = config.colors == "linear" and 0 < found.greatest < FAINT
    return ". Faint on a scale to 1: try log" if small else ""


def focus(config: Config, width: int) -> None:
    """The head and the query in focus, each in a field of so many pixels."""
    for name in ("head", "query"):
        knobs.number(name, config, width=width, on_change=page.change)


def extent(rows: tuple[int, int], cols: tuple[int, int], tile: int, then: str = "") -> None:
    """Which part of a head is shown large, and how finely."""
    fine = "every token" if tile == 1 else f"{tile} x {tile} tokens a pixel"
    shown = f"Queries {rows[0]:,} to {rows[1] - 1:,}, keys {cols[0]:,} to {cols[1] - 1:,}: {fine}."
    st.caption(f"{shown} {then}".rstrip())


def beside() -> list[DeltaGenerator]:
    """Room for the large head, and beside it for all columns of `numbers`, where a window has 1280 pixels."""
    return st.columns([10, 9], gap="small")


def numbers(found: dict[str, list[float]]) -> None:
    """The numbers of every head, as a table."""
    units = ", ".join(f"{number.label.lower()} in {number.unit}" for number in NUMBERS.values() if number.unit)
    st.markdown(
        f"**Numbers of every head.** Means over queries that see a key; {units}. Point at a title for its formula."
    )
    columns = {"head": st.column_config.NumberColumn("Head")} | {
        name: st.column_config.NumberColumn(
            number.label, help=f"{number.formula} ({number.unit})" if number.unit else number.formula, format="%.3f"
        )
        for name, number in NUMBERS.items()
    }
    height = min(400, 37 + 35 * len(found["head"]))
    st.dataframe(pa.table(found), column_config=columns, hide_index=True, height=height, key="numbers")


def code(what: str, source: Callable[[], str]) -> None:
    """A fold with the program that does `what`, written once it is open: a browser loads 1.5 MB to colour it."""
    if page.widgets().get(what) is None:
        page.widgets()[what] = code_open(what)
    fold = st.expander(f"Code: {what}", icon=":material/code:", key=what, on_change="rerun")
    page.kept().code = bool(fold.open)
    if fold.open:
        fold.code(source(), language="python")


def code_open(what: str) -> bool:
    """Is that fold open? Streamlit forgets that of a fold that was not drawn for once, as where a question hides it."""
    return page.widgets().get(what, page.kept().code)
