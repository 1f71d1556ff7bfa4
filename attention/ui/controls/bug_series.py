"""The settings of the page Find the bug, which has no controls in the sidebar."""

from __future__ import annotations

from attention.published.bug_series import SERIES, BugSeries
from attention.ui.controls.kind import Change, Kind, Stops


def draw(series: BugSeries, stops: Stops, change: Change) -> None:
    """Draws nothing: the page has the number of the bug."""


BUGS = Kind(SERIES, draw, lambda series: (), frozenset())
