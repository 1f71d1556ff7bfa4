"""The map of layers and heads in a browser: a real model's induction head is two clicks away, on Heads and on Layers."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Tab

SOURCE = "recorded:smollm2-repeated"
MAP = ".st-key-layers"


def cell(tab: Tab, layer: int, head: int) -> Locator:
    """A cell of the map; the frame of what is in focus has no name."""
    return tab.page.locator(f'{MAP} path[aria-label^="Layer {layer}, head {head}:"]')


def opens(tab: Tab, layer: int, head: int, **more: str) -> None:
    """Clicks a cell and waits until the grid shows its layer, the head in focus."""
    cell(tab, layer, head).click()
    tab.wait_for_grid(source=SOURCE, layer=layer, head=head, **more)
    expect(tab.page.get_by_text(f"Layer {layer}, head {head} (selected):")).to_be_visible()


def _visit_heads(visit) -> Tab:
    """Heads with the map of all layers open."""
    tab = visit(f"?source={quote(SOURCE)}")
    tab.wait_for_grid(source=SOURCE)
    tab.page.locator("summary", has_text="Heads of all layers").click()
    return tab


def test_the_induction_head_of_a_real_model_is_two_clicks_away(visit):
    """One opens the map of all layers, the other takes the cell."""
    tab = _visit_heads(visit)
    expect(tab.page.get_by_text("Largest: layer 18, head 6,")).to_be_visible()
    opens(tab, 18, 6)
    expect(tab.page.get_by_text("“treatise” (75) puts 77.4% of its weight on “revert”").last).to_be_visible()
    assert tab.link == {"source": SOURCE, "layer": "18", "head": "6"}


@pytest.mark.extended
def test_a_cell_is_opened_again_after_a_field_has_led_elsewhere(visit):
    tab = _visit_heads(visit)
    for _ in range(2):
        opens(tab, 18, 6)
        tab.widget("head").locator("input").fill("2")
        tab.page.keyboard.press("Enter")
        tab.wait_for_grid(source=SOURCE, layer=18, head=2)
        expect(tab.page.get_by_text("Layer 18, head 2 (selected):")).to_be_visible()


def test_heads_are_put_in_focus_from_each_picture_of_the_page_layers_and_opened_on_heads(visit):
    tab = visit(f"layers?source={quote(SOURCE)}")
    cell(tab, 18, 6).click()
    expect(tab.page.get_by_text("It attends to what followed an earlier copy of the token")).to_be_visible()
    for fold in ("Two statistics compared", "Similar heads"):
        tab.page.locator("summary", has_text=fold).click()
    for key, layer, head in ((".st-key-numbers-compared", 11, 1), (".st-key-map-of-heads", 18, 7)):
        point = tab.page.locator(f'{key} path[aria-label*="layer: {layer};"][aria-label*="head: {head};"]')
        tab.still()
        point.click()
        expect(tab.page.locator(".st-key-head-stepper strong")).to_have_text(f"Layer {layer}, head {head}")
        tab.still()
        assert tab.link == {"source": SOURCE, "layer": f"{layer}", "head": f"{head}"}
    tab.page.get_by_text("Open layer 18 → Heads").click()
    tab.wait_for_grid(source=SOURCE, layer=18, head=7)


def test_a_click_on_the_map_of_the_selected_head_selects_its_row(visit):
    tab = visit(f"layers?source={quote(SOURCE)}&layer=18&head=6")
    head = tab.page.get_by_test_id("large-head")
    expect(head).to_contain_text("Framed: “lava” (38) puts")
    left, top, wide, high = map(float, str(head.locator("canvas").get_attribute("data-square")).split())
    for _ in range(2):
        head.locator("canvas").click(position={"x": left + wide / 152, "y": top + high * 30.5 / 76})
        expect(head.locator(".said")).to_contain_text("(30) puts")
        tab.page.mouse.move(0, 0)
        tab.still()
    expect(head).to_contain_text("Framed: “lava” (38) puts")
    head.locator("canvas").click(position={"x": left + wide / 152, "y": top + high * 30.5 / 76})
    tab.page.mouse.move(0, 0)
    expect(head.locator(".said")).to_contain_text(re.compile(r"^Framed: .* \(30\) puts "))
    tab.still()
    assert tab.link == {"source": SOURCE, "layer": "18", "head": "6", "query": "30"}


def test_the_lines_of_the_frame_are_hidden_while_the_pointer_has_lines_of_its_own(visit):
    tab = visit(f"layers?source={quote(SOURCE)}&layer=18&head=6")
    head = tab.page.get_by_test_id("large-head")
    expect(head).to_contain_text("Framed: “lava” (38) puts")
    canvas = head.locator("canvas")
    left, top, wide, high = map(float, str(canvas.get_attribute("data-square")).split())
    drawn = "canvas => canvas.toDataURL()"
    before = canvas.evaluate(drawn)
    canvas.hover(position={"x": left + wide / 4, "y": top + high * 3 / 4})
    assert canvas.evaluate(drawn) != before
    tab.page.mouse.move(0, 0)
    assert canvas.evaluate(drawn) == before
