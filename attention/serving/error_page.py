"""Shows a visitor a sentence and a way on if a page fails. The log has the error, with the number shown."""

from __future__ import annotations

import logging
from importlib import import_module
from urllib.parse import urlsplit
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
        f"{sentence}\n\n[Start over with default settings]({page_without_settings(st.context.url or '')}) in a new tab, or "
        f"select another source or page. Number {number} identifies the entry in the server log.",
        icon=":material/error:",
    )
    return True


def page_without_settings(address: str) -> str:
    """The relative address of the page of an address, without its link: the page opens with its defaults."""
    return f"./{urlsplit(address).path.rpartition('/')[2]}"


def reason(error: Exception) -> str:
    """The reason if it is meant for the reader: a shipped file is damaged or missing. Empty otherwise."""
    damaged = import_module("attention.recorded.file").RecordingError
    return import_module("attention.ui.markdown").escape(str(error)) if isinstance(error, damaged) else ""
