"""Ends sessions of visitors who have left: Streamlit keeps them for two minutes, and then until another leaves.

Up to 128 of them would stay for a night, each with three open files and all its results. A link has every setting, so
a visitor who returns after the session was forgotten has lost only the uploaded files.
"""

from __future__ import annotations

import asyncio
import math
from typing import Any

from streamlit import runtime

EVERY = 15.0  # seconds between two calls of `forget`
FEW = 32  # largest number of sessions of visitors who have left on a host with little memory
_most = math.inf  # the limit of this host


def only_few() -> None:
    """Limits the number of remembered sessions to FEW from now on."""
    global _most
    _most = FEW


async def forget_sessions() -> None:
    """Calls `forget` periodically in the event loop of the sessions, until it is cancelled."""
    while True:
        await asyncio.sleep(EVERY)
        forget()


def forget() -> None:
    """Ends sessions that have expired, and the oldest ones if there are too many.

    Streamlit has no public function for this; if another version differs, nothing is done.
    """
    storage = getattr(runtime.get_instance()._session_mgr, "_session_storage", None)
    cache: Any = getattr(storage, "_cache", None)
    if hasattr(cache, "expire"):
        for _, info in cache.expire() or ():
            _end_session(info)
        while len(cache) > _most:
            _end_session(cache.popitem()[1])


def _end_session(info: Any) -> None:
    """Ends a session and clears its state: an idle server would hold on to the last one.

    This also removes its files and the downloads that its buttons would create, which stay registered until the
    session ends. A session whose script still runs two minutes after its visitor has left keeps all of it.
    """
    session = getattr(info, "session", None)
    if session is not None and getattr(session, "_scriptrunner", session) is None:
        session.shutdown()
        session.session_state.clear()
        widgets = getattr(session.session_state, "_new_widget_state", None)
        getattr(widgets, "widget_metadata", {}).clear()  # callbacks of buttons, with their arguments
