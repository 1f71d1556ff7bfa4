"""Sends links at the root on to Heads, which was there before the Start page.

A redirect leaves no entry in the browser's history, so that Back does not lead to it again. Links that reach the root
within a visit are sent on by `ui/session/address_bar.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import parse_qsl

from attention.serving.asgi import App, Receive, Scope, Send, path, send_response

START = "start"  # the entry of the Start page's own links
EMBEDS = "embed"  # entries of Streamlit: embed, embed_options


class RootLinks:
    """Redirects a page at the root to Heads if its link belongs there."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (
            scope["type"] == "http"
            and scope["method"] in ("GET", "HEAD")
            and path(scope) == "/"
            and belongs_to_heads(_entry_names(scope))
        ):
            there = b"heads?" + scope["query_string"]
            await send_response(scope, send, 307, b"", [(b"location", there), (b"cache-control", b"no-store")])
        else:
            await self.app(scope, receive, send)


def belongs_to_heads(names: Iterable[str]) -> bool:
    """Whether a link with entries of these names has others than Start's and Streamlit's own."""
    own = {name for name in names if not name.startswith(EMBEDS)}
    return bool(own) and own != {START}


def _entry_names(scope: Scope) -> list[str]:
    return [name for name, _ in parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)]
