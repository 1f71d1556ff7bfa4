"""What somebody does while the server's answer to something else is still on its way to the browser.

That nothing is lost however messages cross is a law in tests/test_widget_sync.py. Here is what a model of a browser can't say:
that Streamlit's widgets and history do as the model does, and what becomes of a text that was typed without Enter.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Locator, Page, WebSocketRoute, expect

from attention.ui.text.implementations import ALL_HEADS
from tests.browser.conftest import EDITION, Tab, open_page, open_tab
from tests.samples import sample
from tests.server import Server

LOOK = 20  # milliseconds between two looks at what has come
CALM = 250  # milliseconds without a message after which the server has ended what it was asked for


@dataclass
class Line:
    """The line between a tab and its server, which may keep for a while what the server says."""

    socket: WebSocketRoute | None = None
    count: int = 0
    keeps: bool = False
    kept: list[bytes] = field(default_factory=list)

    def put(self, page: Page) -> None:
        """Takes the place of a tab's own line, before it opens a page."""
        page.route_web_socket("**/_stcore/stream", self._open)

    def _open(self, socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        socket.on_message(server.send)
        server.on_message(self._on_message)
        self.socket = socket

    def _on_message(self, message: bytes) -> None:
        self.count += 1
        self.kept.append(message)
        if not self.keeps:
            self._let_go()

    def _let_go(self) -> None:
        assert self.socket
        for message in self.kept:
            self.socket.send(message)
        self.kept.clear()

    @contextmanager
    def slow(self, page: Page) -> Iterator[None]:
        """What the server says meanwhile arrives in the end, all at once."""
        self.rest(page, 0)
        self.keeps = True
        yield
        self.answer(page)
        self.keeps = False
        self._let_go()

    def answer(self, page: Page) -> None:
        """Waits until the server has answered in full to what was sent to it last."""
        self.rest(page, len(self.kept) + 1)

    def rest(self, page: Page, least: int) -> None:
        """Waits until so many messages are kept, at least, and no more have come for a while."""
        calm = 0
        while calm < CALM or len(self.kept) < least:
            before = self.count
            page.wait_for_timeout(LOOK)
            calm = calm + LOOK if self.count == before else 0


@pytest.fixture(scope="module")
def line() -> Line:
    return Line()


@pytest.fixture(scope="module")
def greeted(chromium: Browser, server: Server, line: Line) -> Iterator[Tab]:
    """A tab at the end of the line."""
    with open_tab(chromium, [], server) as tab:
        line.put(tab.page)
        tab.page.goto(f"{server.url}/heads")
        yield tab


@pytest.fixture
def moved(tab: Tab) -> Tab:
    """It shows the 9th query and a temperature of 1.05."""
    query(tab).fill("9")
    query(tab).press("Enter")
    tab.wait_for_grid(query=9)
    tab.slider("temperature").press("ArrowRight")
    tab.wait_for_grid(query=9, temperature=1.05)
    tab.quiet()
    return tab


def query(tab: Tab) -> Locator:
    return tab.widget("query").locator("input")


def reset(tab: Tab) -> None:
    tab.widget("reset").get_by_role("button").click()


def test_a_number_typed_before_a_reset_is_seen_stands(moved, line):
    with line.slow(moved.page):
        reset(moved)
        line.answer(moved.page)
        query(moved).fill("3")
        query(moved).press("Enter")
    moved.wait_for_grid(query=3)
    expect(query(moved)).to_have_value("3")
    moved.slider("temperature").press("ArrowRight")
    moved.wait_for_grid(query=3, temperature=1.05)
    expect(query(moved)).to_have_value("3")


def test_a_link_gone_back_to_is_not_undone_by_what_was_on_the_screen(moved, line):
    with line.slow(moved.page):
        moved.page.go_back()
        line.answer(moved.page)
        moved.slider("heads").press("ArrowRight")
    moved.wait_for_grid(query=9, heads=9, d_model=513)
    expect(moved.slider("temperature")).to_have_value("1")


def test_what_the_first_button_of_a_page_set_stands_beside_what_is_chosen_before_it_is_seen(tab, line):
    small = {"tokens": "6", "d_model": "16", "heads": "2", "implementation": "head-matrices"}
    tab.page.goto(f"{tab.server.url}/implementations?{urlencode(small)}&{EDITION}")
    button = tab.page.get_by_role("button", name="Keys of another sequence, values of 8 channels")
    button.wait_for()
    with line.slow(tab.page):
        button.click()
        line.answer(tab.page)
        tab.widget("version").get_by_role("radio", name="corrected").click()
    tab.page.get_by_text(ALL_HEADS).click()
    tab.wait_for_grid(**small, version="as meant", keys=12, d_v=8)
    expect(tab.widget("keys").locator("input")).to_have_value("12")
    tab.page.goto(f"{tab.server.url}/heads")


def test_a_number_reset_and_typed_again_without_enter_counts(moved):
    reset(moved)
    moved.wait_for_grid()
    moved.quiet()
    query(moved).fill("9")
    moved.slider("temperature").press("ArrowRight")
    moved.wait_for_grid(temperature=1.05, query=9)


def test_a_copied_link_has_what_was_typed_without_enter(tab):
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    query(tab).fill("9")
    tab.page.get_by_role("button", name="Copy link").click()
    tab.page.get_by_text("Copied", exact=True).wait_for()
    assert tab.page.evaluate("navigator.clipboard.readText()") == f"{tab.server.url}/heads?{EDITION}&query=9"


@pytest.mark.parametrize(
    ("field", "typed"), sample([("query", "9"), ("text", "hello hello")], lambda field, _: field == "text")
)
def test_another_page_has_what_was_typed_without_enter(tab, field, typed):
    if field == "text":
        tab.open_more()
    tab.widget(field).locator("input, textarea").fill(typed)
    open_page(tab.page, "Masks")
    tab.page.wait_for_url("**/masks?*")
    tab.quiet()
    moved = {"tokens": "2"} if field == "text" else {}  # which follow it
    assert tab.link == moved | {field: typed}
    open_page(tab.page, "Heads")
    tab.wait_for_grid(**moved | {field: typed})
    tab.still()  # a reset while the page still draws would be lost


def test_a_sweep_reset_is_not_undone_by_what_is_moved_before_it_is_seen(tab, line):
    tab.page.goto(f"{tab.server.url}/timing?seconds=30&threads=1")
    tab.page.get_by_test_id("stSidebar").get_by_text("More settings", exact=True).click()
    seconds = tab.page.locator(".st-key-sweep_seconds input[type=range]")
    expect(seconds).to_have_value("30")
    tab.still()
    with line.slow(tab.page):
        reset(tab)
        line.answer(tab.page)
        seconds.press("ArrowRight")
    tab.page.wait_for_url("**/timing?v=4&seconds=31")
    expect(seconds).to_have_value("31")
    tab.page.goto(f"{tab.server.url}/heads")
