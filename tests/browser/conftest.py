"""A server, a Chromium and tabs that fail their test when anything goes wrong in them.

`visit("heads?tokens=64", theme="dark")` opens a link in a tab with cookies and a cache of its own; `fresh_server()`
starts a server that nobody has asked for anything. A tab fails its test on an error in the browser's console, on a
request that leaves this machine, and on an exception, on the page or in the server's log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, Page, WebSocket, expect

from tests.chromium import launched
from tests.served import Server, served

SECONDS = 20_000  # milliseconds until what should appear must have, on a busy machine
GRID = '[data-testid="heads-grid"]'
LOCAL = {"127.0.0.1", ""}  # data: and blob: have no host


@dataclass(frozen=True)
class Tab:
    """A tab, what it sent over its websocket (`sent`), and what went wrong in it (`wrong`)."""

    page: Page
    server: Server
    sent: list[bytes | str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Notes errors of the console, requests that leave this machine, and what is sent."""
        self.page.on("console", lambda told: self._note(told.type == "error", told.text))
        self.page.on("pageerror", lambda error: self._note(True, f"{error}"))
        self.page.on("request", lambda asked: self._note(urlsplit(asked.url).hostname not in LOCAL, asked.url))
        self.page.on("websocket", self._listen)

    def _note(self, wrong: bool, text: str) -> None:
        if wrong:
            self.wrong.append(text)

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framesent", lambda frame: self.sent.append(frame))

    def painted(self, **knobs: object) -> None:
        """Waits until the grid shows the config that differs from the defaults in these knobs and no others."""
        query = {name: str(value) for name, value in knobs.items()}
        self.page.wait_for_function(
            """([grid, query]) => {
                const painted = document.querySelector(grid)?.dataset.painted;
                if (painted === undefined) return false;
                const found = [...new URLSearchParams(painted)];
                return found.length === Object.keys(query).length && found.every(([name, value]) => query[name] === value);
            }""",
            arg=[GRID, query],
            timeout=SECONDS,
        )

    @property
    def link(self) -> dict[str, str]:
        """What the address bar says."""
        return dict(parse_qsl(urlsplit(self.page.url).query))

    def widget(self, knob: str) -> object:
        """The element of a knob's control."""
        return self.page.locator(f".st-key-{knob}")
