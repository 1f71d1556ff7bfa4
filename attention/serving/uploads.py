"""Decides who may send files, and how much of them.

Streamlit keeps any file sent to the address of a session, up to `server.maxUploadSize` per file, until another
session has ended. Here the session's page must have a file uploader, the total size per session is limited, and the
files of all sessions count as memory of this server. An upload is counted as its bytes arrive, not by the length that
its sender states, and ends with its session or when its sender stalls.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import Counter
from collections.abc import Callable
from time import monotonic

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from attention.serving.asgi import App, Message, Receive, Scope, Send, answer, header, path
from attention.serving.headers import encode_headers
from attention.serving.settings import Settings
from attention.streamlit_internals import find_active_session, has_uploader, uploaded_bytes, uploading_sessions

PLACE = re.compile(r"/_stcore/upload_file/([^/]+)/[^/]+")
MB = 2**20
FRAME = 2**16  # bytes of a request in addition to its file
AHEAD = 2**18  # bytes that are claimed in advance, so that not every packet makes a claim
LONGEST_HEADERS = 4096  # bytes before a file, its name among them; the parser behind takes a little more per line
STALL = 20.0  # seconds in which at least FRAME more bytes of a file have to arrive
LOOK = 2.0  # seconds after which a waiting upload checks whether its session is still open
CLOSE = {"connection": "close"}  # for senders that have stopped; others read an answer only after sending all
NO_PLACE = "This page does not accept files."
TOO_MUCH = "This file exceeds the server's limit per visitor."
NO_ROOM = "The server has no memory for this file right now. Try again in a few minutes."
NO_DISK = "The server could not store this file: its disk is full or not writable."
LONG_NAME = (
    f"The name of this file is too long: the server reads {LONGEST_HEADERS:,} bytes before a file starts. Rename it."
)
STALLED = f"The upload stalled: less than {FRAME // 1024} kB arrived in {STALL:.0f} seconds. Send the file again."
CLOSED = "The page that sent this file has been closed."
log = logging.getLogger(__name__)


class Sent:
    """All uploaded and arriving files, as a claim on memory; `coming`: bytes of the arriving ones, by session.

    `has_room` returns whether all claims fit into memory. The budget sets it when it counts this claim.
    """

    def __init__(self) -> None:
        self.coming = Counter[str]()
        self.has_room: Callable[[], bool] = lambda: True

    def bounded_by(self, has_room: Callable[[], bool]) -> Sent:
        """The same claim, which calls `has_room` from now on."""
        self.has_room = has_room
        return self

    @property
    def used_bytes(self) -> int:
        """Bytes of all files that have arrived so far."""
        try:
            there = uploading_sessions()
        except (AttributeError, RuntimeError):  # no server, or this version of Streamlit differs
            there = []
        return sum(map(uploaded_bytes, there)) + sum(list(self.coming.values()))

    @property
    def unevictable_bytes(self) -> int:
        """All bytes, as none can be evicted."""
        return self.used_bytes

    def give_back(self, size: int) -> None:
        """Does nothing: files are removed with their sessions."""

    def expire(self, before: float) -> None:
        """Does nothing, for the same reason."""


SENT = Sent()  # attention/ui/budget.py counts it


class Uploads:
    """Refuses a file before it is read if possible, else as soon as it exceeds the limits."""

    def __init__(
        self,
        app: App,
        settings: Settings,
        sent: Sent = SENT,
        clock: Callable[[], float] = monotonic,
        look: float = LOOK,
    ) -> None:
        self.app, self.most, self.sent = app, int(settings.uploads * MB), sent
        self.clock, self.look = clock, look

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        place = PLACE.fullmatch(path(scope)) if scope["type"] == "http" and scope["method"] in ("PUT", "POST") else None
        if place is None:
            await self.app(scope, receive, send)
        elif not self.most or not takes_files(place[1]):
            await answer(scope, send, 403, NO_PLACE)
        elif _length(scope) > self.bytes_left(place[1]) + FRAME:
            await answer(scope, send, 413, TOO_MUCH)
        else:
            await self.take(Arriving(self, place[1], scope, receive), scope, send)

    def bytes_left(self, session: str) -> int:
        """Bytes that a session may still send."""
        return self.most - uploaded_bytes(session) - self.sent.coming[session]

    async def take(self, file: Arriving, scope: Scope, send: Send) -> None:
        """Passes a file on while it arrives, and answers with a sentence if it is refused."""
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, file.receive, sending)
        except ClientDisconnect:
            log.info("A sender went away before the end of a file.")
        except HTTPException as refused:
            if begun:
                raise
            await answer(scope, send, refused.status_code, refused.detail, encode_headers(dict(refused.headers or {})))
        except OSError:
            if begun:
                raise
            log.warning("A file that was sent could not be stored.", exc_info=True)
            await answer(scope, send, 507, NO_DISK)
        finally:
            file.release()


class Arriving:
    """A file that is being uploaded. Its stated length may be wrong, so memory is claimed as bytes arrive."""

    def __init__(self, uploads: Uploads, session: str, scope: Scope, receive: Receive) -> None:
        self.uploads, self.session, self.length, self.receives = uploads, session, _length(scope), receive
        self.form = (header(scope, b"content-type") or "").startswith("multipart/form-data")
        self.here = self.claimed = 0
        self.head, self.whole = b"", False
        self._progress()

    async def receive(self) -> Message:
        """The next part, once there is room for it; raises HTTPException if the file is refused."""
        if self.whole:
            return await self.receives()
        message = await self._next()
        self.whole = not message.get("more_body", False)
        self._count(message.get("body", b""))
        if self.here > self.claimed:
            await self._claim(max(self.here, min(self.here + AHEAD, self.length)) - self.claimed)
        return message

    async def _next(self) -> Message:
        """Waits for the next part; raises HTTPException if the session has closed or the upload stalls."""
        while True:
            if not is_open(self.session):
                raise HTTPException(403, CLOSED, CLOSE)
            if self.uploads.clock() >= self.until:
                raise HTTPException(408, STALLED, CLOSE)
            try:
                return await asyncio.wait_for(self.receives(), self.uploads.look)
            except TimeoutError:
                continue

    def _count(self, body: bytes) -> None:
        self.here += len(body)
        if self.here >= self.due:
            self._progress()
        if self.form and len(self.head) < LONGEST_HEADERS:
            self.head = (self.head + body)[:LONGEST_HEADERS]
            if len(self.head) == LONGEST_HEADERS and b"\r\n\r\n" not in self.head:
                raise HTTPException(400, LONG_NAME)

    def _progress(self) -> None:
        """Restarts the time limit: the sender has STALL seconds for the next FRAME bytes."""
        self.due, self.until = self.here + FRAME, self.uploads.clock() + STALL

    async def _claim(self, size: int) -> None:
        self.claimed += size
        self.uploads.sent.coming[self.session] += size
        if self.uploads.bytes_left(self.session) + FRAME < 0:
            raise HTTPException(413, TOO_MUCH)
        if not await asyncio.to_thread(self.uploads.sent.has_room):
            raise HTTPException(413, NO_ROOM)

    def release(self) -> None:
        """Releases the claim of a file that was stored or has failed."""
        coming = self.uploads.sent.coming
        coming[self.session] -= self.claimed
        if not coming[self.session]:
            del coming[self.session]


def is_open(session: str) -> bool:
    """Whether a browser is connected to the session; True if this version of Streamlit differs."""
    try:
        return find_active_session(session) is not None
    except AttributeError:
        return True


def takes_files(session: str) -> bool:
    """Whether the page of a session has a file uploader; False if this version of Streamlit differs."""
    try:
        return has_uploader(session)
    except AttributeError:
        return False


def _length(scope: Scope) -> int:
    said = header(scope, b"content-length") or ""
    return int(said) if said.isascii() and said.isdigit() else 0
