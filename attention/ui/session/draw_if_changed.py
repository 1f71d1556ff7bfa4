"""Sends what a browser keeps by itself within the view or a part, unless it was sent before.

Nothing that is seen may be sent so: a browser removes what a run of the fragment around it does not draw again.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from attention.streamlit_internals import running_fragments
from attention.ui.session.visit_state import session


def draw_if_changed(name: str, look: object, draw: Callable[[], object]) -> bool:
    """Calls `draw` unless the last run of the same fragment drew the same `look` under this name; returns whether it did not."""
    state = session()
    known = running_fragments() is not None and name in state.earlier and state.earlier[name] == look
    if not known:
        st.fragment(_draw)(draw)
    state.current[name] = look
    return known


def _draw(draw: Callable[[], object]) -> None:
    draw()
