"""A visitor without a browser: what Streamlit's own page says over its websocket, and what it is told."""

from __future__ import annotations

import json
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

PATIENCE = 120  # seconds until a run must have ended
OVER = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)


@dataclass
class Visit:
    """What a visitor was shown: the link that the grid of heads was `painted` for, errors and alerts.

    And the name of their session, with the connection that it has.
    """

    socket: ClientConnection
    painted: str = ""
    session: str = ""
    errors: list[str] = field(default_factory=list)
    alerts: list[str] = field(default_factory=list)


async def visited(url: str, query: str, page: str = "") -> Visit:
    """Opens a link and waits for the end of its first run."""
    async with entered(url, query, page) as found:
        return found


@asynccontextmanager
async def entered(url: str, query: str, page: str = "", cookie: str = "") -> AsyncIterator[Visit]:
    """The same, and stays until the block ends."""
    host = urlsplit(url).netloc
    async with connect(
        f"ws://{host}/_stcore/stream",
        origin=f"http://{host}",
        subprotocols=["streamlit", "x"],
        max_size=None,
        open_timeout=PATIENCE,
        ping_interval=None,
        additional_headers={"Cookie": cookie} if cookie else None,
    ) as socket:
        found = Visit(socket)
        await socket.send(_opening(query, page).SerializeToString())
        ended = False
        while not ended:
            message = ForwardMsg.FromString(await socket.recv())
            kind = message.WhichOneof("type")
            if kind == "new_session":
                found.session = message.new_session.initialize.session_id or found.session
            if kind == "delta":
                _look(message.delta.new_element, found)
            ended = kind == "script_finished" and message.script_finished in OVER
        yield found


def _opening(query: str, page: str) -> BackMsg:
    message = BackMsg()
    message.rerun_script.query_string, message.rerun_script.page_name = query, page
    message.rerun_script.widget_states.SetInParent()
    return message


def _look(element, found: Visit) -> None:
    if element.WhichOneof("type") == "exception":
        found.errors.append(f"{element.exception.type}: {element.exception.message}")
    if element.WhichOneof("type") == "alert":
        found.alerts.append(element.alert.body)
    body = element.bidi_component.bytes if element.WhichOneof("type") == "bidi_component" else b""
    if len(body) > 4:
        header = json.loads(body[4 : 4 + struct.unpack("<I", body[:4])[0]])
        found.painted = header.get("painted", found.painted)


def sent(url: str, session: str, number: int, size: int, cookie: str = "") -> int:
    """The status of the answer to a file of so many bytes, sent as the browser of a session does."""
    return put(url, session, str(number), b"x" * size, cookie)


def put(url: str, session: str, id: str, data: bytes, cookie: str = "", name: bytes = b"f") -> int:
    """The same of a file that holds these bytes, by an id that the browser gives it."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE)
    connection.request("GET", "/_stcore/health")
    answer = connection.getresponse()
    given = (answer.headers["set-cookie"] or "").partition(";")[0]
    answer.read()
    headers = {"X-Xsrftoken": given.partition("=")[2], "Content-Type": "multipart/form-data; boundary=x"}
    frame = b'--x\r\nContent-Disposition: form-data; name=f; filename="%b"\r\n\r\n%b\r\n--x--\r\n' % (name, data)
    headers["Cookie"] = "; ".join(filter(None, (given, cookie)))
    connection.request("PUT", f"/_stcore/upload_file/{session}/{id}", frame, headers)
    return connection.getresponse().status
