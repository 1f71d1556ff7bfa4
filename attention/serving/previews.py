"""What programs see of a link: the head of the page's HTML, its picture at `/preview.png`, and `/oembed`.

Streamlit sends the same HTML for every page, titled “Streamlit”; a chat that shows a link, and a search engine, read no
more of it. `/preview.png?page=heads&mask=window` is the picture of the link `/heads?mask=window`. Pictures are drawn by the
executors of the app, few at a time; when these are all in use, the answer is 503. `/qr.svg?url=…` is the QR code of a link of
this server, for printed pages.
"""

from __future__ import annotations

import asyncio
import gzip
import html
import json
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from attention.serving.asgi import App, Message, Receive, Scope, Send, answer, header, path, send_response
from attention.serving.settings import Settings

PICTURE, OEMBED, QR_CODE = "/preview.png", "/oembed", "/qr.svg"
SIZE = (1200, 630)
WITHOUT_PICTURE = ("examples", "your_data")  # pages that have no picture to embed
FRAME = (800, 640)  # width and height of an embedded page
LEAST_FRAME, LARGEST_FRAME = 300, 2000
AT_ONCE = 2  # pictures that are being drawn
LONGEST = 6000  # characters of a query that is described; a link may be longer, and is described by its page
KEPT = b"public, max-age=86400"
ANYWHERE = (b"cross-origin-resource-policy", b"cross-origin")
HOST = re.compile(r"[A-Za-z0-9.\-]+(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?")
TITLE = re.compile(rb"<title>[^<]*</title>")
START = "start"
REPLACED = (b"content-length", b"etag", b"last-modified", b"accept-ranges", b"vary")  # headers of Streamlit's page


class Previews:
    """Answers for pictures, oEmbed and QR codes, and writes title and description into pages."""

    def __init__(self, app: App, settings: Settings, trouble: Callable[[], str]) -> None:
        self.app, self.settings, self.trouble = app, settings, trouble
        self.drawn = self.coded = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        where = path(scope)
        if where == PICTURE:
            await self._send_picture(scope, send)
        elif where == OEMBED:
            await self._send_oembed(scope, send)
        elif where == QR_CODE:
            await self._send_qr_code(scope, send)
        else:
            await self.app(_uncompressed(scope), receive, self._rewrite_page(scope, send))

    async def _send_picture(self, scope: Scope, send: Send) -> None:
        if self.drawn >= AT_ONCE or self.trouble():
            await _refuse_picture(scope, send)
            return
        self.drawn += 1
        try:
            found = await asyncio.to_thread(_draw, *parse_query(scope["query_string"]))
        finally:
            self.drawn -= 1
        if found is None:
            await _refuse_picture(scope, send)
        else:
            headers = [(b"content-type", b"image/png"), (b"cache-control", KEPT), ANYWHERE]
            await send_response(scope, send, 200, found, headers)

    async def _send_oembed(self, scope: Scope, send: Send) -> None:
        asked = _entries(scope["query_string"])
        if asked.get("format", "json") != "json":
            await answer(scope, send, 501, "This server answers in JSON.")
            return
        here, said = address(scope), own_link(scope, asked.get("url", ""))
        page = said.path.rpartition("/")[2] if said else ""
        if said is None or here is None or self.trouble():
            await answer(scope, send, 404, "There is no page of this server at this address.")
            return
        about = await asyncio.to_thread(_describe, page or START, said.query)
        found = self._oembed(here, page, said.query, about, asked)
        headers = [(b"content-type", b"application/json; charset=utf-8"), (b"cache-control", KEPT), ANYWHERE]
        await send_response(scope, send, 200, json.dumps(found).encode(), headers)

    async def _send_qr_code(self, scope: Scope, send: Send) -> None:
        link = _entries(scope["query_string"]).get("url", "")
        if own_link(scope, link) is None:
            await answer(scope, send, 404, "There is no page of this server at this address.")
            return
        if self.coded >= AT_ONCE or self.trouble():
            await _refuse_picture(scope, send)
            return
        self.coded += 1
        try:
            found = await asyncio.to_thread(_code, link)
        finally:
            self.coded -= 1
        if not found:
            await answer(scope, send, 414, "This link is too long for a QR code.")
            return
        await send_response(
            scope, send, 200, found.encode(), [(b"content-type", b"image/svg+xml"), (b"cache-control", KEPT)]
        )

    def _oembed(self, here: str, page: str, query: str, about: Any, asked: dict[str, str]) -> dict[str, Any]:
        """The answer: a frame if the owner lets other sites show one, else a link with a picture."""
        found: dict[str, Any] = {
            "version": "1.0",
            "type": "link",
            "title": about.title,
            "provider_name": "Attention Lab",
            "provider_url": f"{here}/",
            "thumbnail_url": picture_address(here, page or START, query),
            "thumbnail_width": SIZE[0],
            "thumbnail_height": SIZE[1],
        }
        if set(self.settings.frames) - {"self"} and page not in WITHOUT_PICTURE:
            width, height = (
                clamp_size(asked.get(name, ""), usual)
                for name, usual in zip(("maxwidth", "maxheight"), FRAME, strict=True)
            )
            found |= {"type": "rich", "width": width, "height": height}
            found["html"] = frame(f"{here}/{page}", query, about.title, width, height)
        return found

    def _rewrite_page(self, scope: Scope, send: Send) -> Send:
        """Returns a `send` that writes the title and the description of the link into a page."""
        started: list[Message] = []
        body = bytearray()

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_page(message) and scope["method"] == "GET":
                started.append(message)
                return
            if not started or message["type"] != "http.response.body":
                await send(message)
                return
            body.extend(message.get("body", b""))
            if message.get("more_body"):
                return
            page = await self._with_head(scope, bytes(body))
            others = [given for given in started[0]["headers"] if given[0].lower() not in REPLACED]
            others.append((b"vary", b"accept-encoding"))
            if "gzip" in (header(scope, b"accept-encoding") or ""):
                page, others = gzip.compress(page, mtime=0), [*others, (b"content-encoding", b"gzip")]
            await send_response(scope, send, started[0]["status"], page, others)

        return sending

    async def _with_head(self, scope: Scope, page: bytes) -> bytes:
        if self.trouble():
            head = "<title>Attention Lab</title>"
        else:
            name, query = path(scope).rpartition("/")[2] or START, scope["query_string"]
            query = query.decode("latin-1") if len(query) <= LONGEST else ""
            about = await asyncio.to_thread(_describe, name, query)
            head = tags(address(scope), name, query, about.title, about.description)
        return TITLE.sub(lambda _: head.encode("utf-8", "replace"), page, count=1)


def tags(here: str | None, page: str, query: str, title: str, description: str) -> str:
    """The tags of a page's head; those with addresses only if the server's own is known."""
    said = {"og:type": "website", "og:site_name": "Attention Lab", "og:title": title, "og:description": description}
    lines = [f"<title>{html.escape(title)}</title>", f'<meta name="description" content="{html.escape(description)}">']
    if here is not None:
        link = f"{here}/{'' if page == START else quote(page)}{'?' * bool(query)}{query}"
        said |= {"og:url": link, "og:image": picture_address(here, page, query)}
        said |= {"og:image:width": f"{SIZE[0]}", "og:image:height": f"{SIZE[1]}", "og:image:alt": title}
        about = html.escape(f"{here}{OEMBED}?{urlencode({'url': link})}")
        lines.append(f'<link rel="alternate" type="application/json+oembed" href="{about}">')
        lines.append('<meta name="twitter:card" content="summary_large_image">')
    return "\n    ".join(
        [*lines, *(f'<meta property="{name}" content="{html.escape(value)}">' for name, value in said.items())]
    )


def frame(link: str, query: str, title: str, width: int, height: int) -> str:
    """The HTML that embeds a page."""
    source = html.escape(f"{link}?{query}{'&' * bool(query)}embed=true")
    return (
        f'<iframe src="{source}" title="{html.escape(title)}" width="{width}" height="{height}" '
        'style="border: 0; max-width: 100%" loading="lazy" allow="clipboard-write; fullscreen"></iframe>'
    )


def picture_address(here: str, page: str, query: str) -> str:
    """The address of the picture of a link."""
    return f"{here}{PICTURE}?page={quote(page)}{'&' * bool(query)}{query}"


def address(scope: Scope) -> str | None:
    """The address of the app as its visitor sees it, without a slash at its end; None if its host is not a name."""
    host = header(scope, b"host") or ""
    if not HOST.fullmatch(host):
        return None
    said = (header(scope, b"x-forwarded-proto") or "").partition(",")[0].strip()
    scheme = said if said in ("http", "https") else scope.get("scheme", "http")
    base = scope["path"].removesuffix(path(scope)).rstrip("/")
    return f"{scheme}://{host}{quote(base)}"


def urlsplit_or_none(link: str) -> Any:
    """The parts of an address; None if it is none or too long."""
    try:
        return urlsplit(link) if 0 < len(link) <= LONGEST else None
    except ValueError:
        return None


def own_link(scope: Scope, link: str) -> Any:
    """The parts of a link to a page of this server; None if it is none."""
    here, said = address(scope), urlsplit_or_none(link)
    if here is None or said is None or said.scheme not in ("http", "https"):
        return None
    return said if said.netloc == urlsplit(here).netloc else None


def clamp_size(text: str, usual: int) -> int:
    """A limit that a program asks for, between the smallest and the usual size."""
    return max(LEAST_FRAME, min(usual, int(text))) if text.isascii() and text.isdigit() and len(text) < 6 else usual


def _entries(query: bytes) -> dict[str, str]:
    return dict(parse_qsl(query[: 4 * LONGEST].decode("latin-1"))) if query else {}


def parse_query(query: bytes) -> tuple[str, str]:
    """The page and the link that a picture is asked for; those of nothing if the query is too long."""
    if len(query) > LONGEST:
        return "", ""
    said = query.decode("latin-1")
    return _entries(query).get("page", "heads"), said


def _draw(page: str, query: str) -> bytes | None:
    return import_module("attention.ui.preview").draw(page, query)


def _describe(page: str, query: str) -> Any:
    return import_module("attention.ui.preview").describe(page, query)


def _code(link: str) -> str:
    return import_module("attention.charts.qr_code").qr_svg(link)


async def _refuse_picture(scope: Scope, send: Send) -> None:
    await answer(scope, send, 503, "This server is busy. Ask again in a minute.", [(b"retry-after", b"60")])


def _is_page(message: Message) -> bool:
    known = {name.lower(): value for name, value in message["headers"]}
    return known.get(b"content-type", b"").startswith(b"text/html") and b"content-encoding" not in known


def _uncompressed(scope: Scope) -> Scope:
    """The request of a page without its encodings and ranges: what is compressed cannot be changed."""
    if "." in path(scope) or path(scope).startswith("/_"):
        return scope
    return {**scope, "headers": [given for given in scope["headers"] if given[0] not in (b"accept-encoding", b"range")]}
