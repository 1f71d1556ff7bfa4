"""Files of the browser's part, compressed once and kept so in memory: Streamlit sends its own as they are, 10 MB of them.

Only what lies in the folders is known, by name, so that no path that a visitor sends is ever opened. What Streamlit brings has
a hash in its name and is kept by browsers for good; ours has its hash beside it, and a browser asks whether that still holds.
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
TEXT = (".css", ".js", ".json", ".svg", ".txt")  # what compressing makes smaller; Streamlit sends the rest
FOREVER = "public, immutable, max-age=31536000"
ASK = "no-cache"  # it may be kept; whoever has it asks whether it still holds
LEVEL = 9
NOWHERE: dict[str, File] = {}


class File:
    """A file on its way to browsers: read and compressed by a thread when it is first asked for."""

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
        """Its bytes, compressed, and its hash: under way since somebody has asked, whoever goes away meanwhile."""
        return asyncio.ensure_future(asyncio.to_thread(self._make))

    def _make(self) -> tuple[bytes, str]:
        plain = self.path.read_bytes()
        return gzip.compress(plain, LEVEL, mtime=0), hashlib.sha256(plain).hexdigest()[:32]

    async def send_file(self, scope: Scope, send: Send) -> None:
        """Answers with it, or says that what the browser has still holds."""
        try:
            packed, mark = await asyncio.shield(self.content)
        except OSError:
            del self.content  # the next one may have more luck
            raise
        headers = [*self.headers, (b"etag", f'"{mark}"'.encode())]
        if f'"{mark}"' in (header(scope, b"if-none-match") or ""):
            await send_response(scope, send, 304, b"", headers)
        elif "gzip" in (header(scope, b"accept-encoding") or ""):
            await send_response(scope, send, 200, packed, [*headers, (b"content-encoding", b"gzip")])
        else:
            await send_response(scope, send, 200, await asyncio.to_thread(gzip.decompress, packed), headers)


class Files:
    """Sends what it knows; what has an address below its folders and is not known is nowhere."""

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
        """The files among which that of a path would be, and its name there."""
        if where.startswith(STATIC):
            return self.static, where.removeprefix(STATIC)
        component, _, name = where.removeprefix(COMPONENTS).partition("/")
        ours = where.startswith(COMPONENTS) and component in self.components
        return (self.browser, name) if ours else (NOWHERE, "")


def within(folder: Path, keeping: str) -> dict[str, File]:
    """The files below a folder by their paths there."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): File(file, keeping) for file in files}
