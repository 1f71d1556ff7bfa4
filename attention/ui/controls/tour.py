"""The sidebar of the Examples page: the choice of examples."""

from __future__ import annotations

import streamlit as st

from attention.examples import TOURS, Tour
from attention.ui.controls import knobs
from attention.ui.controls.kind import Change, Kind, Stops
from attention.ui.text import controls as text


def draw(tour: Tour, stops: Stops, change: Change) -> None:
    """Draws the menu, folded: the page has buttons for the same choice."""
    with st.expander(text.MORE, icon=":material/tune:", key="more settings"):
        knobs.menu("about", tour, on_change=change)


TOUR = Kind(TOURS, draw, lambda tour: (), frozenset(TOURS.knobs))
