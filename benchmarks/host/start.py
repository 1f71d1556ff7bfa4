"""From the start of a process to its health, to a first picture, to that in a browser on a slow line; and back after a kill.

Altair imports some packages only where they are there, among them a grammar that takes half a second, which come with what
tests need. A server as users install it says so best: `make run` in a clone, and its `.venv/bin/python` as `--python`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median

from playwright.sync_api import Browser, CDPSession

from benchmarks.host.bounds import figure_line, note_line
from benchmarks.paint import GRID, PAINTED
from tests.chromium import launch_browser
from tests.server import Server, free_port, run_server, warm_server
from tests.visitor import open_connection

HEALTHY, FIRST, SLOW, BACK, BYTES = 0.8, 3.0, 2.0, 3.0, 2.5  # seconds of each, and megabytes before the picture
LINE = {
    "offline": False,
    "latency": 40,
    "downloadThroughput": 10e6 / 8,
    "uploadThroughput": 10e6 / 8,
}  # ms, bytes a second
MB = 1_000_000
PATIENCE = 120_000  # ms until there must be a picture
PICTURE = f"{GRID}[{PAINTED}]"
LOST = '.stApp:not([data-test-connection-state="CONNECTED"])'
THERE = '.stApp[data-test-connection-state="CONNECTED"][data-test-script-state="notRunning"]'
NOTE = f"""new MutationObserver(() => {{
    if (window.pictured === undefined && document.querySelector({PICTURE!r})) window.pictured = performance.now();
}}).observe(document, {{ subtree: true, childList: true, attributes: true }});"""


def cold() -> tuple[float, float]:
    """Seconds from the start of a process to its health, and those that a visitor waits who comes at that moment."""
    start = time.perf_counter()
    with run_server() as server:
        healthy = time.perf_counter() - start
        return healthy, asyncio.run(_first(server))


async def _first(server: Server) -> float:
    start = time.perf_counter()
    async with open_connection(server.url, "") as visit:
        met = time.perf_counter() - start
        return met + ((await visit.arrive()).picture or float("nan"))


@dataclass
class Counted:
    """Bytes that a page has received, as they came over the line."""

    total: float = 0
    kinds: dict[str, float] = field(default_factory=dict)

    def watch(self, session: CDPSession) -> None:
        """Counts from now on: files as they are compressed, and frames of the websocket."""
        session.on("Network.dataReceived", lambda event: self._add("files", event["encodedDataLength"]))
        session.on(
            "Network.webSocketFrameReceived",
            lambda event: self._add("websocket", len(event["response"]["payloadData"]) * 3 / 4),  # base64
        )

    def _add(self, kind: str, size: float) -> None:
        self.total += size
        self.kinds[kind] = self.kinds.get(kind, 0) + size


def slow(browser: Browser, url: str) -> tuple[float, Counted]:
    """Seconds from the request for a page to its picture, at 10 Mbit/s and 40 ms, and what was received till then."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page, counted = context.new_page(), Counted()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", LINE)
    counted.watch(session)
    page.add_init_script(NOTE)
    page.goto(url, wait_until="commit", timeout=PATIENCE)
    page.wait_for_selector(PICTURE, state="attached", timeout=PATIENCE)
    took = page.evaluate("window.pictured") / 1000
    found = Counted(counted.total, dict(counted.kinds))
    context.close()
    return took, found


def back(browser: Browser) -> float:
    """Seconds from a kill of the server, which is started again at once, till an open page is connected and was run anew."""
    page, port = browser.new_page(), free_port()
    with run_server(port=port) as server:
        page.goto(f"{server.url}/?tokens=30&temperature=1.5", timeout=PATIENCE)
        page.wait_for_selector(PICTURE, state="attached", timeout=PATIENCE)
        page.wait_for_selector(THERE, state="attached", timeout=PATIENCE)
        start = time.perf_counter()
        server.kill()
        page.wait_for_selector(LOST, state="attached", timeout=PATIENCE)
    with run_server(port=port):
        page.wait_for_selector(THERE, state="attached", timeout=PATIENCE)
        took = time.perf_counter() - start
    page.close()
    return took


def lines(times: int = 5) -> Iterator[str]:
    """Each so many times; the one in the middle counts."""
    found = [cold() for _ in range(times)]
    healthy, first = (median(each) for each in zip(*found, strict=True))
    yield figure_line(healthy, HEALTHY, f"s from the start of a process to its health, of {times}")
    yield figure_line(first, FIRST, f"s till the picture of a visitor who comes at that moment, of {times}")
    with launch_browser() as browser, warm_server() as server:
        slow(browser, server.url)  # it compresses the files
        visits = [slow(browser, server.url) for _ in range(times)]
        returns = [back(browser) for _ in range(times)]
    took, size = median(took for took, _ in visits), max(counted.total for _, counted in visits) / MB
    yield figure_line(
        median(returns),
        BACK,
        f"s from a kill till a browser is back at its settings, {max(returns):.1f} at the most of {times}",
    )
    kinds = ", ".join(f"{value / MB:.2f} {kind}" for kind, value in visits[-1][1].kinds.items())
    yield figure_line(took, SLOW, f"s till the picture in Chromium at 10 Mbit/s and 40 ms, of {times}")
    yield figure_line(size, BYTES, f"MB before it: {kinds}")
    yield note_line("the browser slows down files; its websocket it does not")
