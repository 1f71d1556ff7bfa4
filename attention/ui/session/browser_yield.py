"""A pause in which a browser draws what it was sent: it draws nothing while messages follow each other.

So a page sends the picture that one waits for first, pauses, and sends the rest; unless something was changed meanwhile:
then the run ends here, for the next picture, and what is on the screen stays until a run comes to its end. As drawing
the rest may take a browser longer than the picture, and it takes no change meanwhile, the rest waits longer while
changes follow each other, and when a visitor arrives.
"""

from __future__ import annotations

from time import monotonic, sleep

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType

from attention.ui.session import page

GAP, CALM = 0.06, 0.25  # seconds until the rest, and while changes follow each other
ARRIVAL = 0.5  # the same at a session's first picture, as its browser has yet to load what the rest is drawn with
LOOK = 0.01  # seconds between two looks whether something was changed


def yield_to_browser() -> None:
    """To call once the picture that one waits for has been sent, before the rest of the page."""
    start = monotonic()
    sleep(max(0, start + (ARRIVAL if page.arrives() else GAP) - monotonic()))
    page.write_link()
    until = start + (CALM if page.is_hurried() else 0)
    while monotonic() < until and not _change_is_waiting():
        sleep(LOOK)
    if _change_is_waiting():
        st.rerun(scope="fragment")


def _change_is_waiting() -> bool:
    """Does a change by the visitor wait for the end of this run? Not asked in a whole page's run, which Streamlit ends
    itself, nor of a timer, which would begin the same picture again and again. Streamlit has no public word for it.
    """
    run = get_script_run_ctx()
    if not run or not run.fragment_ids_this_run or not run.script_requests:
        return False
    requests = run.script_requests
    return requests._state is ScriptRequestType.RERUN and not requests._rerun_data.is_auto_rerun
