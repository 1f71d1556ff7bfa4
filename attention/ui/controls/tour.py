"""The sidebar of the Examples page: the choice of examples."""

from __future__ import annotations

from attention.examples import TOURS, Tour
from attention.ui.controls import knobs
from attention.ui.controls.kind import Change, Kind, Stops


def draw(tour: Tour, stops: Stops, change: Change) -> None:
    """Draws the menu, in a sidebar that is closed at first: the page has buttons for the same choice."""
    knobs.menu("about", tour, on_change=change)


TOUR = Kind(TOURS, draw, lambda tour: (), frozenset(TOURS.knobs), closed=True)
