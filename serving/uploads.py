"""Who may send files, and how much of them.

Streamlit keeps whatever anybody sends to the address of a session, up to `server.maxUploadSize` a file, until another session
has ended. Here a session's page must have a place for files, all that it has sent together is bounded, and what all sessions
have sent counts as memory of this server.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import Counter
from importlib import import_module
from typing import Any

from starlette.exceptions import HTTPException
from streamlit import runtime

from serving.asgi import App, Message, Receive, Scope, Send, answer, header, path
from serving.settings import Settings

PLACE = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+")
MB = 2**20
FRAME = 2**16  # bytes of a request beside its file
NO_PLACE = "This page takes no files."
TOO_MUCH = "This is more than this server takes from one visitor."
NO_ROOM = "Others have so much open at the moment that this server has no memory for it. Try again in some minutes."
NO_DISK = "This server could not store it: its disk is full or can't be written."
log = logging.getLogger(__name__)


class Sent:
    """All files that sessions have sent and that are on their way, as a claim on memory; `coming`: the latter, by session."""

    def __init__(self) -> None:
        self.coming = Counter[str]()

    @property
    def held(self) -> int:
        """Bytes of all of them; those on their way count as much as they are said to be."""
        try:
            there = list(_manager().uploaded_file_mgr.file_storage)
        except (AttributeError, RuntimeError):  # no server, or one of a Streamlit that can't be asked
            there = []
        return sum(map(kept, there)) + sum(list(self.coming.values()))

    @property
    def firm(self) -> int:
        """All of it."""
        return self.held

    def give_back(self, size: int) -> None:
        """They go with the sessions that have sent them."""

    def expire(self, before: float) -> None:
        """The same."""


SENT = Sent()  # attention/ui/budget.py has it counted


class Uploads:
    """Refuses a file before it is read where that can be known, else as soon as it is too much."""

    def __init__(self, app: App, settings: Settings, sent: Sent = SENT) -> None:
        self.app, self.most = app, int(settings.uploads * MB)
        self.coming = sent.coming

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        place = PLACE.fullmatch(path(scope)) if scope["type"] == "http" and scope["method"] in ("PUT", "POST") else None
        if place is None:
            await self.app(scope, receive, send)
        elif not self.most or not takes_files(place[1]):
            await answer(scope, send, 403, NO_PLACE)
        elif _length(scope) > self.left(place[1]) + FRAME:
            await answer(scope, send, 413, TOO_MUCH)
        else:
            await self.take(place[1], scope, receive, send)

    def left(self, session: str) -> int:
        """Bytes that a session may still send."""
        return self.most - kept(session) - self.coming[session]

    async def take(self, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Hands it on, as long as it is not too much: its length may be missing or a lie."""
        here = claimed = 0
        begun = False

        async def claim(size: int) -> None:
            nonlocal claimed
            claimed += size
            self.coming[session] += size
            if self.left(session) + FRAME < 0:
                raise HTTPException(413, TOO_MUCH)
            if not await asyncio.to_thread(_room):
                raise HTTPException(413, NO_ROOM)

        async def receiving() -> Message:
            nonlocal here
            message = await receive()
            here += len(message.get("body", b""))
            if here > claimed:
                await claim(here - claimed)
            return message

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await claim(_length(scope))
            await self.app(scope, receiving, sending)
        except HTTPException as refused:
            if begun:
                raise
            await answer(scope, send, refused.status_code, refused.detail)
        except OSError:
            if begun:
                raise
            log.warning("A file that was sent could not be stored.", exc_info=True)
            await answer(scope, send, 507, NO_DISK)
        finally:
            self.coming[session] -= claimed
            if not self.coming[session]:
                del self.coming[session]


def _room() -> bool:
    """Is there memory for all that is claimed? Whoever has a page with a place for files has had everything imported."""
    return import_module("attention.ui.budget").BUDGET.room(0)


def takes_files(session: str) -> bool:
    """Does the page of a session have a place for files? Not where this Streamlit can't be asked."""
    try:
        found = _manager()._session_mgr.get_active_session_info(session)
        state = found.session.session_state
        known = [one.id for one in state._new_widget_state.widget_metadata.values() if _of_files(one)]
        return any(name in state._new_widget_state.states or name in state._old_state for name in known)
    except AttributeError:
        return False


def kept(session: str) -> int:
    """Bytes of the files that a session has sent."""
    files: dict[str, Any] = _manager().uploaded_file_mgr.file_storage.get(session, {})
    return sum(len(file.data) for file in list(files.values()))


def _of_files(widget: Any) -> bool:
    return widget.value_type == "file_uploader_state_value"


def _manager() -> Any:
    return runtime.get_instance()


def _length(scope: Scope) -> int:
    said = header(scope, b"content-length") or ""
    return int(said) if said.isascii() and said.isdigit() else 0
