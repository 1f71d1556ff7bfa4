"""Shows a visitor a sentence and a way on if a page fails. The log has the error, with the number shown."""

from __future__ import annotations

import logging
from importlib import import_module
from uuid import uuid4

import streamlit as st

log = logging.getLogger(__name__)


def show_error(error: Exception) -> bool:
    """Shows the error on the page, in the place of what has failed."""
    number = uuid4().hex[:6]
    log.error("The error above was shown as number %s.", number)
    why = reason(error)
    sentence = (
        f"This page can't be shown: {why}." if why else "This part of the page failed; everything else still works."
    )
    st.error(
        f"{sentence}\n\n[Start over with default settings](./) in a new tab, or select another source or page. Number {number} "
        "identifies the entry in the server log.",
        icon=":material/error:",
    )
    return True


def reason(error: Exception) -> str:
    """The reason if it is meant for the reader: a shipped file is damaged or missing. Empty otherwise."""
    damaged = import_module("attention.recorded.file").RecordingError
    return import_module("attention.ui.markdown").escape(str(error)) if isinstance(error, damaged) else ""
