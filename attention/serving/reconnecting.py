"""A browser that comes back to a server which does not know its session: another replica, or the same one after a restart.

It shows what it showed, and what it asks for next is a change of a part of the page. A new session has no parts: Streamlit would
ignore this change and all later ones. So such a browser first arrives from its link, as everybody does, and its change follows.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from streamlit import runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from attention.serving.asgi import App, Message, Receive, Scope, Send
from attention.serving.messages import asked_for, parse_frame

PATIENCE = 60.0  # seconds after which a change no longer waits for the arrival


class Returning:
    """Lets the first change of a browser that returns be preceded by its arrival."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket" or has_live_session(scope):
            await self.app(scope, receive, send)
        else:
            back = Return(receive, send)
            await self.app(scope, back.receive, back.send)


class Return:
    """What is received and sent while somebody is on their way back."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self.receives, self.sends = receive, send
        self.begun, self.change, self.there = False, None, asyncio.Event()

    async def receive(self) -> Message:
        """The next message; in place of a first change its arrival, and then the change."""
        if self.change is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.there.wait(), PATIENCE)
            message, self.change = self.change, None
            return message
        message = await self.receives()
        asked = None if self.begun else run(message.get("bytes"))
        if asked is None:
            return message
        self.begun = True
        if not asked.rerun_script.fragment_id:
            return message
        self.change = message
        return {**message, "bytes": arrival(asked)}

    async def send(self, message: Message) -> None:
        """Sends, and sees when the arrival is over."""
        if self.change is not None and is_script_finished(message.get("bytes")):
            self.there.set()
        await self.sends(message)


def has_live_session(scope: Scope) -> bool:
    """Has a browser been given no session yet, or one that is here?"""
    session = asked_for(scope)
    return not session or runtime.get_instance()._session_mgr.get_session_info(session) is not None


def run(frame: bytes | None) -> BackMsg | None:
    """The message, if it asks for a run."""
    asked = parse_frame(frame)  # where it is none, Streamlit says so
    return asked if asked and asked.WhichOneof("type") == "rerun_script" else None


def arrival(asked: BackMsg) -> bytes:
    """The same page by its link alone, as if it had just been opened."""
    found = BackMsg()
    found.CopyFrom(asked)
    found.rerun_script.fragment_id = ""
    found.rerun_script.is_auto_rerun = False
    found.rerun_script.widget_states.Clear()
    found.rerun_script.widget_states.SetInParent()
    return found.SerializeToString()


def is_script_finished(frame: bytes | None) -> bool:
    """Does a message to a browser say that a run is over?"""
    told = ForwardMsg.FromString(frame or b"")
    return told.WhichOneof("type") == "script_finished" and told.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
