"""JupyterLab in a browser: the widget is drawn, pointed at, and tells Python what was clicked; it follows the theme."""

from __future__ import annotations

import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Locator, Page, expect

from attention.charts import theme
from tests.browser.conftest import SECONDS
from tests.notebooks import environment, notebook
from tests.server import free_port

pytest.importorskip("jupyterlab", reason="JupyterLab is not installed: requirements-dev.txt has it")
pytestmark = pytest.mark.extended
AGAIN = 5000  # milliseconds until a key counts as dropped
SHOW = "shown = attention.show(weights, tokens=tokens)"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a JupyterLab that has one notebook, and asks nobody for news."""
    import nbformat

    folder = tmp_path_factory.mktemp("lab")
    (folder / "files").mkdir()
    nbformat.write(notebook(SHOW, "print(shown.pinned)"), folder / "files" / "heads.ipynb")
    port = free_port()
    words = ["--no-browser", "--allow-root", f"--ServerApp.root_dir={folder / 'files'}", f"--ServerApp.port={port}"]
    words += [
        "--ServerApp.port_retries=0",
        "--IdentityProvider.token=",
        "--LabApp.news_url=",
        "--LabApp.expose_app_in_browser=True",
    ]
    words += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    with (folder / "log").open("wb") as log:
        command = [sys.executable, "-m", "jupyterlab", *words]
        server = subprocess.Popen(command, env=environment(folder), stdout=log, stderr=log, cwd=folder)
    try:
        answers(f"http://127.0.0.1:{port}/api", server, folder / "log")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(30)


def answers(url: str, server: subprocess.Popen, log: Path) -> None:
    """Waits until a server does; fails with its log where it has ended."""
    for _ in range(600):
        assert server.poll() is None, log.read_text()[-3000:]
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(log.read_text()[-3000:])


def run(cell: Locator) -> None:
    """Runs a cell, and sees that it was taken: a page that is still made drops keys."""
    taken = cell.locator(".jp-InputPrompt", has_text=re.compile(r"\[(\*|\d+)\]:"))
    for _ in range(SECONDS // AGAIN):
        cell.locator(".cm-content").click()
        cell.page.keyboard.press("Shift+Enter")
        with suppress(Error):
            taken.wait_for(timeout=AGAIN)
            break
    expect(taken).to_be_visible()


@pytest.fixture(scope="module")
def page(chromium: Browser, lab: str) -> Iterator[Page]:
    """The notebook, its first two cells run."""
    wrong: list[str] = []
    with chromium.new_context(viewport={"width": 1400, "height": 1000}) as context:
        page = context.new_page()
        page.set_default_timeout(SECONDS)
        page.on("pageerror", lambda error: wrong.append(f"{error}"))
        asks = page.locator("dialog.jp-Dialog")  # for a kernel, say, where its list comes late
        page.add_locator_handler(asks, lambda: asks.locator("button.jp-mod-accept").click())
        page.goto(f"{lab}/lab/tree/heads.ipynb?reset")
        page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').wait_for()  # else there is nobody to run it
        cells = page.locator(".jp-CodeCell")
        for at in range(2):
            run(cells.nth(at))
        page.get_by_test_id("heads-grid").wait_for(timeout=2 * SECONDS)  # torch is imported before
        yield page
        assert not wrong


def test_what_is_clicked_comes_back_to_python(page):
    drawn = page.get_by_test_id("heads-layers")
    drawn.locator(".layers").select_option("2")
    expect(drawn).to_have_attribute("data-painted", "layer 2")
    square = drawn.locator(".square").nth(1)
    box = square.bounding_box()
    for _ in "head", "cell":  # the first click selects the head, the second its cell
        square.click(position={"x": 1.5 * box["width"] / 6, "y": 3.5 * box["height"] / 6})
    expect(drawn.locator(".word-lines .said")).to_contain_text("“sat” (3) puts 100% on “the” (1)")
    run(page.locator(".jp-CodeCell").nth(2))
    expect(page.locator(".jp-OutputArea-output", has_text="'layer': 2")).to_have_text(
        "{'part': '', 'layer': 2, 'head': 1, 'query': 3, 'key': 1}"
    )
    assert page.evaluate("window.ran") is None


def test_it_follows_the_theme(page):
    def colours() -> list[str]:
        return page.evaluate(
            """() => {
                const { style } = document.querySelector(".heads-layers");
                return ["--text", "--line"].map((name) => style.getPropertyValue(name));
            }"""
        )

    assert colours() == [theme.NEUTRALS["light"][name] for name in ("text", "line")]
    page.evaluate("jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' })")
    page.wait_for_function(
        "(text) => document.querySelector('.heads-layers').style.getPropertyValue('--text') === text",
        arg=theme.NEUTRALS["dark"]["text"],
    )
    assert colours() == [theme.NEUTRALS["dark"][name] for name in ("text", "line")]
    lines = "document.querySelector('.word-lines .lit')"
    assert page.evaluate(f"{lines}.width > 100 && {lines}.width >= {lines}.clientWidth")
