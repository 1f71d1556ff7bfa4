"""Security headers of every answer: browsers refuse foreign scripts, foreign frames and guessed file types.

Streamlit sends none of these. Each source that the policy allows is needed by something; tests/browser/test_policy.py
visits every page and fails if a browser refused anything.
"""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

from streamlit import file_util

from attention.serving.asgi import App, Message, Receive, Scope, Send
from attention.serving.settings import Settings

MARKUP = (
    b"text/html",
    b"image/svg",
    b"text/xml",
    b"application/xml",
    b"application/xhtml",
)  # types that may contain a script
SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)  # inline scripts
SOURCES = {
    "default-src": "'none'",
    "script-src": "'self' 'wasm-unsafe-eval'",  # 64-bit numbers in messages; and the script in Streamlit's page, by its hash
    "style-src": "'self' 'unsafe-inline'",  # Streamlit, Plotly and the drawings write styles at run time
    "img-src": "'self' data: blob:",  # Plotly draws heatmaps into data:, and saves pictures by blob:
    "font-src": "'self' data:",  # formulas have small fonts in their style sheets
    "connect-src": "'self'",
    "manifest-src": "'self'",
    "form-action": "'none'",
    "base-uri": "'none'",
}
FORBIDDEN = ("camera", "display-capture", "geolocation", "microphone", "midi", "payment", "serial", "usb")


class SaferHeaders:
    """Adds the plain headers to all answers, and those of pages to pages and other types that may contain a script."""

    def __init__(self, app: App, settings: Settings) -> None:
        self.app = app
        self.plain = encode_headers(
            {"x-content-type-options": "nosniff", "cross-origin-resource-policy": "same-origin"}
        )
        self.page = encode_headers(of_pages(settings.frames, inline()))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                known = {name.lower(): value for name, value in message["headers"]}
                more = self.plain + self.page * known.get(b"content-type", b"").startswith(MARKUP)
                message["headers"] = [
                    *message["headers"],
                    *((name, value) for name, value in more if name not in known),
                ]
            await send(message)

        await self.app(scope, receive, sending)


def of_pages(frames: tuple[str, ...], hashes: tuple[str, ...]) -> dict[str, str]:
    """Headers of a page that these sites may embed in frames and that contains inline scripts with these hashes."""
    sites = " ".join("'self'" if site == "self" else site for site in frames) or "'none'"
    sources = SOURCES | {"script-src": " ".join([SOURCES["script-src"], *hashes]), "frame-ancestors": sites}
    found = {
        "content-security-policy": "; ".join(f"{name} {allowed}" for name, allowed in sources.items()),
        "referrer-policy": "same-origin",  # a link contains all settings of its visitor
        "permissions-policy": ", ".join(f"{name}=()" for name in FORBIDDEN),
        "cross-origin-opener-policy": "same-origin",
    }
    old = {(): "DENY", ("self",): "SAMEORIGIN"}.get(frames)  # for browsers without frame-ancestors
    return found | ({"x-frame-options": old} if old else {})


def inline() -> tuple[str, ...]:
    """The hashes of the inline scripts in Streamlit's page, whatever its version contains."""
    text = (Path(file_util.get_static_dir()) / "index.html").read_text("utf-8")
    return tuple(f"'sha256-{_hash(script)}'" for script in SCRIPT.findall(text))


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def encode_headers(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    """Converts headers to the form of ASGI."""
    return [(name.encode(), value.encode()) for name, value in headers.items()]
