"""Preload headers: a page names the modules of its component, so that the browser loads them before the first picture.

Without these headers, the browser requests the modules of a component only when the first message for it arrives, while
Streamlit loads the rest of the page.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping
from functools import cache
from pathlib import Path
from typing import Any

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
FOLDER = Path(__file__).with_name("browser")
DRAWN = {
    "": "heads_grid",
    "heads": "heads_grid",
    "masks": "mask_gallery",
    "steps": "matrices",
}  # by the name of the page


def preload_components(path: str, send: Send) -> Send:
    """Returns an ASGI `send` that adds preload headers for the component of the page at `path`."""
    component = DRAWN.get(path.rpartition("/")[2])

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start" and component and _page(message["headers"]):
            message["headers"] = [*message["headers"], (b"link", links(component).encode())]
        await send(message)

    return sending


def _page(headers: list[tuple[bytes, bytes]]) -> bool:
    return any(name.lower() == b"content-type" and value.startswith(b"text/html") for name, value in headers)


@cache
def links(component: str) -> str:
    """The value of the `Link` header: modules and style sheet of a component, with addresses relative to a page."""
    script = (FOLDER / "streamlit" / f"{component}.js").read_text("utf-8")
    names = {
        (FOLDER / "streamlit" / name).resolve() for name in re.findall(r'^import .*?"(.+)";$', script, re.MULTILINE)
    }
    paths = sorted(name.relative_to(FOLDER.resolve()).as_posix() for name in names)
    modules = [f"<{_asset_path(component, path)}>; rel=modulepreload" for path in (f"streamlit/{component}.js", *paths)]
    style = f"<{_asset_path(component, f'{component}.css')}>; rel=preload; as=fetch; crossorigin"
    return ", ".join([*modules, style])


def _asset_path(component: str, path: str) -> str:
    return f"_stcore/bidi-components/attention-lab.{component}/{path}"
