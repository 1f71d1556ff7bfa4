"""A server, a Chromium and tabs that fail their test when anything goes wrong in them.

`visit("heads?tokens=64", theme="dark")` opens a link in a tab that holds nothing of the one before it; `fresh_server()`
starts a server that nobody has asked for anything. A tab fails its test on an error or a warning in the browser's console, on a
request that leaves this machine, and on an exception, on the page or in the server's log.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, TimeoutError, WebSocket, expect

from attention.codec import EDITIONS
from attention.knobs import KNOBS
from attention.ui.menu import GROUPS, page_title
from tests.browser.journeys import is_journey
from tests.chromium import launch_browser
from tests.server import Server, run_server, warm_server
from tests.strategies import query_without_edition

SECONDS = 60_000  # milliseconds until what should appear must have, on a busy machine
REST = 300  # milliseconds in which what was just done sets off
MORE_CLOSED = '[data-testid="stSidebar"] details:not([open]):has(> summary:has-text("More settings"))'
GRID = '[data-testid="heads-grid"]'
ALONE = (  # a page load takes a sixth less of the processor so: nothing in a tab waits for a thread, or is collected early
    "--js-flags=--single-threaded --no-incremental-marking --min-semi-space-size=64 --max-semi-space-size=128",
    "--num-raster-threads=1",
    "--disable-partial-raster",
    "--disable-checker-imaging",
    "--disable-lcd-text",
)
EDITION = f"v={len(EDITIONS)}"  # how a link begins that says anything
FORGET = "() => { for (const kept of [localStorage, sessionStorage]) kept.clear(); }"
TO_THE_TOP = """() => {
    for (const part of ["stMain", "stSidebarContent"]) document.querySelector(`[data-testid=${part}]`).scrollTo(0, 0);
}"""
LATE = "was preloaded using link preload but not used within a few seconds"  # of a machine that takes longer
TWO = "Multiple different fragmentIds detected in a single batch of widget updates"
WATCH = """
    window.refused = [];
    document.addEventListener("securitypolicyviolation", (event) =>
        refused.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber} ${event.sample}`));
"""
LOCAL = {"127.0.0.1", None}  # data: and blob: have no host
expect.set_options(timeout=SECONDS)


@dataclass(frozen=True)
class Tab:
    """A tab, what it sent and heard over its websocket, and what went wrong in it (`wrong`)."""

    page: Page
    server: Server
    sent: list[bytes | str] = field(default_factory=list)
    heard: list[bytes | str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @contextmanager
    def watch(self) -> Iterator[Tab]:
        """Notes errors and warnings of the console, requests that leave this machine, and what is sent and heard."""
        listeners: dict[Any, Callable[..., None]] = {
            "console": lambda told: self._note(_bad(told), told.text),
            "pageerror": lambda error: self._note(True, error.stack or f"{error}"),
            "request": lambda asked: self._note(urlsplit(asked.url).hostname not in LOCAL, asked.url),
            "websocket": lambda socket: self._listen(socket),
        }
        for event, listener in listeners.items():
            self.page.on(event, listener)
        yield self
        for event, listener in listeners.items():
            self.page.remove_listener(event, listener)

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framesent", lambda frame: self.sent.append(frame))
        socket.on("framereceived", lambda frame: self.heard.append(frame))

    def _note(self, wrong: bool, text: str) -> None:
        if wrong:
            self.wrong.append(text)

    def wait_for_grid(self, **knobs: object) -> None:
        """Waits until the grid shows the config that differs from the defaults in these knobs and no others.

        Which edition of the defaults that is, its link says besides.
        """
        query = {name: str(value) for name, value in knobs.items()}
        self.page.wait_for_function(
            """([grid, query]) => {
                const painted = document.querySelector(grid)?.dataset.painted;
                if (painted === undefined) return false;
                const found = [...new URLSearchParams(painted)].filter(([name]) => name !== "v");
                const count = Object.keys(query).length;
                return found.length === count && found.every(([name, value]) => query[name] === value);
            }""",
            arg=[GRID, query],
            timeout=SECONDS,
        )

    def quiet(self) -> None:
        """Waits until the page's script has run to its end."""
        done = '.stApp[data-test-script-state="notRunning"][data-test-connection-state="CONNECTED"]'
        self.page.locator(f"{done} .st-key-tokens").wait_for()

    def still(self) -> None:
        """Waits until no script runs, on any page, painted or not."""
        self.page.locator('.stApp[data-test-script-state="notRunning"]').wait_for()

    @property
    def link(self) -> dict[str, str]:
        """What the address bar says once the page's script has run to its end, apart from the edition."""
        self.still()
        return query_without_edition(dict(parse_qsl(urlsplit(self.page.url).query)))

    def widget(self, knob: str) -> Locator:
        """The control of a knob."""
        return self.page.locator(f".st-key-{knob}")

    def slider(self, knob: str) -> Locator:
        """What the arrow keys move in the control of a knob; if that is among more settings, these are opened."""
        control = self.widget(knob)
        if self.page.locator(f"{MORE_CLOSED} .st-key-{knob}").count():
            self.open_more()
        return control.locator("input[type=range]")

    def open_more(self) -> None:
        """Opens the settings of the sidebar that are not at first sight."""
        for more in self.page.locator(MORE_CLOSED).all():
            more.locator("summary").first.click()

    def choose(self, knob: str, choice: str) -> None:
        """Takes an option of a knob's menu."""
        if self.page.locator(f"{MORE_CLOSED} .st-key-{knob}").count():
            self.open_more()
        shown = KNOBS[knob].names if knob in KNOBS else {}
        choose(self.widget(knob).get_by_role("combobox"), shown.get(choice, choice))

    def check(self) -> None:
        """Fails where anything went wrong in this tab since it was last asked."""
        wrong = [self.wrong.pop() for _ in range(len(self.wrong))]
        assert not wrong, f"{self.page.url}: {wrong}"
        shown = self.page.get_by_test_id("stException").count()
        assert shown == 0, f"{self.page.url} shows an exception; the server's log:\n{self.server.log.read_text()}"


def choose(menu: Locator, choice: str) -> None:
    """Takes an option of a menu, which anything that scrolls meanwhile shuts as soon as it is open: then once more."""
    option = menu.page.get_by_role("option", name=choice, exact=True)
    for _ in range(10):
        menu.click()
        with suppress(TimeoutError):
            return option.click(timeout=SECONDS / 10)
    raise AssertionError(f"{choice!r} was never there to be chosen")


def _bad(told: ConsoleMessage) -> bool:
    """Is it an error or a warning? On a page's own path Streamlit looks for its server there first, and at the root next.

    Where a field is left by moving a widget of another fragment, it says that it runs only one of both, which takes up all.
    """
    return told.type in ("error", "warning") and not (
        re.search(r"/[a-z_]+/_stcore/(health|host-config)$", told.location["url"])
        or TWO in told.text
        or LATE in told.text
    )


MENU = {group: tuple(map(page_title, pages)) for group, pages in GROUPS.items() if group}


def of_today(link: str) -> str:
    """A link to a picture as it is shared now: with the edition of the defaults, where it says anything."""
    path, _, query = link.partition("?")
    link = f"heads{link}" if not path else link.removeprefix("/")  # "/" is the Start page
    return f"{link}&{EDITION}" if query and path not in ("/", "timing", "training", "model") else link


def open_page(page: Page, name: str) -> None:
    """Opens a page by the menu, in which all but the first one are below the name of a group."""
    group = next((group for group, names in MENU.items() if name in names), None)
    if group:
        page.get_by_test_id("stTopNavSection").get_by_text(group, exact=True).click()
    link = page.get_by_test_id("stTopNavDropdownLink" if group else "stTopNavLink")
    link.get_by_text(name, exact=True).click()


@pytest.fixture(scope="package")
def server() -> Iterator[Server]:
    """The server that most tests share; a browser complains where it has to wait for long at a cold server's door."""
    with warm_server() as server:
        yield server


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """The browser that all tests share."""
    with launch_browser(*ALONE) as browser:
        yield browser


@pytest.fixture(scope="package")
def pages(chromium: Browser) -> list[Page]:
    """Tabs of the browser that tests have left: one that has shown the app before loads it in less than half of the time."""
    return []


@pytest.fixture
def fresh_server() -> Iterator[Callable[[], Server]]:
    """Starts servers that nobody has asked for anything yet."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(run_server())


@pytest.fixture
def visit(chromium: Browser, pages: list[Page], server: Server) -> Iterator[Callable[..., Tab]]:
    """Opens links: `visit(link="", server=the shared one, theme="light", size=(1280, 800))`; `before` is done to the tab."""
    tabs: list[Tab] = []
    with ExitStack() as stack, _no_traceback(server) as watched:

        def visit(
            link: str = "",
            server: Server = server,
            theme: str = "light",
            size: tuple = (1280, 800),
            before: Callable[[Page], object] | None = None,
        ) -> Tab:
            watched.setdefault(server.log, 0)
            left = [] if before else pages  # what is done to a tab before it opens a page stays
            tabs.append(stack.enter_context(open_tab(chromium, left, server, theme, size)))
            if before:
                before(tabs[-1].page)
            tabs[-1].page.goto(f"{server.url}/{of_today(link)}")
            return tabs[-1]

        yield visit
        for tab in tabs:
            tab.check()


@contextmanager
def open_tab(
    chromium: Browser, pages: list[Page], server: Server, theme: str = "light", size: tuple = (1280, 800)
) -> Iterator[Tab]:
    """A tab that shows nothing yet: one of `pages` that were left, if there is any, to which it goes back."""
    page = pages.pop() if pages else chromium.new_context(reduced_motion="reduce").new_page()
    page.set_default_timeout(SECONDS)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(media="screen", color_scheme=theme)
    with Tab(page, server).watch() as tab:
        yield tab
    page.evaluate(FORGET)
    page.goto("about:blank")
    page.mouse.move(0, 0)
    page.context.clear_permissions()
    pages.append(page)


@contextmanager
def _no_traceback(server: Server) -> Iterator[dict[Path, int]]:
    """Fails where a server logs one meanwhile; others are put beside this one, with the length of their log so far."""
    starts = {server.log: server.log.stat().st_size}
    yield starts
    for log, start in starts.items():
        told = log.read_bytes()[start:].decode(errors="replace")
        assert "Traceback" not in told, told


@pytest.fixture(params=["light", pytest.param("dark", marks=pytest.mark.extended)])
def theme(request: pytest.FixtureRequest) -> str:
    """The light theme, and in `make test-all` the dark one; tests/browser/test_walk.py looks at every page in both."""
    return request.param


@pytest.fixture(scope="package")
def watched(chromium: Browser, server: Server) -> Iterator[Tab]:
    """The tab of tests that go from page to page; what its browser refuses on a page is in `refused`."""
    with open_tab(chromium, [], server) as tab:
        tab.page.add_init_script(WATCH)
        yield tab


@pytest.fixture
def walker(watched: Tab) -> Iterator[Tab]:
    """This tab; a test fails where anything goes wrong in it or in the server."""
    watched.page.set_viewport_size({"width": 1280, "height": 800})
    watched.page.emulate_media(color_scheme="light")
    with _no_traceback(watched.server):
        yield watched
        watched.check()


@pytest.fixture(scope="module")
def greeted(chromium: Browser, pages: list[Page], server: Server) -> Iterator[Tab]:
    """A tab that the tests of a module share, as loading a page takes the most of a small test."""
    with open_tab(chromium, pages, server) as tab:
        tab.page.goto(f"{server.url}/heads")
        yield tab


@pytest.fixture
def tab(greeted: Tab) -> Iterator[Tab]:
    """The app as it greets a visitor, painted: what was set before in this tab is reset, what was scrolled is back."""
    with _no_traceback(greeted.server):
        if urlsplit(greeted.page.url).path != "/heads":  # a test that failed elsewhere has left it there
            greeted.page.goto(f"{greeted.server.url}/heads")
        for _ in range(3):  # what the last test did may come in late, and then stands where all was reset
            greeted.page.wait_for_timeout(REST if greeted.link else 0)
            if greeted.link:
                greeted.widget("reset").get_by_role("button").click()
            with suppress(TimeoutError):
                greeted.page.wait_for_url(lambda url: not urlsplit(url).query, timeout=SECONDS / 4)
                break
        greeted.wait_for_grid()
        greeted.quiet()
        greeted.page.evaluate(TO_THE_TOP)
        greeted.page.mouse.move(0, 0)
        yield greeted
        greeted.check()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that fails in a browser is run once more, as a busy machine makes one in a thousand clicks miss.

    The summary names it, and what fails twice fails. What is not in `JOURNEYS` is extended.
    """
    for item in items:
        if "tests/browser/" in item.nodeid:
            item.add_marker(pytest.mark.flaky(reruns=1))
            if not is_journey(item.path.stem, item.name):
                item.add_marker(pytest.mark.extended)
