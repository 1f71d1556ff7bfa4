"""The Start page in a browser: the story, token by token, and the way to Heads."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import EDITION


def shares(tab) -> dict[str, str]:
    """What the tokens say of their weights, by token."""
    chips = tab.page.locator(".sentence-head:not(.no-chips) [data-token]")
    return {chip.locator("b").inner_text(): chip.locator("small").inner_text() for chip in chips.all()}


@pytest.fixture
def start(visit):
    tab = visit("/")
    expect(tab.page.locator(".sentence-head:not(.no-map) canvas")).to_be_visible()
    tab.still()
    return tab


def test_the_story_in_three_clicks(start):
    page = start.page
    expect(page.get_by_text("“bank” puts 70.7% of its weight on “river”.").first).to_be_visible()
    assert shares(start)["river"] == "70.7%"
    canvas = page.locator(".sentence-head:not(.no-map) canvas").bounding_box()
    assert canvas["width"] >= 400
    sizes = page.locator(".sentence-head:not(.no-map) span, .sentence-head:not(.no-chips) b").evaluate_all(
        "found => found.map((e) => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert min(sizes) >= 12
    page.get_by_role("radio", name="She opened an account").click()
    expect(page.get_by_text("“bank” puts 66.4% of its weight on “account”.").first).to_be_visible()
    page.get_by_role("button", name="Go to step 2").click()
    page.get_by_role("button", name="4 · more even").click()
    expect(page.get_by_text("at temperature 4.")).to_be_visible()
    page.get_by_role("button", name="Go to step 3").click()
    expect(page.get_by_text("the closest of these is “money”")).to_be_visible()
    assert "start=sentence.account~step.take+over~temperature.4.0" in page.url


def test_a_key_pressed_twice_on_a_size_opens_heads(start):
    """The second press is about the page that the first one has left."""
    slider = start.page.get_by_role("slider", name="Heads").first
    slider.focus()
    for _ in range(2):
        start.page.keyboard.press("ArrowRight")
    expect(start.page.locator(".heads-grid .large canvas")).to_be_visible()
    expect(start.page.get_by_text("This part of the page failed")).to_have_count(0)


@pytest.mark.parametrize("width", [1280, 390])
def test_the_map_is_in_the_first_screen_and_keeps_its_place_at_every_temperature(start, width):
    page = start.page
    page.set_viewport_size({"width": width, "height": 800})
    page.get_by_role("button", name="Go to step 2").click()
    tops = []
    for name, share in (("4 · more even", "19.2%"), ("0.5 · sharper", "97.4%")):
        page.get_by_role("button", name=name).click()
        expect(page.get_by_text(f"largest weight, {share}").first).to_be_visible()
        start.still()
        tops.append(page.locator(".sentence-head:not(.no-map) canvas").bounding_box()["y"])
    page.get_by_role("radio", name="She opened an account").click()
    expect(page.get_by_text("largest weight, 93.5%").first).to_be_visible()
    start.still()
    if width == 1280:  # both sentences have one line there
        tops.append(page.locator(".sentence-head:not(.no-map) canvas").bounding_box()["y"])
    assert {*tops} == {tops[0]} and tops[0] < 640
    grounds = [
        page.get_by_role("button", name=name).evaluate("(button) => getComputedStyle(button).backgroundColor")
        for name in ("Go to step 3", "0.5 · sharper")
    ]
    assert grounds[0] != grounds[1], "the chosen temperature does not look like the next thing to do"


def test_on_a_phone_a_scale_below_the_map_is_seen_to_change_the_tokens(start):
    page = start.page
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("button", name="Go to step 2").click()
    page.get_by_role("button", name="none ·").click()
    expect(page.locator(".st-key-story-chips .chip small", has_text="over 99.9%")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("sentence", ["river", "account"])
def test_what_the_word_becomes_is_in_the_first_screen_and_the_map_keeps_its_place(visit, sentence):
    tab = visit(f"/?start=sentence.{sentence}")
    page, tops = tab.page, set()
    charts = page.locator(".stVegaLiteChart").locator("visible=true")
    page.set_viewport_size({"width": 1280, "height": 800})
    for step in ("Look", "Weigh", "Combine"):
        page.get_by_role("radio", name=step).click()
        if step == "Combine":
            expect(charts).to_have_count(3)
        tab.still()
        tops.add(page.locator(".sentence-head:not(.no-map) canvas").bounding_box()["y"])
    assert len(tops) == 1
    fold = page.locator("[data-testid=stExpander]", has_text="six layers").first
    box = fold.bounding_box()
    assert box["y"] + box["height"] <= 800, "what the head does, and what all layers do"
    strips = charts.first.locator(".mark-rect path")
    assert strips.count() == 32 * {"river": 3, "account": 4}[sentence], "a cell per channel of each part and of the sum"
    bars = page.locator(".stVegaLiteChart").nth(1).locator(".mark-rect path[aria-label]")
    fills = {bar.get_attribute("aria-label").split("change: ")[1][0]: bar.get_attribute("fill") for bar in bars.all()}
    assert fills.keys() == {"+", "−"} and fills["+"] != fills["−"], "the two signs have two colours"
    tokens = page.locator(".st-key-story-chips .chip").last.bounding_box()
    said = page.locator(".st-key-story-first p").first.bounding_box()
    if sentence == "river":
        assert said["y"] < tokens["y"] + 8 and tokens["x"] + tokens["width"] < said["x"], "beside the tokens"
    else:
        assert said["y"] >= tokens["y"] + tokens["height"], "there is no room beside them"


def test_a_token_that_is_pointed_at_shades_the_sentence_and_a_click_keeps_it(start):
    page = start.page
    chip = page.locator('.sentence-head:not(.no-chips) [data-token="1"]')
    before = page.locator(".sentence-head:not(.no-map) canvas").bounding_box()
    chip.hover()
    assert shares(start)["river"] == ""
    expect(page.locator(".sentence-head:not(.no-map) .said")).to_have_text(
        re.compile("^Pointing at “he” → .*“bank”[)]$")
    )
    said, canvas = (page.locator(f".sentence-head:not(.no-map) {part}").bounding_box() for part in (".said", "canvas"))
    assert canvas == before, "nothing moves"
    assert said["y"] + said["height"] <= canvas["y"]  # the sentence on the token is between the tokens and the map
    page.mouse.move(0, 0)
    assert shares(start)["river"] == "70.7%"
    chip.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/?start=query.1")
    expect(page.get_by_text("“he” puts").first).to_be_visible()
    expect(chip).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("ArrowRight")
    expect(page.locator('.sentence-head:not(.no-chips) [data-token="2"]')).to_be_focused()


@pytest.mark.extended
def test_shares_are_written_as_in_the_finding_and_scores_stay_in_their_column(visit):
    tab = visit("/?start=scale.none~step.weigh~sentence.account")
    page = tab.page
    expect(page.get_by_text("largest weight, over 99.9%").first).to_be_visible()
    expect(page.locator(".sentence-head:not(.no-map) canvas")).to_be_visible()
    tab.still()
    assert shares(tab)["account"] == "over 99.9%"
    expect(page.locator(".sentence-head:not(.no-map) .said")).to_contain_text("Point at a token")
    page.locator(".sentence-head:not(.no-chips) [data-token]").filter(has_text="bank").hover()
    expect(page.locator(".sentence-head:not(.no-map) .said")).to_contain_text("→ “account”: over 99.9%")
    table, column = (page.locator(f".st-key-scores{part}").bounding_box() for part in (" table", ""))
    assert table["x"] + table["width"] <= column["x"] + column["width"] + 1


def test_a_long_sentence_keeps_the_largest_share_on_a_phone(visit):
    tab = visit("masks?v=3&mask=full")
    tab.page.set_viewport_size({"width": 390, "height": 800})
    expect(tab.page.locator(".sentence-head:not(.no-chips) .chip small:visible")).to_have_text(["19.7%"])


def test_a_length_opens_heads_and_back_returns_to_the_story(start):
    slider = start.page.locator(".st-key-story_heads input[type=range]")
    slider.press("ArrowRight")
    start.page.wait_for_url(f"**/heads?{EDITION}&*heads=13*")
    start.wait_for_grid(tokens=11, heads=13, d_model=390)
    start.page.go_back()
    expect(start.page.locator(".sentence-head:not(.no-map) canvas")).to_be_visible()
    expect(start.page.locator(".st-key-story_heads input[type=range]")).to_have_value("12")


def test_a_link_that_was_shared_from_the_root_opens_heads(visit):
    tab = visit("/?tokens=12&v=3")
    tab.wait_for_grid(tokens=12)
    tab.page.wait_for_url("**/heads?*tokens=12*")
