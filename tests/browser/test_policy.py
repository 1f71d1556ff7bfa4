"""The policy that every page carries is kept wherever the menu leads; tests/browser/test_walk.py opens all that is on a page."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from attention.ui.text import sharing as text
from tests.browser.conftest import EDITION, GRID, SECONDS, open_page
from tests.browser.test_app import KNOBS
from tests.browser.test_app import PAGES as OF_CONFIGS
from tests.server import run_server

PAGES = sorted(path.stem for path in (Path(__file__).parents[2] / "pages").glob("*.py"))


def test_the_menu_leads_through_every_page_nothing_is_refused_and_nothing_forgotten(walker):
    tab = walker
    tab.page.goto(f"{tab.server.url}/heads?{EDITION}&{urlencode(KNOBS)}")
    tab.wait_for_grid(**KNOBS)
    assert tab.page.locator(".heads-grid .square canvas").count() == 4
    tab.slider("temperature").press("ArrowRight")
    now = KNOBS | {"temperature": "0.55"}
    tab.wait_for_grid(**now)
    for page in [*PAGES, "heads"]:
        name = page.replace("_", " ").capitalize()
        open_page(tab.page, name)
        expect(tab.page).to_have_title(f"{name} · Attention Lab")
        tab.still()
        if page in OF_CONFIGS:
            tab.page.wait_for_url(f"**?{EDITION}&{urlencode(now)}")
            expect(tab.slider("temperature")).to_have_value("0.55")
            expect(tab.slider("span")).to_have_value("7")
    tab.wait_for_grid(**now)
    assert tab.page.evaluate("refused") == []


def test_what_is_refused_is_seen_here(walker):
    """Else these tests would see nothing: a script of somebody's own, a picture from elsewhere, code that was text."""
    tab = walker
    tab.page.goto(f"{tab.server.url}/steps")
    tab.still()
    tab.page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.ran = 1";
            document.body.append(script);
            new Image().src = "data:text/html,x";
            new Image().src = "//127.0.0.2/x.png";
            setTimeout("window.ran = 1");
        }"""
    )
    tab.page.wait_for_timeout(300)
    refused = " ".join(tab.page.evaluate("refused"))
    assert "script-src-elem inline" in refused and "img-src" in refused and "script-src eval" in refused
    assert tab.page.evaluate("window.ran") is None
    tab.wrong.clear()  # the console told of it, too


@contextmanager
def school(url: str, folder: Path) -> Iterator[str]:
    """Another site, whose page shows the app in a frame."""
    (folder / "index.html").write_text(f'<iframe src="{url}/heads?embed=true" width=1200 height=700></iframe>')

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *given) -> None:
            super().__init__(*given, directory=str(folder))

        def log_message(self, *_) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{site.server_port}"
        site.shutdown()


@pytest.mark.extended
def test_the_app_stands_in_frames_of_sites_that_its_owner_names_and_of_no_others(chromium, tmp_path):
    # A port of the same host is another origin, so each of the two sites has one.
    with run_server(ATTENTION_FRAMES="self http://127.0.0.1:*") as open_to_all, run_server() as closed:
        for server, count in ((open_to_all, 1), (closed, 0)):
            with school(server.url, tmp_path) as site:
                page = chromium.new_context().new_page()
                page.goto(site)
                frame = page.frame_locator("iframe")
                if count:
                    expect(frame.locator(f"{GRID}[data-painted]")).to_be_visible()
                    expect(frame.locator(".stSidebar")).to_be_hidden()
                    expect(frame.get_by_role("link", name=text.OPEN_IN_LAB)).to_have_attribute("target", "_blank")
                else:
                    page.wait_for_timeout(1000)
                    assert frame.locator(".stApp").count() == 0
                    assert page.frames[1].url == "chrome-error://chromewebdata/"
                page.goto(f"{server.url}/heads")
                page.get_by_role("button", name=text.SHARE, exact=True).click(timeout=SECONDS)
                page.get_by_label(text.SITE, exact=True).fill(f"{site}/course")
                page.keyboard.press("Enter")
                expect(page.get_by_test_id("stAlert")).to_contain_text(
                    text.SITE_ALLOWED if count else "may not embed pages"
                )
                setting = page.get_by_test_id("stCode").get_by_text(f"ATTENTION_FRAMES=self,{site}", exact=True)
                expect(setting).to_have_count(1 - count)
                page.context.close()
