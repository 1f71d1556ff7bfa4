"""Ends sessions of visitors who have left: Streamlit keeps them for two minutes, and then until another leaves.

Up to 128 of them would stay for a night, each with three open files and all its results. A link has every setting, so
a visitor who returns after the session was forgotten has lost only the uploaded files.
"""

from __future__ import annotations

import asyncio
import math

from attention.streamlit_internals import end_session, stored_sessions

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
    """Ends sessions that have expired, and the oldest ones if there are too many."""
    cache = stored_sessions()
    if cache is not None:
        for _, found in cache.expire() or ():
            end_session(found)
        while len(cache) > _most:
            end_session(cache.popitem()[1])
