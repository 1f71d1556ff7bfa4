"""The training that a visitor has begun, looked at from every page: it goes on while they read others, until they have gone."""

from __future__ import annotations

import streamlit as st

from attention.ui.session.visit_state import session

LOOK = 30.0  # seconds between two looks of a page that is only read


def keep_alive() -> None:
    """Looks at it now, and as long as the page is there."""
    if _has_training():
        st.fragment(_has_training, run_every=LOOK)()


def _has_training() -> bool:
    """Is there one to look at?"""
    state = session()
    mine = state.kept.learning
    if mine is None or not mine.open:
        return False
    mine.look(state.visitor)
    return True
