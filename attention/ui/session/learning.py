"""The training that a visitor has begun, looked at from every page: it goes on while they read others, until they have gone."""

from __future__ import annotations

import streamlit as st

from attention.ui.session.state import session

LOOK = 30.0  # seconds between two looks of a page that is only read


def look() -> None:
    """Looks at it now, and as long as the page is there."""
    if _looked():
        st.fragment(_looked, run_every=LOOK)()


def _looked() -> bool:
    """Is there one to look at?"""
    state = session()
    mine = state.kept.learning
    if mine is None or not mine.open:
        return False
    mine.look(state.visitor)
    return True
