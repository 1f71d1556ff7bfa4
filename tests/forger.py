"""Somebody who speaks for a browser and says whatever they like: forged values of widgets, stale ids, messages of all kinds.

Keeps what is on the page as a browser does, so that one can ask what is shown now.
"""

from __future__ import annotations

import asyncio
import json
import re
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from google.protobuf.message import Message
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect

from tests.visitor import OVER, PATIENCE

WRITTEN = re.compile(r"evil\.example|(?<!\\)<(img|script|b|iframe)\b", re.IGNORECASE)  # with no sign before it
EVENTS = "__events"  # of a component: what Streamlit calls them
TEXTS = ("body", "label", "help", "title", "text", "caption", "placeholder")  # fields that a browser takes for markdown
NOT_TEXT = ("code", "json", "arrow_data_frame", "plotly_chart", "bidi_component", "html")


@dataclass
class Shown:
    """An element on the page, and the part of the page that it belongs to."""

    element: Any
    part: str
    run: int


@dataclass
class Forger:
    """A connection, and what a browser would know: elements by their places, the link, the page, all that was ever sent."""

    socket: ClientConnection
    query: str = ""
    page: str = ""
    session: str = ""
    run: int = 0
    elements: dict[tuple[int, ...], Shown] = field(default_factory=dict)
    heard: bytearray = field(default_factory=bytearray)
    kinds: list[str | None] = field(default_factory=list)  # of the messages that were heard

    async def ask(self, name: str = "", part: str = "", **states: Any) -> None:
        """Asks for a run: `name` of the page if it is another one, and what widgets say, by their keys or ids."""
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string, asked.page_name, asked.fragment_id = self.query, name, part
        asked.page_script_hash = "" if name else self.page
        asked.widget_states.widgets.extend(states.values())
        asked.widget_states.SetInParent()
        await self.socket.send(message.SerializeToString())

    async def says(self, key: str, **value: Any) -> None:
        """What a widget says: `value` names the field of the protocol; the part of the page that it stands in runs."""
        await self.ask(part=self.part(key), said=self.state(key, **value))

    async def wait_for_end(self, patience: float = PATIENCE) -> None:
        """Until the run is over."""
        while True:
            raw = await asyncio.wait_for(self.socket.recv(), patience)
            assert isinstance(raw, bytes)
            self.heard += raw
            message = ForwardMsg.FromString(raw)
            self.kinds.append(message.WhichOneof("type"))
            if self._look(message):
                return

    async def moves(self, key: str, patience: float = PATIENCE, **value: Any) -> None:
        """A widget says something, and what follows is over."""
        await self.says(key, **value)
        await self.wait_for_end(patience)

    def state(self, key: str, **value: Any) -> WidgetState:
        """A widget's value, by its key or its id."""
        found = WidgetState(id=self.id(key))
        for name, held in value.items():
            place = getattr(found, name)
            if isinstance(place, Message):
                place.SetInParent()
                place.data.extend(held)  # pyright: ignore[reportAttributeAccessIssue]  a list of numbers or texts
            else:
                setattr(found, name, held)
        return found

    def id(self, key: str) -> str:
        """Of the widget of a key, or of the events of a component of ours; the key itself where there is none."""
        name, events = key.removesuffix(EVENTS), EVENTS if key.endswith(EVENTS) else ""
        found = (proto.id for proto in self.protos() if user_key(getattr(proto, "id", "")) == name)
        return next((f"$$STREAMLIT_INTERNAL_KEY_{id}{events}" if events else id for id in found), key)

    def full(self, key: str) -> str:
        """A key that begins so, where there is none of just these letters."""
        keys = [user_key(getattr(proto, "id", "")) for proto in self.protos()]
        return next((known for known in keys if key not in keys and known.startswith(f"{key} ")), key)

    def part(self, key: str) -> str:
        """The part of the page that a widget stands in."""
        name = key.removesuffix(EVENTS)
        found = (each.part for each in self.elements.values() if user_key(getattr(proto(each), "id", "")) == name)
        return next(found, "")

    def protos(self) -> Iterator[Any]:
        """All that is on the page."""
        return (proto(each) for each in self.elements.values())

    @property
    def alerts(self) -> list[str]:
        """What boxes say, as it is read."""
        return [each.body.replace("\\", "") for each in self._of("alert")]

    @property
    def errors(self) -> list[str]:
        """Tracebacks, and whatever else Streamlit says of what a page has raised."""
        return [f"{each.type}: {each.message}" for each in self._of("exception")]

    @property
    def texts(self) -> list[str]:
        """All that a browser takes for markdown, as it is sent."""
        return [text for each in self.elements.values() for text in markdown_marks(each.element)]

    @property
    def foreign(self) -> list[str]:
        """Texts by which a browser would ask another host, or show markup of somebody else."""
        return [text for text in self.texts if WRITTEN.search(text)]

    @property
    def painted_link(self) -> str:
        """The link that a picture of ours was drawn for."""
        headers = (header(each.bytes) for each in self._of("bidi_component"))
        return next((found["painted"] for found in headers if "painted" in found), "")

    def _of(self, kind: str) -> list[Any]:
        return [proto(each) for each in self.elements.values() if each.element.WhichOneof("type") == kind]

    def _look(self, message: ForwardMsg) -> bool:
        """Takes a message in; True where a run has ended with it."""
        kind = message.WhichOneof("type")
        if kind == "new_session":
            told = message.new_session
            self.run += 1
            self.page, self.session = told.page_script_hash, told.initialize.session_id or self.session
        elif kind == "navigation":
            self.page = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            place = tuple(message.metadata.delta_path)
            self.elements[place] = Shown(message.delta.new_element, message.delta.fragment_id, self.run)
        elif kind == "script_finished" and message.script_finished in OVER:
            parts = message.metadata.run.fragment_ids
            stale = (lambda part: part in parts) if parts else (lambda part: True)
            self.elements = {
                at: each for at, each in self.elements.items() if each.run == self.run or not stale(each.part)
            }
            return True
        return False


@asynccontextmanager
async def open_link(url: str, query: str = "", page: str = "", ended: bool = True) -> AsyncIterator[Forger]:
    """Opens a link, by default of Heads, stays until the block ends; the page "/" is Start."""
    host = urlsplit(url).netloc
    async with connect(
        f"ws://{host}/_stcore/stream",
        origin=f"http://{host}",  # pyright: ignore[reportArgumentType]  a text of its own kind
        subprotocols=["streamlit", "x"],  # pyright: ignore[reportArgumentType]
        max_size=None,
        open_timeout=PATIENCE,
        ping_interval=None,
    ) as socket:
        found = Forger(socket, query)
        if ended:
            await found.ask("" if page == "/" else page or "heads")
            await found.wait_for_end()
        yield found


def proto(shown: Shown) -> Any:
    """What an element is, of whichever kind."""
    return getattr(shown.element, shown.element.WhichOneof("type") or "empty")


def user_key(id: str) -> str:
    """The key that a page gave to the widget of an id."""
    return id.split("-", 2)[2] if id.startswith("$$ID-") and id.count("-") >= 2 else ""


def header(message: bytes) -> dict[str, Any]:
    """The header of what a component of ours is sent."""
    return json.loads(message[4 : 4 + struct.unpack("<I", message[:4])[0]]) if len(message) > 4 else {}


def markdown_marks(element: Any) -> list[str]:
    """What a browser takes for markdown in an element."""
    kind = element.WhichOneof("type")
    if kind is None or kind in NOT_TEXT:
        return []
    found = getattr(element, kind)
    return [text for name in TEXTS if isinstance(text := getattr(found, name, ""), str) and text]
