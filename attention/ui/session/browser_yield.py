"""Pauses a run so that the browser can paint: it does not paint while messages keep arriving.

A page sends the picture that the user waits for, pauses, and sends the rest. If the user has changed something meanwhile,
the run ends there in favour of the next picture; what is on the screen stays until a run reaches its end. Painting the
rest can take a browser longer than painting the picture, and it accepts no change meanwhile. The pause is therefore
longer while changes follow each other closely, and at the first picture of a session.
"""

from __future__ import annotations

from time import monotonic, sleep

import streamlit as st

from attention.streamlit_internals import change_is_waiting
from attention.ui.session import address_bar, page

GAP, CALM = 0.12, 0.25  # seconds before the rest is sent, and in addition while changes follow each other
ARRIVAL = 0.5  # instead of GAP at a session's first picture: the browser has yet to load the code that draws the rest
LOOK = 0.01  # seconds between two checks for a change


def yield_to_browser() -> None:
    """Gives the browser time to paint. Call it after the picture that the user waits for, before the rest of the page."""
    start = monotonic()
    sleep(max(0, start + (ARRIVAL if page.arrives() else GAP) - monotonic()))
    address_bar.write_link()
    until = start + (CALM if page.is_hurried() else 0)
    while monotonic() < until and not change_is_waiting():
        sleep(LOOK)
    if change_is_waiting():
        st.rerun(scope="fragment")
