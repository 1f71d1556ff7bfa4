"""Filters websocket messages: message types and widget values that this app never requests are dropped.

Streamlit (1.67) accepts any widget value. One of the wrong kind (text for a slider, NaN, truncated JSON) fails in
every later run as well, so that its session never recovers. Such a value is dropped here, and its widget keeps its
previous value. Some messages are for developers of an app: one clears the cache of all visitors, one lists the files
of the host's repository.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from google.protobuf.message import DecodeError

from attention.serving.asgi import App, Message, Receive, Scope, Send, header
from attention.streamlit_internals import (
    FILES,
    BackMsg,
    ForwardMsg,
    WidgetState,
    check_file_names,
    open_page,
    widget_lookup,
    widget_value,
)

ALLOWED_TYPES = (  # sent by Streamlit's page outside of development
    "rerun_script",
    "stop_script",
    "file_urls_request",
    "app_heartbeat",
    "backend_operation_request",
)
UNREADABLE = 1003  # close code for data that can't be accepted (RFC 6455, section 7.4.1)
SESSION_WITHIN = 8  # number of first messages to a browser, one of which names its session


class Messages:
    """Passes the messages that a page may send, and the widget values that their widgets can have.

    `away` is called with the session whose websocket has closed.
    """

    def __init__(self, app: App, away: Callable[[str], object]) -> None:
        self.app, self.away = app, away

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        socket = Socket(receive, send, asked_for(scope))
        try:
            await self.app(scope, socket.receive, socket.send)
        finally:
            self.away(socket.session)


class Socket:
    """One websocket; its session is known as soon as it is sent to the browser."""

    def __init__(self, receive: Receive, send: Send, session: str) -> None:
        self.receives, self.sends, self.session = receive, send, session
        self.looks_left, self.closed = SESSION_WITHIN, False

    async def receive(self) -> Message:
        """The next allowed message. Text is skipped, as no page sends it; unreadable data closes the connection."""
        while True:
            message = await self.receives()
            if message.get("text") is not None:
                continue
            parsed = parse_frame(message.get("bytes"))
            if parsed is None and message.get("bytes"):
                await self.sends({"type": "websocket.close", "code": UNREADABLE})
                self.closed = True
                return {"type": "websocket.disconnect", "code": UNREADABLE}
            if parsed is None:
                return message
            if parsed.WhichOneof("type") in ALLOWED_TYPES and not is_stale(parsed, self.session):
                kept = clean_message(parsed, self.session)
                return message if kept is parsed else {**message, "bytes": kept.SerializeToString()}

    async def send(self, message: Message) -> None:
        """Sends a message and notes its session; sends nothing after the connection was closed."""
        if self.closed:
            return
        if self.looks_left and message.get("bytes"):
            self.looks_left -= 1
            sent = ForwardMsg.FromString(message["bytes"])
            if sent.WhichOneof("type") == "new_session":
                self.session, self.looks_left = sent.new_session.initialize.session_id or self.session, 0
        await self.sends(message)


def is_stale(message: BackMsg, session: str) -> bool:
    """Whether a message asks for a part of a page that the session has left, which a browser whose page is empty can't draw.

    A second key press on a slider whose first one has opened another page is such a message.
    """
    asked = message.rerun_script
    if not asked.fragment_id or not asked.page_script_hash:
        return False
    return (open_page(session) or asked.page_script_hash) != asked.page_script_hash


def asked_for(scope: Scope) -> str:
    """The session that a browser wants to resume; empty if it has none."""
    protocols = [part.strip() for part in (header(scope, b"sec-websocket-protocol") or "").split(",")]
    return protocols[2] if len(protocols) > 2 else ""


def parse_frame(frame: bytes | None) -> BackMsg | None:
    """Parses a message of a browser; None if it can't be parsed."""
    found = BackMsg()
    try:
        found.ParseFromString(frame or b"")
    except DecodeError:
        return None
    return found if frame else None


def clean_message(message: BackMsg, session: str) -> BackMsg:
    """A message without invalid widget values or values of unknown widgets; the message itself if all are valid."""
    states = message.rerun_script.widget_states.widgets
    if message.WhichOneof("type") != "rerun_script" or not states:
        return message
    try:
        there = widget_lookup(session)
        good = [state for state in states if is_valid(state, there(state.id), session)]
    except AttributeError:  # this version of Streamlit differs
        return message
    if len(good) == len(states):
        return message
    found = BackMsg()
    found.CopyFrom(message)
    del found.rerun_script.widget_states.widgets[:]
    found.rerun_script.widget_states.widgets.extend(good)
    return found


def is_valid(state: WidgetState, widget: Any, session: str = "") -> bool:
    """Whether a widget can have this value, which is tried as the next run would; a cleared widget has no value."""
    kind = state.WhichOneof("value")
    if widget is None or (kind and widget.value_type and alike(kind) != alike(widget.value_type)):
        return False
    with suppress(Exception):
        if kind == FILES:
            check_file_names(state, widget.deserializer.__self__.allowed_types or [], session)
        else:
            widget.deserializer(widget_value(state))
        return True
    return False


def alike(kind: str) -> str:
    """The kind of a value; a browser may send integers for a field that Streamlit declares as a float."""
    return "number" if kind in ("int_value", "double_value") else kind
