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
        f"What is asked for here can't be read: {why}." if why else "This could not be drawn; nothing else is lost."
    )
    st.error(
        f"{sentence}\n\n[Begin anew with the defaults](./) in another tab, or go on with another source or page. Number {number} "
        "leads whoever runs this server to the line in its log.",
        icon=":material/error:",
    )
    return True


def reason(error: Exception) -> str:
    """The reason if it is meant for the reader: a shipped file is damaged or missing. Empty otherwise."""
    damaged = import_module("attention.recorded.file").RecordingError
    return import_module("attention.ui.markdown").escape(str(error)) if isinstance(error, damaged) else ""
