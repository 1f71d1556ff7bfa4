"""A long sequence in a browser: drawn head by head, cancelled, chosen with a slider."""

from __future__ import annotations

import re
from itertools import count
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from attention.ui.views.heads_long import WIDTHS
from tests.browser.conftest import GRID
from tests.samples import sample

SEEDS = count(1)  # another one in each rerun: the map of an earlier run may have been drawn to its end, and is kept


def test_a_cancelled_map_keeps_its_preview_and_can_be_drawn_again(visit):
    long = {"tokens": 32768, "heads": 32, "mask": "full", "input": "topics", "seed": next(SEEDS)}
    tab = visit(f"?{urlencode(long)}", theme="dark")
    tab.wait_for_grid(**long)
    tab.page.get_by_role("button", name="Cancel").click()
    expect(tab.page.get_by_text(re.compile(r"Cancelled: \d+ of 32 heads are exact"))).to_be_visible()
    tab.quiet()
    expect(tab.page.locator(GRID)).to_have_count(1)
    tab.page.get_by_role("button", name="Draw again").click()
    expect(tab.page.get_by_role("button", name="Cancel")).to_be_visible()
    expect(tab.page.get_by_text(re.compile(r"Exact weights: [1-9]\d* of 32 heads"))).to_be_visible()
    expect(tab.page.locator(GRID)).to_have_count(1)
    tab.page.get_by_role("button", name="Cancel").click()
    expect(tab.page.get_by_text(re.compile(r"Cancelled: \d+ of 32 heads are exact"))).to_be_visible()


def test_nothing_of_a_short_sequence_stays_beside_a_map_that_grows(visit):
    tab = visit("?mask=window")
    numbers = tab.page.get_by_text("Head statistics", exact=True)
    short = [tab.page.get_by_text("Selected row: lines"), tab.page.get_by_text("Compare MHA"), numbers]
    expect(tab.page.get_by_text("Downloads")).to_be_visible()
    tab.slider("tokens").press("End")
    tab.wait_for_grid(mask="window", tokens=65536)
    expect(tab.page.get_by_text(re.compile("Each bar: the largest weight of"))).to_be_visible()
    expect(tab.page.get_by_text(re.compile("Exact weights: [2-7] of 8 heads"))).to_be_visible()
    tab.page.get_by_role("button", name="Cancel").click()
    expect(tab.page.get_by_text(re.compile(r"Cancelled: \d of 8 heads are exact"))).to_be_visible()
    expect(tab.widget("head")).to_have_count(1)
    for part in short:
        expect(part).to_have_count(0)
    tab.widget("head").locator("input").fill("3")
    tab.page.keyboard.press("Enter")
    tab.wait_for_grid(mask="window", tokens=65536, head=3)
    tab.slider("tokens").press("Home")
    tab.wait_for_grid(mask="window", tokens=2, head=3)
    for part in (*short, tab.widget("head")):
        expect(part).to_have_count(1)


@pytest.mark.parametrize("size", sample([[1280, 800], [390, 844]], lambda size: size[0] < 400), ids=["wide", "narrow"])
def test_the_table_of_top_keys_is_read_without_scrolling_sideways(visit, size):
    tab = visit("?tokens=65536&heads=1&d_model=8", size=size)
    top = tab.page.get_by_test_id("stDataFrame").filter(has_text="Token")
    cells = top.locator("canvas [role=gridcell]")
    expect(cells.first).to_be_attached()
    assert top.locator(".dvn-scroller").evaluate("it => it.scrollWidth <= it.clientWidth")
    titles, said = top.locator("canvas [role=columnheader]").all_inner_texts(), cells.all_inner_texts()
    assert titles == ["Key", "Token", "Weight"]
    longest = ("65535", max(said[1::3], key=len), "0.00000123")
    long = tab.page.evaluate(
        """texts => {
            const pen = document.createElement("canvas").getContext("2d");
            pen.font = `600 14px ${getComputedStyle(document.body).fontFamily}`;
            return texts.map((text) => Math.ceil(pen.measureText(text).width));
        }""",
        [*titles, *longest],
    )
    for room, wide in zip([*WIDTHS.values()] * 2, long, strict=True):
        assert wide + 16 <= room, "what is longer is cut off"


@pytest.mark.parametrize(
    ("pool", "said"), sample([("max", "largest of"), ("mean", "mean of")], lambda pool, _: pool == "mean")
)
def test_what_is_pointed_at_says_what_its_pixel_is_of_many_weights(visit, pool, said):
    link = {"tokens": "2000", "heads": "1", "d_model": "8"} | ({"pool": pool} if pool != "max" else {})
    tab = visit(f"?{urlencode(link)}")
    tab.wait_for_grid(**link)
    tab.still()  # the preview gives way to the exact map
    square = tab.page.locator(".heads-grid .large")
    square.hover(position={"x": 40, "y": square.bounding_box()["height"] - 40})
    expect(tab.page.locator("[data-of=note]")).to_have_text(re.compile(rf"^(largest )?{said} \d+ × \d+$"))
    expect(tab.page.locator("[data-of=even]")).to_have_text(re.compile(r"^about [\d.e-]+ × uniform$"))


def test_the_length_is_a_logarithmic_slider(visit):
    tab = visit("?tokens=1000&heads=1&d_model=8")
    tab.wait_for_grid(tokens=1000, heads=1, d_model=8)
    slider = tab.slider("tokens")
    slider.focus()
    tab.page.keyboard.press("ArrowRight")
    tab.page.wait_for_timeout(150)  # the 1000 of the link is no stop, and still the second move counts
    tab.page.keyboard.press("ArrowRight")
    tab.wait_for_grid(tokens=1088, heads=1, d_model=8)
    tab.page.keyboard.press("End")
    tab.wait_for_grid(tokens=65536, heads=1, d_model=8)
    tab.page.keyboard.press("Home")
    tab.wait_for_grid(tokens=2, heads=1, d_model=8)
