"""The sidebar of the page Your data: how a file is read, if a guess has to be corrected."""

from __future__ import annotations

import streamlit as st

from attention.imported.reading_knobs import READINGS, Reading
from attention.ui.controls import knobs
from attention.ui.controls.kind import Change, Kind, Stops
from attention.ui.text import controls as text

MENUS = ("weights", "vectors", "mask", "scale")


def draw(how: Reading, stops: Stops, change: Change) -> None:
    """Draws a widget for each guess."""
    st.markdown(text.READING)
    for name in MENUS:
        knobs.menu(name, how, on_change=change)
    for name in ("item", "part"):
        knobs.number(name, how, on_change=change)


READING = Kind(READINGS, draw, lambda how: (), frozenset(READINGS.knobs))
