"""The large head of a long sequence in a browser: a part of it is chosen with pointer, wheel and keys, and is true."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, expect

from attention import Config, trace

SMALL = {"tokens": "1500", "heads": "2", "d_model": "16", "input": "refrain", "head": "1"}


def link(**more: str) -> str:
    """The query string of `SMALL` and what is asked for beside it."""
    return "?" + urlencode(SMALL | more)


@pytest.fixture
def opened(visit):
    """Opens a link to the large head, of `SMALL` and what is asked for beside it."""

    def opened(theme: str = "light", **more: str):
        tab = visit(link(**more), theme=theme)
        tab.wait_for_grid(**SMALL, **more)
        expect(tab.page.get_by_text(re.compile("the same as PyTorch")).first).to_be_visible()
        tab.quiet()
        head = tab.page.get_by_test_id("large-head")
        shows(tab, head, **more)
        head.scroll_into_view_if_needed()
        return tab, head

    return opened


def shows(tab, head: Locator, **more: str) -> None:
    """Waits until the large head shows what the server made of a link."""
    want = {**SMALL, **more}
    tab.page.wait_for_function(
        """want => {
            const painted = document.querySelector("[data-testid=large-head]")?.dataset.painted ?? "";
            const found = Object.fromEntries(new URLSearchParams(painted));
            return ["rows", "cols"].every((name) => (found[name] ?? "") === (want[name] ?? ""));
        }""",
        arg=want,
    )


def test_a_link_to_a_part_shows_it_as_soon_as_the_head_is_exact(visit):
    tab = visit(link(seed="11", rows="500-899"))
    expect(tab.page.get_by_text("Queries 500 to 899, keys 0 to 1,499: 4 x 4 tokens per pixel.")).to_be_visible()
    expect(tab.page.get_by_test_id("large-head").get_by_role("button", name="Whole head")).to_be_enabled()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_question_about_a_row_shows_the_head_without_its_weights(visit, theme):
    tab = visit("?predict=row&query=9", theme=theme)
    head = tab.page.get_by_test_id("large-head")
    said = "The weights are hidden until the answer is revealed. The question is about the framed row."
    expect(head).to_contain_text(said)
    left, top, wide, high = map(float, str(head.locator("canvas").get_attribute("data-square")).split())
    head.locator("canvas").hover(position={"x": left + wide / 36, "y": top + high / 2})
    expect(head).to_contain_text(said)
    expect(head.get_by_role("button", name="PNG")).to_be_hidden()
    expect(tab.page.get_by_role("combobox", name="Colour scale")).to_have_count(0)
    tab.page.get_by_role("button", name="Reveal answer", exact=True).click()
    expect(tab.page.get_by_test_id("heads-grid")).to_be_visible()
    expect(tab.page.get_by_role("combobox", name="Colour scale")).to_be_visible()


# What imports a component's script, in Streamlit's; and the same, where the first import of a script ends when it is let go.
IMPORT = re.compile(r"await \w+\(\(\)=>import\((\w+)\),\[\],import\.meta\.url\)")
HELD = r"""await import(\1).then((script) => {
    const begun = (window.begun ??= new Map());
    return begun.has(\1) ? script : new Promise((go) => begun.set(\1, () => go(script)));
})"""


def delay_first_call(page) -> None:
    """Lets the first call of every component come after the later ones, as it can while its script loads."""

    def served(route) -> None:
        answer = route.fetch()
        body, count = IMPORT.subn(HELD, answer.text())
        assert count == 1
        route.fulfill(response=answer, body=body)

    page.route(re.compile(r"/BidiComponent\."), served)


def stable_picture(shown) -> bytes:
    """A picture of this once it no longer changes: what came last may be drawn late."""
    last = shown.screenshot()
    for _ in range(50):
        shown.page.wait_for_timeout(300)
        picture, last = last, shown.screenshot()
        if picture == last:
            return last
    raise AssertionError("It never stands still.")


def test_a_call_that_comes_late_while_a_script_loads_leaves_the_newest_data(visit):
    tab = visit(link(heads="4", rows="500-899"), before=delay_first_call)
    expect(tab.page.get_by_text(re.compile("the same as PyTorch")).first).to_be_visible()
    tab.choose("colors", "log")
    tab.wait_for_grid(**SMALL | {"heads": "4", "rows": "500-899", "colors": "log"})
    large, heads = tab.page.get_by_test_id("large-head"), tab.page.locator(".heads-grid")
    large.locator("canvas[data-square]").wait_for()
    tab.quiet()
    before = stable_picture(large), stable_picture(heads)
    assert tab.page.evaluate("() => window.begun.forEach((go) => go()) ?? window.begun.size") > 2
    tab.page.wait_for_timeout(300)
    assert (stable_picture(large), stable_picture(heads)) == before
    expect(large.get_by_role("button", name="Whole head")).to_be_enabled()
    heads.locator(".heads").press("]")
    tab.page.wait_for_url(re.compile(r"[?&]head=(2|3)"))
    assert tab.link["head"] == "2"  # heard once


def place(head: Locator, across: float, down: float) -> tuple[float, float]:
    """A point of the square on the screen, from 0 to 1 in both directions."""
    canvas = head.locator("canvas")
    box = canvas.bounding_box()
    left, top, width, height = map(float, canvas.get_attribute("data-square").split())
    return box["x"] + left + across * width, box["y"] + top + down * height


def drag(tab, head: Locator, start: tuple[float, float], end: tuple[float, float]) -> None:
    """A rectangle from one point of the square to another."""
    tab.page.mouse.move(*place(head, *start))
    tab.page.mouse.down()
    tab.page.mouse.move(*place(head, *end), steps=5)
    tab.page.mouse.up()


def part(tab) -> dict[str, tuple[int, ...]]:
    """First and last of the rows and columns that the link says, as soon as it names any."""
    tab.page.wait_for_url(lambda url: "rows=" in url and "cols=" in url)
    return {name: tuple(map(int, tab.link[name].split("-"))) for name in ("rows", "cols")}


def test_a_rectangle_is_drawn_anew_down_to_single_tokens_and_back(opened):
    tab, head = opened()
    drag(tab, head, (0.50, 0.60), (0.60, 0.72))
    expect(
        tab.page.get_by_text(re.compile(r"Queries 9\d\d to 1,0\d\d, keys 7\d\d to [89]\d\d: every token"))
    ).to_be_visible()
    found = part(tab)
    assert found["rows"] == pytest.approx((900, 1079), abs=6) and found["cols"] == pytest.approx((750, 899), abs=6)
    head.get_by_role("button", name="Whole head").click()
    expect(tab.page.get_by_text("Queries 0 to 1,499, keys 0 to 1,499: 3 x 3 tokens per pixel.")).to_be_visible()
    tab.page.wait_for_url(lambda url: "rows=" not in url)
    assert tab.link == SMALL


def test_the_wheel_is_the_pages_until_the_head_is_clicked_and_keeps_the_token_under_the_pointer(opened):
    tab, head = opened("dark")
    tab.page.mouse.move(*place(head, 0.25, 0.75))
    tab.page.mouse.wheel(0, -40)
    tab.page.wait_for_timeout(500)
    assert tab.link == SMALL
    head.scroll_into_view_if_needed()
    x, y = place(head, 0.25, 0.75)
    tab.page.mouse.click(x, y)
    for _ in range(3):
        tab.page.mouse.wheel(0, -200)
    expect(tab.page.get_by_text(re.compile(": every token"))).to_be_visible()
    (top, bottom), (left, right) = part(tab).values()
    assert bottom - top == right - left == pytest.approx(1500 / 8, abs=1)
    assert top + 0.75 * (bottom - top) == pytest.approx(0.75 * 1500, abs=4)
    assert left + 0.25 * (right - left) == pytest.approx(0.25 * 1500, abs=4)


def test_keys_zoom_move_and_come_back(opened):
    tab, head = opened(rows="400-599", cols="300-499")
    head.locator(".square").focus()
    tab.page.keyboard.press("ArrowDown")
    shows(tab, head, rows="450-649", cols="300-499")
    tab.page.keyboard.press("+")
    shows(tab, head, rows="500-599", cols="350-449")
    for key in ("-", "ArrowLeft"):  # one after the other, before the server has heard of the first
        tab.page.keyboard.press(key)
    shows(tab, head, rows="450-649", cols="250-449")
    tab.page.keyboard.press("0")
    shows(tab, head)
    assert tab.link == SMALL


def test_the_number_under_the_pointer_is_the_weight(opened):
    tab, head = opened(rows="1000-1039", cols="990-1029")
    whole = trace(Config(**{name: int(value) if value.isdigit() else value for name, value in SMALL.items()})).weights[
        1
    ]
    said = head.locator(".said")
    for query, key in ((1039, 990), (1020, 1005), (1010, 1009)):
        tab.page.mouse.move(*place(head, (key - 990 + 0.5) / 40, (query - 1000 + 0.5) / 40))
        expect(said).to_contain_text(f"query {query:,}, key {key:,}: weight ")
        assert float(said.locator("b").inner_text().rstrip("%")) == pytest.approx(
            100 * whole[query, key].item(), rel=5e-3
        )
    tab.page.mouse.move(*place(head, 0.9, 0.1))
    expect(said).to_contain_text("masked")


def test_the_picture_is_taken_along(opened, tmp_path):
    tab, head = opened(rows="1000-1039", cols="990-1029", colors="log")
    with tab.page.expect_download() as download:
        head.get_by_role("button", name="PNG").click()
    assert download.value.suggested_filename == "attention-head-1.png"
    download.value.save_as(tmp_path / "head.png")
    picture = np.asarray(Image.open(tmp_path / "head.png").convert("RGB"))
    assert (
        picture.shape[0] > 300 and (picture[2, 2] == 255).all() and len(np.unique(picture.reshape(-1, 3), axis=0)) > 200
    )


def test_a_flat_part_is_drawn_in_its_shape_and_buttons_stay_where_they_are(opened):
    tab, head = opened()
    before = head.get_by_role("button", name="PNG").bounding_box()
    drag(tab, head, (0.2, 0.5), (0.8, 0.55))
    expect(
        tab.page.get_by_text(re.compile(r"Queries 7\d\d to 8\d\d, keys 3\d\d to 1,1\d\d: 3 x 3 tokens per pixel"))
    ).to_be_visible()
    (top, bottom), (left, right) = part(tab).values()
    shows(tab, head, rows=f"{top}-{bottom}", cols=f"{left}-{right}")
    width, height = map(float, head.locator("canvas").get_attribute("data-square").split()[2:])
    assert height / width == pytest.approx((bottom - top + 1) / (right - left + 1), abs=0.02)
    tab.page.mouse.move(*place(head, 0.5, 0.97))
    last = int(re.search(r"query ([\d,]+)(?: to ([\d,]+))?,", head.locator(".said").inner_text())[2].replace(",", ""))
    assert last <= bottom
    assert head.get_by_role("button", name="PNG").bounding_box() == before


def test_a_tap_reads_a_cell_and_zooms_there(chromium, server, visit):
    context = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{server.url}/heads?" + "&".join(f"{name}={value}" for name, value in (SMALL | {"seed": "3"}).items()))
    head = page.get_by_test_id("large-head")
    expect(head.get_by_role("button", name="Zoom in")).to_be_enabled(timeout=60_000)
    head.scroll_into_view_if_needed()
    page.touchscreen.tap(*place(head, 0.25, 0.75))
    expect(head.locator(".said")).to_contain_text(re.compile(r"query 1,1\d\d"))
    head.get_by_role("button", name="Zoom in").tap()
    expect(page.get_by_text(re.compile(r"Queries 56\d to 1,3\d\d, keys 1[89]\d to 9[34]\d"))).to_be_visible(
        timeout=60_000
    )
    context.close()
