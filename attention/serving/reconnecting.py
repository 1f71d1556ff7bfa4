"""Handles browsers that reconnect to a server without their session: another replica, or after a restart.

Such a browser still shows its page, and its next request is a rerun of a part of the page. A new session has no
parts: Streamlit would ignore this rerun and all later ones. So the page is first opened from its link, as for a new
visitor, and the rerun follows.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from attention.serving.asgi import App, Message, Receive, Scope, Send
from attention.serving.messages import asked_for, parse_frame
from attention.streamlit_internals import BackMsg, ForwardMsg, find_session

OPEN_WITHIN = 60.0  # seconds after which a rerun no longer waits for the page to open


class ReopenPages:
    """Opens the page from its link before the first rerun of a browser that reconnects."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket" or needs_no_reopening(scope):
            await self.app(scope, receive, send)
        else:
            browser = Reconnection(receive, send)
            await self.app(scope, browser.receive, browser.send)


class Reconnection:
    """The messages of one browser that reconnects."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self.receives, self.sends = receive, send
        self.begun, self.change, self.page_is_open = False, None, asyncio.Event()

    async def receive(self) -> Message:
        """The next message; before the first rerun of a part, one that opens the page."""
        if self.change is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.page_is_open.wait(), OPEN_WITHIN)
            message, self.change = self.change, None
            return message
        message = await self.receives()
        asked = None if self.begun else rerun_request(message.get("bytes"))
        if asked is None:
            return message
        self.begun = True
        if not asked.rerun_script.fragment_id:
            return message
        self.change = message
        return {**message, "bytes": opening_request(asked)}

    async def send(self, message: Message) -> None:
        """Sends a message, and notes when the page has been opened."""
        if self.change is not None and is_script_finished(message.get("bytes")):
            self.page_is_open.set()
        await self.sends(message)


def needs_no_reopening(scope: Scope) -> bool:
    """Whether a connection asks for no session, or for one that this server has."""
    session = asked_for(scope)
    return not session or find_session(session) is not None


def rerun_request(frame: bytes | None) -> BackMsg | None:
    """The message, if it requests a run."""
    asked = parse_frame(frame)  # Streamlit reports frames that can't be parsed
    return asked if asked and asked.WhichOneof("type") == "rerun_script" else None


def opening_request(asked: BackMsg) -> bytes:
    """Converts a request to one that opens the page from its link alone."""
    found = BackMsg()
    found.CopyFrom(asked)
    found.rerun_script.fragment_id = ""
    found.rerun_script.is_auto_rerun = False
    found.rerun_script.widget_states.Clear()
    found.rerun_script.widget_states.SetInParent()
    return found.SerializeToString()


def is_script_finished(frame: bytes | None) -> bool:
    """Whether a message to a browser says that a run has finished."""
    sent = ForwardMsg.FromString(frame or b"")
    return sent.WhichOneof("type") == "script_finished" and sent.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
