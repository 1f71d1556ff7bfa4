"""Visitors who have left: Streamlit keeps their sessions for two minutes, in case they come back, and then until another leaves.

Up to 128 of them would stay for a night, each with three open files and all that it remembers. A link has every setting, so who
comes back to a host that has forgotten them has lost no more than the files that they brought.
"""

from __future__ import annotations

import asyncio
import math
from typing import Any

from streamlit import runtime

EVERY = 15.0  # seconds between two looks
FEW = 32  # sessions of those who have left that a host with little memory remembers at the most
_most = math.inf  # those of this host


def only_few() -> None:
    """From now on no more than a few are remembered."""
    global _most
    _most = FEW


async def forget_sessions() -> None:
    """Looks now and then, in the loop whose the sessions are, for as long as it is not cancelled."""
    while True:
        await asyncio.sleep(EVERY)
        forget()


def forget() -> None:
    """Lets go of sessions whose time is up, and of the oldest where there are too many.

    Streamlit has no public word for it, so another version may do as it does.
    """
    storage = getattr(runtime.get_instance()._session_mgr, "_session_storage", None)
    cache: Any = getattr(storage, "_cache", None)
    if hasattr(cache, "expire"):
        for _, info in cache.expire() or ():
            _end_session(info)
        while len(cache) > _most:
            _end_session(cache.popitem()[1])


def _end_session(info: Any) -> None:
    """Ends a session and empties what it remembers: the loop of a server that nobody visits holds on to the last one.

    Ended are its files, too, and what its buttons would have made, which stay where they are registered until a session is
    ended. One whose script still runs, two minutes after its visitor has left, keeps all of it.
    """
    session = getattr(info, "session", None)
    if session is not None and getattr(session, "_scriptrunner", session) is None:
        session.shutdown()
        session.session_state.clear()
        widgets = getattr(session.session_state, "_new_widget_state", None)
        getattr(widgets, "widget_metadata", {}).clear()  # what their buttons call, with what they were given
