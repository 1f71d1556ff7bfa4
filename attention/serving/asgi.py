"""Reads requests, and sends plain answers."""

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
    """The first header of a given name, which must be in lower case."""
    return next((value.decode("latin-1") for known, value in scope["headers"] if known == name), None)


def path(scope: Scope) -> str:
    """The path below the address of the app, with a leading slash."""
    found = scope["path"]
    for before in (scope.get("root_path", ""), config.get_option("server.baseUrlPath") or ""):
        base = f"/{before.strip('/')}" if before.strip("/") else ""
        if base and (found == base or found.startswith(f"{base}/")):
            found = found[len(base) :] or "/"
    return found


async def answer(scope: Scope, send: Send, status: int, text: str, headers: Headers = ()) -> None:
    """Answers with one sentence that is not cached; closes a websocket."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": text})
        return
    plain = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store"), *headers]
    await send_response(scope, send, status, text.encode(), plain)


async def send_response(scope: Scope, send: Send, status: int, body: bytes, headers: Headers = ()) -> None:
    """Sends an answer; HEAD gets its length without the body, and 304 has no length."""
    length = [(b"content-length", str(len(body)).encode())] if status != 304 else []
    await send({"type": "http.response.start", "status": status, "headers": [*headers, *length]})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
