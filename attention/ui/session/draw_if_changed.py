"""Sends what a browser keeps by itself within the view or a part, unless it was sent before.

Nothing that is seen may be sent so: a browser removes what a run of the fragment around it does not draw again.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from attention.streamlit_internals import running_fragments
from attention.ui.session.visit_state import session


def draw_if_changed(name: str, look: object, draw: Callable[[], object]) -> None:
    """Calls `draw` unless the last run of the same fragment drew the same `look` under this name."""
    state = session()
    if running_fragments() is None or name not in state.earlier or state.earlier[name] != look:
        st.fragment(_draw)(draw)
    state.current[name] = look


def _draw(draw: Callable[[], object]) -> None:
    draw()
