"""The box above a view with messages about what could not be used."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from attention.ui.markdown import escape

MOST = 20  # messages that are shown


def draw_notes(notes: Sequence[str]) -> None:
    """Draws one box with the messages, however many a link causes; nothing without one."""
    if not notes:
        return
    shown = [escape(note) for note in notes[:MOST]]
    more = [f"… and {len(notes) - MOST} more"] if len(notes) > MOST else []
    st.warning("\n".join(f"- {note}" for note in shown + more) if len(notes) > 1 else shown[0], icon=":material/info:")
