"""Every drawing on a plain page, without Streamlit: its module, its style sheet, bytes from Python, and nothing else."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from attention.charts import theme
from tests.drawings import SIDE, grid, header, messages
from tests.server import ROOT

FILES = ROOT / "attention" / "components" / "browser"
PAGE = """<!doctype html><title>{name}</title><link rel="stylesheet" href="{name}.css"><main></main>
<script type="module">
  import {{ draw }} from "./{name}.js";
  const bytes = async (name) => new Uint8Array(await (await fetch(name)).arrayBuffer());
  const told = (window.told = []), ways = {{ onPin: (to) => told.push(to), onChoice: (to) => told.push(to) }};
  window.drawing = draw(document.querySelector("main"), await bytes("{name}.bin"), ways);
  window.again = async () => window.drawing.update(await bytes("again.bin"));
</script>"""


class Silent(SimpleHTTPRequestHandler):
    """Says nothing of what it serves."""

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The drawings without what knows Streamlit, a page and a message each."""
    folder = tmp_path_factory.mktemp("plain") / "files"
    shutil.copytree(FILES, folder, ignore=shutil.ignore_patterns("streamlit"))
    for name, message in messages().items():
        (folder / f"{name}.html").write_text(PAGE.format(name=name))
        (folder / f"{name}.bin").write_bytes(message)
    (folder / "again.bin").write_bytes(grid(2))
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """Where a server of files has the folder."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A tab that fails its test on an error."""
    wrong: list[str] = []
    with chromium.new_context() as context:
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(f"{error}"))
        page.on(
            "console",
            lambda told: wrong.extend([told.text] * (told.type == "error" and "favicon" not in told.location["url"])),
        )
        yield page
        assert not wrong


def colours(page: Page, head: int) -> list[list[str]]:
    """The colour in the middle of each cell of a head, as #rrggbb, row by row."""
    return page.evaluate(
        """([head, side]) => {
            const canvas = document.querySelectorAll(".square canvas")[head], pen = canvas.getContext("2d");
            const at = (i) => Math.floor((i + 0.5) * canvas.width / side), all = [...Array(side).keys()];
            const hex = (parts) => "#" + [...parts].map((part) => part.toString(16).padStart(2, "0")).join("");
            const colour = (q, k) => hex(pen.getImageData(at(k), at(q), 1, 1).data.slice(0, 3));
            return all.map((q) => all.map((k) => colour(q, k)));
        }""",
        [head, SIDE],
    )


def expected_colours(shift: int) -> list[list[str]]:
    """The colours of `grid(shift)`."""
    return [
        [
            theme.WEIGHTS["light"][-1] if key == (query - shift) % SIDE else theme.WEIGHTS["light"][0]
            for key in range(SIDE)
        ]
        for query in range(SIDE)
    ]


def test_the_grid_on_a_plain_page_shows_points_pins_follows_and_goes(page, address):
    page.goto(f"{address}/heads_grid.html")
    drawn = page.get_by_test_id("heads-grid")
    expect(drawn).to_have_attribute("data-painted", header(grid(1))["painted"])
    assert colours(page, 0) == colours(page, 1) == expected_colours(1)
    square = page.locator(".square").nth(1)
    box = square.bounding_box()
    where = {"x": 2.5 * box["width"] / SIDE, "y": 3.5 * box["height"] / SIDE}
    square.hover(position=where)
    expect(page.locator("[data-of=weight]")).to_have_text("100%")
    square.click(position=where)
    page.wait_for_function("window.told.length === 1")  # the head, with the query that was selected
    square.click(position=where)
    page.wait_for_function("window.told.length === 2")
    pins = [{"head": 1, "query": 5, "key": 4, "count": 1}, {"head": 1, "query": 3, "key": 2, "count": 2}]
    assert page.evaluate("window.told") == pins
    page.evaluate("window.again()")
    page.mouse.move(0, 0)
    assert colours(page, 0) == expected_colours(2)
    page.evaluate("window.drawing.destroy()")
    assert page.locator("main").inner_html() == ""


@pytest.mark.parametrize("name", sorted(messages()))
def test_each_drawing_is_painted_on_a_plain_page(page, address, name):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/{name}.html")
    drawn = page.get_by_test_id(name.replace("_", "-"))
    expect(drawn).to_have_attribute("data-painted", header(messages()[name])["painted"])
    assert not [url for url in asked if "streamlit" in url or not url.startswith(address)]
    page.evaluate("window.drawing.destroy()")
    assert page.locator("main").inner_html() == ""
