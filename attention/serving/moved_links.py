"""Sends links on whose page has moved, so that every link that was shared opens what it opened.

    /                  with anything but Start's own entry: Heads, which was there before the Start page
    /implementations   with bug=question: Find the bug, which was a part of that page

A redirect leaves no entry in the browser's history, so that Back does not lead to it again. Links that are opened within a
visit are sent on by `ui/session/address_bar.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

from attention.serving.asgi import App, Receive, Scope, Send, path, send_response

START = "start"  # the entry of the Start page's own links
CARDS = {"card", "lesson"}  # entries that any page may have
EMBEDS = "embed"  # entries of Streamlit: embed, embed_options
HEADS, IMPLEMENTATIONS, FIND_THE_BUG = "heads", "implementations", "find_the_bug"
DEFAULT = "fused"  # the implementation that an old link asked about if it named none


class Place(NamedTuple):
    """A page, by the last part of its address, and the entries of a link to it."""

    page: str
    query: dict[str, str]


class MovedLinks:
    """Redirects a page whose link belongs to another page."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        there = None
        if scope["type"] == "http" and scope["method"] in ("GET", "HEAD"):
            query = _entries(scope)
            there = moved_to(path(scope).removeprefix("/"), query)
        if there is None:
            await self.app(scope, receive, send)
            return
        entries = scope["query_string"] if there.query == query else urlencode(there.query).encode()
        address = there.page.encode() + b"?" + entries
        await send_response(scope, send, 307, b"", [(b"location", address), (b"cache-control", b"no-store")])


def moved_to(page: str, query: Mapping[str, str]) -> Place | None:
    """The page that a link now belongs to, and its entries there; None if that is the page of the link."""
    if page == "" and _belongs_to_heads(query):
        return Place(HEADS, dict(query))
    if page == IMPLEMENTATIONS and query.get("bug", "").strip().casefold() == "question":
        embeds = {name: value for name, value in query.items() if name.startswith(EMBEDS)}
        return Place(FIND_THE_BUG, {"bug": query.get("implementation", DEFAULT)} | embeds)
    return None


def _belongs_to_heads(names: Mapping[str, str]) -> bool:
    """Whether a link with these entries has others than Start's, those of any page and Streamlit's own."""
    own = {name for name in names if not name.startswith(EMBEDS)} - CARDS
    return bool(own) and own != {START}


def _entries(scope: Scope) -> dict[str, str]:
    return dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
