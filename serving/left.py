"""Visitors who have left: Streamlit keeps their sessions for two minutes, in case they come back, and then until another leaves.

Up to 128 of them would stay for a night, each with three open files and all that it remembers.
"""

from __future__ import annotations

import asyncio

from streamlit import runtime

EVERY = 15.0  # seconds between two looks


async def forgotten() -> None:
    """Looks now and then, in the loop whose the sessions are, for as long as it is not cancelled."""
    while True:
        await asyncio.sleep(EVERY)
        forget()


def forget() -> None:
    """Lets go of sessions whose time is up. Streamlit has no public word for it, so another version may do as it does."""
    storage = getattr(runtime.get_instance()._session_mgr, "_session_storage", None)
    expire = getattr(getattr(storage, "_cache", None), "expire", None)
    if expire is not None:
        expire()
