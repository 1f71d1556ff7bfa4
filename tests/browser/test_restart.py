"""A server that is killed and started again finds its visitors where they were."""

from __future__ import annotations

from contextlib import ExitStack

from playwright.sync_api import expect

from tests.browser.conftest import EDITION, open_tab
from tests.server import free_port, run_server

LINKS = {"tokens=24&heads=4&d_model=128": "1.05", "tokens=30&mask=window&temperature=1.5": "1.55"}


def test_everybody_is_back_at_the_own_settings_without_a_reload(chromium):
    """What a browser shows stays; it connects again by itself, and the next change goes on from there."""
    port = free_port()
    with ExitStack() as stack:
        with run_server(port=port) as server:
            tabs = [stack.enter_context(open_tab(chromium, [], server)) for _ in LINKS]
            for tab, link in zip(tabs, LINKS, strict=True):
                tab.page.goto(f"{server.url}/heads?{link}&{EDITION}")
                tab.wait_for_grid(**dict(part.split("=") for part in link.split("&")))
                tab.quiet()
                tab.page.evaluate("window.stayed = 1")
            server.kill()
            for tab in tabs:
                expect(tab.page.locator('.stApp[data-test-connection-state="CONNECTED"]')).to_have_count(0)
        with run_server(port=port) as again:
            for tab, (link, temperature) in zip(tabs, LINKS.items(), strict=True):
                tab.quiet()
                tab.slider("temperature").press("ArrowRight")
                tab.wait_for_grid(**dict(part.split("=") for part in link.split("&")) | {"temperature": temperature})
                assert tab.page.evaluate("window.stayed") == 1
            assert "Traceback" not in again.log.read_text()
