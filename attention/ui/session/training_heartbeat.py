"""Keeps a visitor's training running while they read other pages, until they have left."""

from __future__ import annotations

import streamlit as st

from attention.ui.session.visit_state import session

LOOK = 30.0  # seconds between two signs of life from a page that is only read


def keep_alive() -> None:
    """Sends a sign of life for the training now, and repeatedly as long as the page is open."""
    if _has_training():
        st.fragment(_has_training, run_every=LOOK)()


def _has_training() -> bool:
    """Whether this visitor has a training that is open; if so, records that they are still there."""
    state = session()
    mine = state.kept.learning
    if mine is None or not mine.open:
        return False
    mine.look(state.visitor)
    return True
