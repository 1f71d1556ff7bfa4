"""Files of the browser's part, compressed once and kept in memory: Streamlit sends its own 10 MB uncompressed.

Files are looked up by name among those in the folders, so that no path that a visitor sends is ever opened.
Streamlit's files have a hash in their names, and browsers cache them for good; ours are sent with their hash, and a
browser asks whether it is still valid.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from functools import cached_property
from mimetypes import guess_type
from pathlib import Path

from streamlit import file_util

from attention.serving.asgi import App, Receive, Scope, Send, answer, header, path, send_response

BROWSER = Path(__file__).parents[1] / "components" / "browser"
COMPONENTS = "/_stcore/bidi-components/"
STATIC = "/static/"
TEXT = (".css", ".js", ".json", ".svg", ".txt")  # types that compression makes smaller; Streamlit sends the rest
FOREVER = "public, immutable, max-age=31536000"
ASK = "no-cache"  # it may be cached, but must be validated before use
LEVEL = 9
NOWHERE: dict[str, File] = {}


class File:
    """A file for browsers, which a thread reads and compresses on the first request."""

    def __init__(self, path: Path, keeping: str) -> None:
        kind = "text/javascript" if path.suffix == ".js" else guess_type(path.name)[0] or "text/plain"
        self.path, self.text = path, path.suffix in TEXT
        self.headers = [
            (b"content-type", f"{kind}; charset=utf-8".encode()),
            (b"cache-control", keeping.encode()),
            (b"vary", b"accept-encoding"),
        ]

    @cached_property
    def content(self) -> asyncio.Future[tuple[bytes, str]]:
        """The compressed bytes and their hash; once requested, this continues even if the browser disconnects."""
        return asyncio.ensure_future(asyncio.to_thread(self._make))

    def _make(self) -> tuple[bytes, str]:
        plain = self.path.read_bytes()
        return gzip.compress(plain, LEVEL, mtime=0), hashlib.sha256(plain).hexdigest()[:32]

    async def send_file(self, scope: Scope, send: Send) -> None:
        """Sends the file, or 304 if the browser's copy is still valid."""
        try:
            packed, mark = await asyncio.shield(self.content)
        except OSError:
            del self.content  # the next request tries again
            raise
        headers = [*self.headers, (b"etag", f'"{mark}"'.encode())]
        if f'"{mark}"' in (header(scope, b"if-none-match") or ""):
            await send_response(scope, send, 304, b"", headers)
        elif "gzip" in (header(scope, b"accept-encoding") or ""):
            await send_response(scope, send, 200, packed, [*headers, (b"content-encoding", b"gzip")])
        else:
            await send_response(scope, send, 200, await asyncio.to_thread(gzip.decompress, packed), headers)


class Files:
    """Sends known files; other paths below their folders get a 404."""

    def __init__(self, app: App, static: Path | None = None, browser: Path = BROWSER) -> None:
        self.app = app
        self.static = within(static or Path(file_util.get_static_dir()) / "static", FOREVER)
        self.browser = within(browser, ASK)
        self.components = {f"attention-lab.{file.stem}" for file in (browser / "streamlit").glob("*.js")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        where = path(scope) if scope["type"] == "http" and scope["method"] in ("GET", "HEAD") else ""
        files, name = self.place(where)
        if name not in files and files is not NOWHERE:
            await answer(scope, send, 404, "There is no such file.")
        elif name in files and files[name].text:
            await files[name].send_file(scope, send)
        else:
            await self.app(scope, receive, send)

    def place(self, where: str) -> tuple[dict[str, File], str]:
        """The collection of files to which a path belongs, and its name there."""
        if where.startswith(STATIC):
            return self.static, where.removeprefix(STATIC)
        component, _, name = where.removeprefix(COMPONENTS).partition("/")
        ours = where.startswith(COMPONENTS) and component in self.components
        return (self.browser, name) if ours else (NOWHERE, "")


def within(folder: Path, keeping: str) -> dict[str, File]:
    """The files below a folder by their relative paths."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): File(file, keeping) for file in files}
