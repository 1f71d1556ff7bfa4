"""Draws a picture within the view or a part, unless the browser shows the same: what is large is not sent again.

A run of a fragment leaves what other fragments have drawn on the screen, so such a picture is a fragment of its own, which is
not run again while it looks the same.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from attention.streamlit_internals import running_fragments
from attention.ui.session.visit_state import session


def draw_if_changed(name: str, look: object, draw: Callable[[], object]) -> None:
    """Calls `draw` unless the last run of the same fragment drew the same `look` under this name, at the same place.

    Only what is in the same container on every run may be drawn so, as its last element.
    """
    state = session()
    if running_fragments() is None or name not in state.earlier or state.earlier[name] != look:
        st.fragment(_draw)(draw)
    state.current[name] = look


def _draw(draw: Callable[[], object]) -> None:
    draw()
