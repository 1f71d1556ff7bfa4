"""A visitor without a browser: what Streamlit's own page says over its websocket, and what it is told."""

from __future__ import annotations

import asyncio
import json
import re
import struct
from collections import deque
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection
from time import perf_counter
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileUploaderState, FileURLs, UploadedFileInfo
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from tests import widgets
from tests.widgets import FILES, Widget

PATIENCE = 120  # seconds until a run must have ended
OVER = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
PAINTED = re.compile(r'"painted": ?"([^"]*)"')  # in the JSON of a chart


class Took(NamedTuple):
    """Seconds from a request until the data of its picture were there, None where none came, and until the end of its run."""

    picture: float | None
    end: float


@dataclass
class Visit:
    """A visitor's page: the link that its picture was `painted` for, errors and alerts, its widgets by their keys.

    And the latest `texts` that it was sent as Markdown, the name of their session, with the connection that it has; `clocks`:
    seconds between two runs of fragments that ask for that, by their names; `received`: bytes so far; `drawn`: the widgets
    that this run has drawn.
    """

    socket: ClientConnection
    url: str = ""
    query: str = ""
    page: str = ""
    script: str = ""
    painted: str = ""
    session: str = ""
    errors: list[str] = field(default_factory=list)
    alerts: list[str] = field(default_factory=list)
    texts: deque[str] = field(default_factory=lambda: deque(maxlen=100))
    widgets: dict[str, Widget] = field(default_factory=dict)
    clocks: dict[str, float] = field(default_factory=dict)
    received: int = 0
    drawn: set[str] = field(default_factory=set)

    @property
    def shows(self) -> dict[str, str]:
        """What the picture says that it was painted for, by the names of knobs."""
        return dict(parse_qsl(self.painted))

    async def arrive(self) -> Took:
        """Opens the link."""
        return await self._run({})

    async def change(self, key: str, value: Any, **shows: str) -> Took:
        """Sets a widget; its picture is the one that is painted for what it shall show."""
        self.widgets[key] = replace(self.widgets[key], value=value)
        return await self._run(shows, self.widgets[key].fragment)

    async def press(self, key: str) -> Took:
        """Presses a button."""
        return await self._run({}, self.widgets[key].fragment, pressed=key)

    async def upload(self, name: str, data: bytes) -> str:
        """Chooses a file in the first field for files and waits for the end of the run; its id, "" if it was refused."""
        key, number = next(key for key, widget in self.widgets.items() if widget.field == FILES), str(uuid4())
        if await asyncio.to_thread(put, self.url, self.session, number, data, "", name.encode()) != 204:
            return ""
        info = UploadedFileInfo(file_id=number, name=name, size=len(data), file_urls=FileURLs(file_id=number))
        await self.change(key, FileUploaderState(uploaded_file_info=[info]))
        return number

    async def look(self) -> Took:
        """What a page that looks again by itself does, once its time has come; a fragment of those that ask for it."""
        fragment, seconds = next(iter(self.clocks.items()))
        await asyncio.sleep(seconds)
        return await self._run({}, fragment, by_itself=True)

    async def _run(self, shows: dict[str, str], fragment: str = "", pressed: str = "", by_itself: bool = False) -> Took:
        message = self._build_message(fragment, pressed, by_itself)
        start, picture = perf_counter(), None
        await self.socket.send(message.SerializeToString())
        async with asyncio.timeout(PATIENCE):
            while True:
                data = await self.socket.recv()
                self.received += len(data)
                if self._look(found := ForwardMsg.FromString(data)) and picture is None:  # type: ignore[arg-type]  as bytes
                    picture = perf_counter() - start if shows.items() <= self.shows.items() else None
                if found.WhichOneof("type") == "script_finished" and found.script_finished in OVER:
                    return Took(picture, perf_counter() - start)

    def _build_message(self, fragment: str, pressed: str, by_itself: bool) -> BackMsg:
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_name, state.page_script_hash = self.query, self.page, self.script
        state.fragment_id, state.is_auto_rerun = fragment, by_itself
        state.widget_states.CopyFrom(widgets.states(self.widgets, pressed))
        state.context_info.url = f"{self.url}/{self.page}"
        return message

    def _look(self, message: ForwardMsg) -> bool:
        """Takes in what the server says; is it a picture?"""
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.session = message.new_session.initialize.session_id or self.session
            self.script = message.new_session.page_script_hash
            self.drawn = set()
            if not message.metadata.run.fragment_ids:  # the whole page: what asked to look again may be gone
                self.clocks.clear()
        elif kind == "navigation":
            self.script = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "auto_rerun":
            self.clocks[message.auto_rerun.fragment_id] = message.auto_rerun.interval
        elif kind == "stop_auto_rerun":
            for fragment in message.stop_auto_rerun.fragment_ids:
                self.clocks.pop(fragment, None)
        elif kind == "script_finished" and message.script_finished in OVER:
            self._clear(message.metadata.run.fragment_ids)
        elif kind == "delta":
            return self._element(message.delta.new_element, message.delta.fragment_id)
        return False

    def _clear(self, fragments: Collection[str]) -> None:
        """What a run of these fragments, or of the whole page, did not draw again is gone from its part of the page."""
        for key, widget in list(self.widgets.items()):
            if key not in self.drawn and (not fragments or widget.fragment in fragments):
                del self.widgets[key]

    def _element(self, element: Any, fragment: str) -> bool:
        kind = element.WhichOneof("type")
        if kind == "exception":
            self.errors.append(f"{element.exception.type}: {element.exception.message}")
        elif kind == "alert":
            self.alerts.append(element.alert.body)
        elif kind == "markdown":
            self.texts.append(element.markdown.body)
        elif found := widgets.widget_of(element, fragment, self.widgets):
            self.widgets[widgets.key(found.id)] = found
            self.drawn.add(widgets.key(found.id))
        painted = _painted_link(element, kind)
        self.painted = self.painted if painted is None else painted
        return painted is not None


def _painted_link(element: Any, kind: str | None) -> str | None:
    """The link that the picture of an element is painted for, empty for the defaults; None where it is no picture."""
    if kind == "plotly_chart":
        found = PAINTED.search(element.plotly_chart.spec)
        return found[1] if found else None
    body = element.bidi_component.bytes if kind == "bidi_component" else b""
    if len(body) <= 4:
        return None
    header = json.loads(body[4 : 4 + struct.unpack("<I", body[:4])[0]])
    return header.get("painted")


async def visit_page(url: str, query: str, page: str = "heads") -> Visit:
    """Opens a link and waits for the end of its first run."""
    async with enter_page(url, query, page) as found:
        return found


@asynccontextmanager
async def enter_page(url: str, query: str, page: str = "heads", cookie: str = "") -> AsyncIterator[Visit]:
    """The same, and stays until the block ends."""
    async with open_connection(url, query, page, cookie) as found:
        await found.arrive()
        yield found


@asynccontextmanager
async def open_connection(url: str, query: str, page: str = "heads", cookie: str = "") -> AsyncIterator[Visit]:
    """A visitor whose page has not asked for anything yet."""
    host = urlsplit(url).netloc
    async with connect(
        f"ws://{host}/_stcore/stream",
        origin=f"http://{host}",
        subprotocols=["streamlit", "x"],
        max_size=None,
        compression=None,
        open_timeout=PATIENCE,
        ping_interval=None,
        additional_headers={"Cookie": cookie} if cookie else None,
    ) as socket:
        yield Visit(socket, url, query, page)


def send_file(url: str, session: str, number: int, size: int, cookie: str = "") -> int:
    """The status of the answer to a file of so many bytes, sent as the browser of a session does."""
    return put(url, session, str(number), b"x" * size, cookie)


def put(url: str, session: str, id: str, data: bytes, cookie: str = "", name: bytes = b"f") -> int:
    """The same of a file that holds these bytes, by an id that the browser gives it."""
    connection, headers = _uploading(url, cookie)
    frame = b'--x\r\nContent-Disposition: form-data; name=f; filename="%b"\r\n\r\n%b\r\n--x--\r\n' % (name, data)
    connection.request("PUT", f"/_stcore/upload_file/{session}/{id}", frame, headers)
    return connection.getresponse().status


def delete(url: str, session: str, id: str) -> None:
    """Deletes a file that a session has sent, as its browser does when another one takes its place."""
    connection, headers = _uploading(url, "")
    connection.request("DELETE", f"/_stcore/upload_file/{session}/{id}", headers=headers)
    connection.getresponse().read()


def begin_upload(url: str, session: str, size: int) -> HTTPConnection:
    """A file that is announced with its size in bytes, of which five are sent."""
    connection, headers = _uploading(url, "")
    connection.putrequest("PUT", f"/_stcore/upload_file/{session}/begun")
    for name, value in {**headers, "Content-Length": str(size)}.items():
        connection.putheader(name, value)
    connection.endheaders(b"--x\r\n")
    return connection


def _uploading(url: str, cookie: str) -> tuple[HTTPConnection, dict[str, str]]:
    """A connection to a server, and the headers with which a browser sends files to it."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE)
    connection.request("GET", "/_stcore/health")
    answer = connection.getresponse()
    given = (answer.headers["set-cookie"] or "").partition(";")[0]
    answer.read()
    headers = {"X-Xsrftoken": given.partition("=")[2], "Content-Type": "multipart/form-data; boundary=x"}
    return connection, headers | {"Cookie": "; ".join(filter(None, (given, cookie)))}
