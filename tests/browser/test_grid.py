"""The grid of heads in a real browser: every hot cell is seen, numbers and tokens are right, pins reach the server."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import pytest
from PIL import Image, ImageColor
from playwright.sync_api import Page, expect

from attention.charts.theme import WEIGHTS
from tests.browser.conftest import Tab
from tests.samples import sample
from tests.server import Server, run_server

HOT = 60  # of 255: what has so much more red than blue is no weight of zero

SCRIPT = """
import streamlit as st, torch
from attention import codec, head_maps
from attention.wire.cells import cells, pixel_cells
from attention.charts import theme
from attention.components.copy_link import copy_link
from attention.components.heads_grid import heads_grid
from attention.masks import MASKS
from attention.codec import fit_values

torch.set_num_threads(1)
st.set_page_config(layout="wide")
query = st.query_params.to_dict()
scene = query.pop("scene", "")
config, _ = codec.from_query(query)
pin = st.session_state.get("grid", {}).get("pin") if "grid" in st.session_state else None
if pin:
    config, _ = fit_values(vars(config) | {"head": pin["head"], "query": pin["query"]})
h, n = config.heads, config.tokens
mask = MASKS[config.mask].square(n, n, config.span)
if scene == "hot":
    weights, step = torch.zeros(h, n, n), n // 10
    for head in range(h):
        at = torch.arange(10) * step + step // 2 + head % 3
        weights[head, at[:, None], at[None, :]] = 1.0
else:
    weights = torch.arange(h * n * n).reshape(h, n, n).float().div(h * n * n).masked_fill(~mask, 0)
    weights[..., 0] = 0.0
    weights[:, 1, 1] = 0.00123456
found = cells(weights, mask, theme.side(h))
if scene == "rows":
    found = cells(mask.expand(h, n, n) * 0.05, mask, theme.side(h), with_sums=True)
if scene == "map":
    pixels = torch.zeros(h, 256, 256)
    pixels[:, 200, 100] = 0.5
    found = pixel_cells(pixels, torch.ones(256, 256, dtype=torch.bool).tril(), 256, torch.arange(1, 65537), 65536)
if scene == "hot map":
    n = int(query["long"])  # a hundred queries that see one key each
    spot = torch.arange(100)
    queries, keys = n // 200 + spot * (n // 100), n // 200 + (spot % 10 * 10 + spot // 10) * (n // 100)
    way = torch.nn.functional.normalize(torch.randn(100, 16, generator=torch.Generator().manual_seed(0)), dim=-1)
    q, k = torch.zeros(2, 1, n, 16)
    q[0, queries], k[0, keys] = 39 * way, way  # no score above 40: the short way
    maps = head_maps(q, k, mask="full", scale=1.0, side=theme.side(h), pool="max", stats=False)
    seen, everything = torch.ones_like(maps.pixels[0], dtype=torch.bool), torch.full((n,), n)
    found = pixel_cells(maps.pixels.expand(h, -1, -1), seen, maps.tile, everything, n)
got = heads_grid(config, found, note="preview", certain=1 if scene == "map" else None, end=0.5 if scene == "rows" else 0)
copy_link()
st.text(f"pinned {got['head']} {got['query']} {got['key']}" if got else "nothing pinned")
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of the script above, which stands in for the app's own."""
    script = tmp_path_factory.mktemp("grid") / "app.py"
    script.write_text(SCRIPT)
    with run_server(script) as server:
        yield server


@pytest.fixture
def opened(visit: Callable[..., Tab]) -> Callable[..., Tab]:
    """Opens a link, and returns when the grid is painted."""

    def opened(query: str, theme: str = "dark") -> Tab:
        tab = visit(f"?{query}", theme=theme, size=(1280, 900))
        tab.page.wait_for_selector("[data-testid=heads-grid][data-painted]")
        tab.page.wait_for_function("document.fonts.status === 'loaded'")
        return tab

    return opened


def is_hot(square: np.ndarray) -> np.ndarray:
    """Which pixels are well above zero, on a light or a dark page."""
    return square[:, :, 0] - square[:, :, 2] > HOT


def squares(page: Page) -> list[np.ndarray]:
    """Every head's square as it is on the screen."""
    screen = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB")).astype(int)
    boxes = page.evaluate(
        """() => [...document.querySelectorAll('.square')].map((square) => square.getBoundingClientRect())
        .map((box) => [box.left, box.top, box.right, box.bottom].map(Math.round))"""
    )
    return [screen[top:bottom, left:right] for left, top, right, bottom in boxes]


def canvas_pixels(page: Page, head: int) -> np.ndarray:
    """A head's canvas: pixels by RGBA."""
    png = page.evaluate("head => document.querySelectorAll('.square canvas')[head].toDataURL()", head)
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(png.partition(",")[2]))).convert("RGBA")).astype(int)


def cell(page: Page, head: int, query: int, key: int, n: int) -> tuple[float, float]:
    """Where on the page the middle of a cell is."""
    box = page.locator(".square").nth(head).bounding_box() or page.locator(".large").bounding_box()  # of the only head
    return box["x"] + (key + 0.5) * box["width"] / n, box["y"] + (query + 0.5) * box["height"] / n


def readout_text(page: Page, name: str) -> str:
    return page.locator(f'[data-of="{name}"]').inner_text()


def blobs(hot: np.ndarray) -> int:
    """Connected groups of pixels."""
    left, found = set(zip(*np.nonzero(hot), strict=True)), 0
    while left:
        found += 1
        edge = [left.pop()]
        while edge:
            y, x = edge.pop()
            near = {(y + i, x + j) for i in (-1, 0, 1) for j in (-1, 0, 1)} & left
            left -= near
            edge.extend(near)
    return found


@pytest.mark.parametrize(
    ("tokens", "theme"), sample([(128, "dark"), (512, "light"), (1024, "dark")], lambda tokens, _: tokens != 128)
)
def test_every_one_of_800_hot_cells_is_seen(opened, tokens, theme):
    page = opened(f"scene=hot&tokens={tokens}&mask=full&input=noise", theme).page
    page.mouse.move(5, 5)
    assert [blobs(is_hot(square)) for square in squares(page)] == [100] * 8


@pytest.mark.parametrize("tokens", sample([2048, 16384, 65536], lambda tokens: tokens == 65536))
def test_every_one_of_800_hot_cells_of_a_long_map_is_seen(opened, tokens):
    page = opened(f"scene=hot+map&long={tokens}&heads=8&tokens=8&input=noise", "dark").page
    page.mouse.move(5, 5)
    assert [blobs(is_hot(square)) for square in squares(page)] == [100] * 8


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_masked_cells_are_grey_and_zeros_are_the_lowest_colour(opened, theme):
    page = opened("tokens=8&heads=2&input=noise", theme).page
    inside, shown = canvas_pixels(page, 1), squares(page)[1]
    size = len(inside) // 8
    assert len(inside) == 8 * size, "cells are whole pixels"
    masked, zero = shown[1 : size - 1, 5 * size : 6 * size], shown[3 * size + 3 : 4 * size - 3, 3 : size - 3]
    assert (np.ptp(masked, axis=-1) <= 14).all() and (masked.min() > 30 if theme == "dark" else masked.min() > 200)
    assert (zero == ImageColor.getrgb(WEIGHTS[theme][0])).all()
    assert set(map(tuple, inside.reshape(-1, 4)[inside[:, :, 3].ravel() == 0])) == {(0, 0, 0, 0)}
    assert (inside[:size, size:, 3] == 0).all() and (inside[-size:, :, 3] == 255).all()


def test_every_cell_has_the_colour_of_its_weight(opened):
    page = opened("tokens=8&heads=2&mask=full&input=noise").page
    inside = canvas_pixels(page, 0)
    size = len(inside) // 8
    middles = inside[size // 2 :: size, size // 2 :: size, :3][2:, 1:].reshape(-1, 3)
    assert (np.diff(middles @ [0.2126, 0.7152, 0.0722]) >= -1).all(), "on a dark page, a larger weight is brighter"
    assert (inside.reshape(8, size, 8, size, 4).std((1, 3)) == 0).all(), "a cell is of one colour"


def test_pointing_tells_head_tokens_and_weight_without_a_message(opened):
    tab = opened("tokens=8&heads=2&mask=full&text=a+%3Cimg+src=x+onerror=alert(1)%3E&input=words")
    page = tab.page
    page.wait_for_timeout(300)
    before = len(tab.sent)
    for query, key, weight in ((1, 1, "0.123%"), (5, 2, "82.8%"), (3, 0, "0")):
        page.mouse.move(*cell(page, 1, query, key, 8), steps=5)
        page.wait_for_function("text => document.querySelector('[data-of=weight]').textContent === text", arg=weight)
        assert readout_text(page, "head") == "1"
        assert f"({query})" in readout_text(page, "query")
        assert f"({key})" in readout_text(page, "key")
    assert page.locator(".crossed i.row >> visible=true").count() == 3, (
        "the crosshair is in every head, and in the large one"
    )
    assert "<" in page.locator(".label.down").nth(1).inner_text()
    assert page.locator(".heads-grid img").count() == 0
    assert len(tab.sent) == before, "a moving pointer sent a message"


BARS = "document.querySelector('.bars canvas').toDataURL()"
ARROW = """() => {  // in pixels of the bars: where the arrow stands and ends, and how wide it is
    const [arrow, bars] = [".bars i", ".bars canvas"].map((each) => document.querySelector(each).getBoundingClientRect());
    return [arrow.left + arrow.width / 2 - bars.left, arrow.bottom - bars.top, arrow.width, bars.width, bars.height];
}"""


@pytest.mark.parametrize(
    ("softmax", "total", "said"),
    [
        ("sink", "sink 70.0%", "gives each of its 6 visible keys about 5.0%."),
        ("sigmoid", "sum 0.30", "weighs “was” (3) by 0.0500"),
    ],
)
def test_what_a_row_lacks_or_its_sum_is_in_the_readout(opened, softmax, total, said):
    """Six keys of 0.05 each; a row that sums to one says nothing. Bars reach the end that another side needs."""
    page = opened(f"scene=rows&tokens=18&softmax={softmax}").page
    page.mouse.move(*cell(page, 2, 5, 3, 18))
    page.wait_for_function("document.querySelector('[data-of=query]').innerText.includes('(5)')")
    assert (
        readout_text(page, "query").endswith(f" · {total}") and said in page.locator('[data-of="said"]').text_content()
    )
    assert page.locator(".bars").get_attribute("data-most") in ("50%", "0.500")
    plain = opened("tokens=18").page
    plain.mouse.move(*cell(plain, 2, 5, 3, 18))
    plain.wait_for_function("document.querySelector('[data-of=query]').innerText.includes('(5)')")
    assert "·" not in readout_text(plain, "query")


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_what_is_pointed_at_has_an_arrow_and_is_no_bar(opened, theme):
    """Also over a weight of nearly nothing and over a masked cell: the bars are those of the row, whatever the key."""
    page = opened("tokens=8&heads=2&input=noise", theme).page
    seen = set()
    for key, weight, share in ((5, "85.2%", 0.852), (3, "83.6%", 0.836), (0, "0", 0), (7, "masked", 0)):
        page.mouse.move(*cell(page, 1, 5, key, 8))
        page.wait_for_function("text => document.querySelector('[data-of=weight]').textContent === text", arg=weight)
        seen.add(page.evaluate(BARS))
        middle, end, thick, width, height = page.evaluate(ARROW)
        assert middle == pytest.approx((key + 0.5) * width / 8, abs=1.5)
        assert height - end == pytest.approx(share * (height - 2), abs=1.5), "it ends where the bar begins"
        assert thick < width / 8
    assert len(seen) == 1
    assert page.locator(".bars").get_attribute("data-most") == "100%", "the end of their scale, whatever the key"
    for scale in ("log", "times+even"):
        page = opened(f"tokens=8&heads=2&input=noise&colors={scale}", theme).page
        page.mouse.move(*cell(page, 1, 5, 3, 8))
        page.wait_for_function("document.querySelector('[data-of=weight]').textContent === '83.6%'")
        middle, end, thick, width, height = page.evaluate(ARROW)
        assert height - end == pytest.approx(0.836 * (height - 2), abs=1.5), "only colours are logarithmic"
        assert page.locator(".bars").get_attribute("data-most") == "100%"


def test_a_tile_says_where_its_greatest_stands(opened):
    page = opened("scene=hot&tokens=1024&mask=full&input=noise").page
    x, y = cell(page, 0, 51, 153, 1024)
    for right, down in product((0, 1), (0, 1)):  # a cell smaller than a pixel is drawn by one of those it touches
        page.mouse.move(x + right, y + down)
        page.wait_for_timeout(50)
        if readout_text(page, "weight") == "100%":
            break
    assert (readout_text(page, "query"), readout_text(page, "key")) == ("51", "153")
    assert re.fullmatch(r"largest of \d+ × \d+, at query 51, key 153", readout_text(page, "note"))


def test_another_head_keeps_the_selected_query_of_a_tile(opened):
    """Also its row of bars says that a bar is the largest of several weights."""
    page = opened("tokens=1024&heads=3&input=noise&query=1021").page
    page.mouse.click(*cell(page, 1, 4, 2, 1024))
    page.get_by_text("pinned 1 1021 ").wait_for()
    page.keyboard.press("]")
    page.get_by_text("pinned 2 1021 ").wait_for()
    assert (
        page.locator(".spread p").inner_text().startswith("Each bar: largest weight of queries 1,020–1,023 and 6 keys")
    )


def test_a_map_of_65536_tokens_is_drawn_without_places_and_names(opened):
    page = opened("scene=map&tokens=8&heads=2&input=words").page
    assert blobs(is_hot(squares(page)[1])) == 1
    x, y = cell(page, 1, 200, 100, 256)
    page.mouse.move(x + 1, y)  # the pixel that shows this cell, as there are fewer pixels than cells
    page.wait_for_function("() => document.querySelector('[data-of=weight]').textContent === '50.0%'")
    assert re.fullmatch(r"51,200 to 51,\d\d\d", readout_text(page, "query"))
    assert readout_text(page, "note").startswith("preview from one query per tile: largest of "), (
        "head 0 alone is exact"
    )
    expect(page.locator(".spread p")).to_have_text("The row is drawn once this head is exact.")
    expect(page.locator(".bars")).to_be_hidden()
    x, y = cell(page, 0, 200, 100, 256)
    page.mouse.move(x + 1, y)
    page.wait_for_function("() => document.querySelector('[data-of=head]').textContent === '0'")
    assert readout_text(page, "note").startswith("largest of ")
    places, picked = (
        [int(text.replace(",", "")) for text in page.locator(f".label.down{which}").all_text_contents()]
        for which in (":not(.picked)", ".picked")
    )
    (step,) = {*map(int.__sub__, places[1:], places)}
    assert f"{step}".rstrip("0") in ("1", "2", "5"), "round positions, no tokens"
    assert picked == [int(readout_text(page, "query").split()[0].replace(",", ""))], (
        "the query that is pointed at has a label"
    )
    assert page.get_by_text("preview", exact=True).is_visible()


def test_a_click_pins_and_keys_move_the_pin(opened):
    page = opened("tokens=8&heads=3&mask=full&input=noise").page
    page.mouse.click(*cell(page, 1, 4, 2, 8))
    page.get_by_text(
        "pinned 1 7 "
    ).wait_for()  # beside a large head, the first click selects the head and keeps the query
    page.mouse.click(*cell(page, 1, 4, 2, 8))
    page.get_by_text("pinned 1 4 2").wait_for()
    assert page.locator("figure.focus figcaption b").inner_text() == "Head 1"
    for key in ("ArrowUp", "ArrowRight", "]", "PageUp", "]", "End"):
        page.keyboard.press(key)
    page.get_by_text("pinned 2 3 7").wait_for()
    live = page.locator(".live")
    assert live.inner_text() == "Head 2, query 3, key 7: weight 82.8%"
    page.keyboard.press("Home")
    assert live.inner_text() == "Head 2, query 3, key 0: weight 0"
    page.keyboard.press("Escape")
    page.get_by_text("pinned 1 4 2").wait_for()
    assert live.inner_text().startswith("Head 1, query 4, key 2")
    assert "head=1" in page.locator(".heads-grid").get_attribute("data-painted")
    page.locator(".squares figcaption").nth(2).click()
    page.get_by_text("pinned 2 4 ").wait_for()  # a caption selects its head as its map does, and keeps the query


def test_the_key_names_what_is_masked_only_if_something_is(opened):
    for mask, is_shown in (("causal", True), ("full", False)):
        page = opened(f"tokens=8&heads=3&mask={mask}&input=noise").page
        expect(page.locator(".scale .of-masked")).to_be_visible(visible=is_shown)


def test_moving_the_focus_repaints_nothing(opened):
    page = opened("tokens=8&heads=3&input=noise").page
    page.evaluate("""() => {
        window.paints = 0;
        const put = CanvasRenderingContext2D.prototype.putImageData;
        CanvasRenderingContext2D.prototype.putImageData = function (...all) {
            if (this.canvas.closest('.square')) window.paints++;
            return put.apply(this, all);
        };
    }""")
    page.mouse.click(*cell(page, 2, 4, 2, 8))
    page.wait_for_selector("[data-painted*='head=2']")
    page.mouse.click(*cell(page, 2, 4, 2, 8))
    page.wait_for_selector("[data-painted*='query=4']")
    assert page.evaluate("window.paints") == 0
    page.set_viewport_size({"width": 1000, "height": 900})
    page.wait_for_function("window.paints === 3")  # another size is painted anew


def test_a_query_that_sees_nothing_says_so(opened):
    page = opened("tokens=4&heads=1&mask=padding&span=9&input=noise").page
    page.mouse.move(*cell(page, 0, 2, 2, 4))
    page.wait_for_function(
        "() => document.querySelector('[data-of=note]').textContent === 'This query has no visible key.'"
    )
    assert readout_text(page, "weight") == "masked"


def test_the_row_as_a_table_is_sorted(opened):
    page = opened("tokens=64&heads=1&mask=full&input=noise&query=5").page
    page.locator("summary", has_text="Row as table").click()
    page.locator("tbody tr").nth(49).wait_for()
    keys = page.locator("tbody td:first-child").all_inner_texts()
    assert keys == [str(key) for key in range(63, 13, -1)]


def test_the_squares_fit_the_window(opened):
    page = opened("tokens=128&heads=8&input=noise").page
    grid = page.locator(".heads-grid").bounding_box()
    lines = {page.locator(".square").nth(head).bounding_box()["y"] for head in range(8)}
    assert len(lines) == 4 and grid["height"] <= 560
    assert page.locator(".large").bounding_box()["width"] >= 400
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_function("() => !document.querySelector('.heads-grid').classList.contains('wide')")
    boxes = [page.locator(".square").nth(head).bounding_box() for head in range(8)]
    assert len({box["x"] for box in boxes}) == 3
    assert max(box["x"] + box["width"] for box in boxes) <= 390
    bars, large = page.locator(".bars").bounding_box(), page.locator(".large").bounding_box()
    assert bars["y"] + bars["height"] < large["y"] < bars["y"] + bars["height"] + 60
    assert (bars["x"], bars["width"]) == (large["x"], large["width"]), "a bar is above the column of its key"


def test_a_tapped_map_is_shown_large_in_a_narrow_window(opened):
    page = opened("tokens=18&heads=8&input=noise").page
    page.set_viewport_size({"width": 390, "height": 600})
    page.wait_for_function("() => !document.querySelector('.heads-grid').classList.contains('wide')")
    page.locator(".square").nth(7).click()
    page.wait_for_function("() => document.querySelector('.large').getBoundingClientRect().top >= 0")


def test_all_heads_are_saved_as_one_picture(opened):
    page = opened("tokens=8&heads=2&mask=full&input=noise").page
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG").click()
    assert download.value.suggested_filename == "attention-heads.png"
    picture = Image.open(download.value.path()).convert("RGB")
    heads = page.locator(".heads").bounding_box()
    assert picture.width > 2 * heads["width"] and picture.height > 2 * heads["height"]
    box = page.locator(".square").nth(1).bounding_box()
    down, across = (int(box["width"] * at / 8) for at in (4.5, 5.5))  # query 4, key 5
    at = 2 * (16 + box["x"] - heads["x"] + across), 2 * (16 + box["y"] - heads["y"] + down)
    assert picture.getpixel(tuple(map(int, at))) == tuple(squares(page)[1][down, across])


def test_the_link_is_copied_even_without_a_clipboard(opened):
    page = opened("tokens=8&heads=2&input=noise").page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button, copied = page.get_by_role("button", name="Copy link"), page.get_by_text("Copied", exact=True)
    button.click()
    copied.wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    copied.wait_for(state="detached")
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')); }")
    button.click()
    copied.wait_for()
    page.evaluate("() => { document.execCommand = () => false; }")
    button.click()
    page.get_by_text("Select and copy it from here").wait_for()
    assert page.locator(".copy-link input").input_value() == page.url
