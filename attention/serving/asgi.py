"""What a request says, and plain answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from streamlit import config

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = Iterable[tuple[bytes, bytes]]


def header(scope: Scope, name: bytes) -> str | None:
    """The first header of a name, which is in lower case."""
    return next((value.decode("latin-1") for known, value in scope["headers"] if known == name), None)


def path(scope: Scope) -> str:
    """The path below the address of the app, with a slash before it."""
    found = scope["path"]
    for before in (scope.get("root_path", ""), config.get_option("server.baseUrlPath") or ""):
        base = f"/{before.strip('/')}" if before.strip("/") else ""
        if base and (found == base or found.startswith(f"{base}/")):
            found = found[len(base) :] or "/"
    return found


async def answer(scope: Scope, send: Send, status: int, text: str, headers: Headers = ()) -> None:
    """Says one sentence, and nobody keeps it; to a websocket, that it is not let in."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": text})
        return
    plain = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store"), *headers]
    await send_response(scope, send, status, text.encode(), plain)


async def send_response(scope: Scope, send: Send, status: int, body: bytes, headers: Headers = ()) -> None:
    """An answer as it stands; a HEAD is told its length alone, and what has not changed has none."""
    length = [(b"content-length", str(len(body)).encode())] if status != 304 else []
    await send({"type": "http.response.start", "status": status, "headers": [*headers, *length]})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
