"""A browser that has gone: what its visitor had going in the background ends some seconds later, not minutes.

Pages say by looking that somebody is there, and a hidden tab looks once a minute. A websocket that has closed says it sooner;
one that a network broke is there again within the grace.
"""

from __future__ import annotations

import asyncio
from importlib import import_module

from streamlit import runtime

GRACE = 10.0  # seconds in which a browser may come back


def away(session: str, grace: float = GRACE) -> None:
    """The websocket of a session has closed: unless another one comes, nobody waits for what its visitor asked for."""
    asyncio.get_running_loop().call_later(grace, _look, session)


def _look(session: str) -> None:
    try:
        manager = runtime.get_instance()._session_mgr
        found = manager.get_session_info(session)
        if found is None or manager.get_active_session_info(session) is not None:
            return
        state = found.session.session_state[import_module("attention.ui.session.visit_state").KEY]
    except (AttributeError, KeyError, RuntimeError):  # it has shown no page, or this Streamlit can't be asked
        return
    line = import_module("attention.ui.jobs.job_queue").JOBS
    asyncio.get_running_loop().run_in_executor(None, line.leave, state.visitor)
