"""A long sequence in a browser: drawn head by head, zoomed by a dragged rectangle, cancelled."""

from __future__ import annotations

import re

from playwright.sync_api import expect

LINK = "?tokens=4096&heads=4&d_model=64&input=refrain&colors=log"


def test_a_rectangle_is_drawn_anew_down_to_single_tokens_and_back(visit):
    tab = visit(LINK)
    tab.painted(tokens=4096, heads=4, d_model=64, input="refrain", colors="log")
    expect(tab.page.get_by_text("Drag a rectangle to see it more finely.")).to_be_visible()
    expect(tab.page.get_by_text(re.compile("equals SDPA")).first).to_be_visible()
    tab.quiet()
    plot = tab.page.locator(".st-key-focus .nsewdrag").first
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    tab.page.mouse.move(box["x"] + 0.50 * box["width"], box["y"] + 0.60 * box["height"])
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + 0.53 * box["width"], box["y"] + 0.63 * box["height"], steps=5)
    tab.page.mouse.up()
    expect(
        tab.page.get_by_text(re.compile(r"Queries 2,\d+ to 2,\d+, keys [12],\d+ to 2,\d+: every token"))
    ).to_be_visible()
    assert re.fullmatch(r"2\d+-2\d+", tab.link["rows"])
    tab.page.get_by_role("button", name="Whole head").click()
    expect(tab.page.get_by_text("Queries 0 to 4,095, keys 0 to 4,095: 22 x 22 tokens a pixel.")).to_be_visible()
    assert "rows" not in tab.link


def test_a_cancelled_map_keeps_its_preview_and_can_be_drawn_again(visit):
    tab = visit("?tokens=32768&d_model=512&heads=8&mask=full&input=topics", theme="dark")
    tab.painted(tokens=32768, mask="full", input="topics")
    tab.page.get_by_role("button", name="Cancel").click()
    expect(tab.page.get_by_text(re.compile(r"Cancelled: \d of 8 heads are exact"))).to_be_visible()
    tab.quiet()
    tab.page.get_by_role("button", name="Draw again").click()
    expect(tab.page.get_by_role("button", name="Cancel")).to_be_visible()
    tab.page.get_by_role("button", name="Cancel").click()
    expect(tab.page.get_by_text(re.compile(r"Cancelled: \d of 8 heads are exact"))).to_be_visible()


def test_the_length_is_a_logarithmic_slider(visit):
    tab = visit("?tokens=1000&heads=1&d_model=8")
    tab.painted(tokens=1000, heads=1, d_model=8)
    slider = tab.slider("tokens")
    slider.focus()
    tab.page.keyboard.press("ArrowRight")
    tab.page.wait_for_timeout(150)  # the 1000 of the link is no stop, and still the second move counts
    tab.page.keyboard.press("ArrowRight")
    tab.painted(tokens=1088, heads=1, d_model=8)
    tab.page.keyboard.press("End")
    tab.painted(tokens=65536, heads=1, d_model=8)
    tab.page.keyboard.press("Home")
    tab.painted(tokens=2, heads=1, d_model=8)
