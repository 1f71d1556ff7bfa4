"""The policy that every page carries is kept by every page, with all that can be opened on it."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from attention.knobs import KNOBS
from tests.browser.conftest import GRID, of_today
from tests.server import run_server

PAGES = sorted(path.stem for path in (Path(__file__).parents[2] / "pages").glob("*.py"))
LINKS = [  # each page, what is drawn by other means than at first, and all that a choice opens
    *(page if page != "heads" else "" for page in PAGES),
    "?tokens=4096&heads=2&d_model=32",
    *(f"softmax?topic={topic}" for topic in (KNOBS["topic"].choices or ())[1:]),
]
WATCH = """
    window.refused = [];
    document.addEventListener("securitypolicyviolation", (event) =>
        refused.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber} ${event.sample}`));
"""
CHARTS = ".js-plotly-plot, [data-testid=stVegaLiteChart]"
FOLDS = '[data-testid="stExpander"] details:not([open]) summary'


def watch_page(page: Page) -> None:
    page.add_init_script(WATCH)


def test_a_browser_refuses_nothing_of_any_page_with_all_its_folds_open(visit):
    tab = visit(before=watch_page)
    refused = {}
    for link in LINKS:
        tab.page.goto(f"{tab.server.url}/{of_today(link)}")
        tab.still()
        open_folds(tab)
        for chart in tab.page.locator(CHARTS).all()[:2]:
            chart.hover()
        tab.page.wait_for_timeout(300)  # charts are drawn after the run
        refused[link] = tab.page.evaluate("refused")
    assert refused == {link: [] for link in LINKS}


def open_folds(tab) -> None:
    """Opens every fold, those too that are in another; all that are seen are clicked together, as each takes a run."""
    for _ in range(20):
        folds = tab.page.locator(FOLDS)
        if not folds.count():
            return
        folds.evaluate_all("(all) => all.forEach((one) => one.click())")
        tab.still()
    raise AssertionError(f"{tab.page.url} has no end of folds")


def test_the_menu_leads_through_every_page_and_nothing_is_refused(visit):
    tab = visit(before=watch_page)
    tab.wait_for_grid()
    for name in [*(page.replace("_", " ").capitalize() for page in PAGES), "Heads"]:
        tab.page.get_by_test_id("stTopNavLink").get_by_text(name, exact=True).click()
        expect(tab.page).to_have_title(f"{name} · Attention Lab")
        tab.still()
    tab.wait_for_grid()
    assert tab.page.evaluate("refused") == []


def test_what_is_refused_is_seen_here(visit):
    """Else these tests would see nothing: a script of somebody's own, a picture from elsewhere, code that was text."""
    tab = visit(before=watch_page)
    tab.wait_for_grid()
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
    (folder / "index.html").write_text(f'<iframe src="{url}/?embed=true" width=1200 height=700></iframe>')

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
                else:
                    page.wait_for_timeout(1000)
                    assert frame.locator(".stApp").count() == 0
                page.context.close()
