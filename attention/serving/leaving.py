"""Ends the background work of a visitor whose browser has gone within seconds, not minutes.

Pages report periodically that they are open, and a hidden tab does so once a minute. A closed websocket says it
sooner; one that a network interrupted reconnects within GRACE seconds.
"""

from __future__ import annotations

import asyncio
from importlib import import_module

from attention.streamlit_internals import find_active_session, find_session, session_state

GRACE = 10.0  # seconds in which a browser may reconnect


def away(session: str, grace: float = GRACE) -> None:
    """Handles a closed websocket: unless its session reconnects within `grace` seconds, its visitor's work ends."""
    asyncio.get_running_loop().call_later(grace, _look, session)


def _look(session: str) -> None:
    try:
        found = find_session(session)
        if found is None or find_active_session(session) is not None:
            return
        state = session_state(found)[import_module("attention.ui.session.visit_state").KEY]
    except (
        AttributeError,
        KeyError,
        RuntimeError,
    ):  # the session has shown no page, or this version of Streamlit differs
        return
    line = import_module("attention.ui.jobs.job_queue").JOBS
    asyncio.get_running_loop().run_in_executor(None, line.leave, state.visitor)
