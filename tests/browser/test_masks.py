"""The Masks page in a real browser: pictures are the rules, a click uses a mask everywhere, or joins it with another."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from attention import Config
from attention.analysis.mask_gallery import gallery
from tests.browser.conftest import open_page
from tests.samples import sample

GALLERY = '[data-testid="mask-gallery"]'
PICTURES = """(gallery) => [...document.querySelectorAll(gallery + " li[data-mask]")].map((card) => {
    const canvas = card.querySelector("canvas"), { width, height } = canvas;
    const pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
    return { name: card.dataset.mask, side: width, kept: [...pixels].filter((_, i) => i % 4 === 3) };
})"""


def used_card(tab, **knobs):
    """Waits until the gallery shows the config of these knobs, and gives the card of the rule in use."""
    tab.page.wait_for_function(
        """([gallery, query]) => {
            const painted = document.querySelector(gallery)?.dataset.painted;
            if (painted === undefined) return false;
            const same = (a, b) => JSON.stringify([...a].sort()) === JSON.stringify([...b].sort());
            return same([...new URLSearchParams(painted)].filter(([name]) => name !== "v"), Object.entries(query));
        }""",
        arg=[GALLERY, {name: str(value) for name, value in knobs.items()}],
        timeout=20_000,
    )
    return tab.page.locator(f"{GALLERY} li.used")


def card_to_join(tab, how, mask):
    """The card of a mask, after choosing what a click on it does."""
    choice = tab.page.locator(GALLERY).get_by_role("button", name=how, exact=True)
    if choice.get_attribute("aria-pressed") == "false":
        choice.click()
    return tab.page.get_by_role("button", name=f"{how} {mask}", exact=True)


def use(tab, mask):
    return tab.page.get_by_role("button", name=f"Use this mask: {mask}", exact=True)


@pytest.mark.parametrize(
    ("tokens", "span"), sample([(7, 2), (200, 30), (65_536, 512)], lambda tokens, _: tokens == 200)
)
def test_every_picture_is_its_rule(visit, tokens, span):
    tab = visit(f"masks?tokens={tokens}&span={span}")
    used_card(tab, tokens=tokens, span=span)
    found = tab.page.evaluate(PICTURES, GALLERY)
    exhibits = gallery(tokens, span, 4)
    assert [each["name"] for each in found] == [exhibit.name for exhibit in exhibits]
    for each, exhibit in zip(found, exhibits, strict=True):
        assert each["kept"] == exhibit.pixels.flatten().tolist()


def test_a_click_uses_a_mask_everywhere(visit):
    tab = visit("masks")
    assert used_card(tab).get_attribute("data-mask") == "causal"
    use(tab, "window").click()
    assert used_card(tab, mask="window").get_attribute("data-mask") == "window"
    assert tab.link == {"mask": "window"}
    assert use(tab, "window").get_attribute("aria-pressed") == "true"
    open_page(tab.page, "Heads")
    tab.wait_for_grid(mask="window")


def test_a_card_changes_the_picture_and_a_token_is_chosen_in_it(visit):
    tab = visit("masks")
    used_card(tab)
    row, map_ = (tab.page.locator(f".st-key-mask-{part} [data-testid=sentence-head]") for part in ("row", "map"))
    expect(row.locator(".now-name")).to_have_text("With the mask: causal")
    expect(row.locator(".earlier .masked")).to_have_count(0)
    tab.page.locator(f"{GALLERY} [data-mask=window]").click(position={"x": 90, "y": 40})  # beside the picture
    used_card(tab, mask="window")
    expect(row.locator(".now-name")).to_have_text("With the mask: window")
    row.locator(".now .chip").nth(9).click()
    used_card(tab, mask="window", query=9)
    expect(tab.page.locator(".st-key-mask-picture")).to_contain_text("the framed “the” loses 14 of 18 words")
    expect(row.locator(".now .masked")).to_have_count(14)
    row.locator(".earlier .chip").nth(12).click()
    used_card(tab, mask="window", query=12)
    map_.locator(".map").hover(position={"x": 200, "y": 5})
    for tokens in "earlier", "now":
        expect(row.locator(f".{tokens} .selected")).to_have_text(re.compile("^The"))
    map_.locator(".map").click(position={"x": 200, "y": 5})
    used_card(tab, mask="window", query=0)
    expect(map_.locator(".chips").first).to_be_hidden()


@pytest.mark.extended
def test_keys_use_a_mask_too(visit):
    tab = visit("masks")
    used_card(tab)
    use(tab, "documents").focus()
    tab.page.keyboard.press("Enter")
    assert used_card(tab, mask="documents").get_attribute("data-mask") == "documents"


def test_a_click_joins_masks_and_parts_them(visit):
    tab = visit("masks")
    used_card(tab)
    hint = tab.page.locator(f"{GALLERY} .hint")
    card = card_to_join(tab, "without", "window")
    expect(hint).to_have_text("Takes the pairs of the second away. Now click the second mask.")
    card.click()
    used = used_card(tab, combine="without", second="window")
    expect(hint).to_have_text("In use: causal without window")
    expect(tab.page.get_by_test_id("stSidebarUserContent")).to_contain_text("In use: causal without window")
    assert used.bounding_box()["y"] < card.bounding_box()["y"], "in view, above the masks that it is made of"
    assert used.get_attribute("data-mask") == "causal without window"
    assert "4 fully masked" in used.inner_text()
    square = Config(combine="without", second="window").rule.square(18, 18, 4)
    assert tab.page.evaluate(PICTURES, GALLERY)[-1]["kept"] == (square * 255).flatten().tolist()
    card_to_join(tab, "and", "documents").click()
    used_card(tab, combine="and")  # documents is what a second mask is by default
    card_to_join(tab, "and", "documents").click()
    assert used_card(tab).get_attribute("data-mask") == "causal"


BOXES = """(gallery) => [...document.querySelectorAll(gallery + " li")].filter((card) => card.offsetParent).map(
    (card) => Object.values(card.getBoundingClientRect().toJSON()).map(Math.round)
)"""


def assert_unmoved(tab, before):
    """Cards are where they were, but for a pixel: a scrolled page keeps its place in whole ones."""
    now = tab.page.evaluate(BOXES, GALLERY)
    assert len(now) == len(before) and all(
        box == pytest.approx(was, abs=1) for box, was in zip(now, before, strict=True)
    )


@pytest.mark.parametrize("size", sample([[1280, 900], [390, 800]], lambda size: size[0] < 400))
def test_joining_masks_moves_no_card_and_keeps_the_focus(visit, size):
    tab = visit("masks?mask=causal", size=size)
    used_card(tab)
    tab.page.locator(".st-key-mask-map [data-painted]").wait_for()  # the cards are below it in a narrow window
    tab.quiet()
    card = card_to_join(tab, "or", "documents")
    card.focus()
    before = tab.page.evaluate(BOXES, GALLERY)
    tab.page.keyboard.press("Enter")
    assert used_card(tab, combine="or").get_attribute("data-mask") == "causal or documents"
    tab.still()
    assert_unmoved(tab, before)
    expect(card).to_be_focused()
    tab.page.keyboard.press("Enter")
    assert used_card(tab).get_attribute("data-mask") == "causal"
    tab.still()
    assert_unmoved(tab, before)


def test_the_fold_with_the_second_mask_stays_open(visit):
    tab = visit("masks?tokens=16")
    tab.quiet()
    sidebar = tab.page.get_by_test_id("stSidebarUserContent")
    tab.open_more()
    tab.page.wait_for_timeout(500)  # while a fold unfolds, a menu in it shuts
    tab.choose("combine", "or")
    sidebar.get_by_text("In use: causal or documents", exact=True).wait_for()
    tab.quiet()
    tab.choose("second", "window")
    sidebar.get_by_text("In use: causal or window", exact=True).wait_for()
    tab.quiet()
    tab.choose("combine", "none")
    expect(tab.widget("second")).to_have_count(0)
    expect(tab.widget("combine")).to_be_visible()


@pytest.mark.extended
def test_the_details_of_the_mask_in_use(visit):
    tab = visit("masks?mask=prefix&span=6")
    used_card(tab, mask="prefix", span=6)
    tab.page.get_by_text("Effect on every head").click()
    tab.widget("mask_detail").get_by_text("code", exact=True).click()
    tab.page.get_by_text("def mask_mod(b, h, q_idx, kv_idx):").wait_for()
    tab.widget("mask_detail").get_by_text("fully masked rows", exact=True).click()
    tab.page.get_by_text("every query has a visible key").wait_for()
    tab.page.get_by_role("button", name="Try one with fully masked rows").click()
    tab.page.get_by_text("NaN gradients").first.wait_for()
    tab.widget("mask_detail").get_by_text("effect", exact=True).click()
    tab.page.get_by_text("Head 0, difference").wait_for()
    tab.page.locator(".js-plotly-plot").nth(2).wait_for()


@pytest.mark.extended
def test_layers_are_moved_by_keys(visit):
    tab = visit("masks?mask=window")
    used_card(tab, mask="window")
    tab.page.get_by_text("Reach through stacked layers").click()
    tab.slider("depth").focus()
    tab.page.keyboard.press("ArrowRight")
    used_card(tab, mask="window", depth=5)
    expect(tab.page.get_by_role("row", name="window 15 0")).to_be_visible()


def test_on_a_phone_the_masks_are_one_row_that_scrolls_and_the_page_does_not(visit):
    tab = visit("masks?tokens=1024&span=64", theme="dark", size=(390, 800))
    used_card(tab, tokens=1024, span=64)
    measured = "cards => cards.map((card) => card.getBoundingClientRect().toJSON())"  # at one moment: the page may move
    boxes = tab.page.locator(f"{GALLERY} li[data-mask]").evaluate_all(measured)
    assert len({box["top"] for box in boxes}) == 1 and max(box["right"] for box in boxes) > 390
    assert tab.page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390


@pytest.mark.extended
def test_all_masks_are_in_the_first_screen_of_a_laptop(visit):
    tab = visit("masks?mask=padding", size=(1280, 800))
    used_card(tab, mask="padding")
    lowest = (
        f"Math.max(...[...document.querySelectorAll('{GALLERY} li')].map((li) => li.getBoundingClientRect().bottom))"
    )
    assert tab.page.evaluate(lowest) <= 800


@pytest.mark.extended
def test_a_question_opens_on_a_click(visit):
    tab = visit("masks?predict=mask&mask=strided")
    tab.page.get_by_text("How many keys are visible to query 17?").wait_for()
    assert tab.page.locator(GALLERY).count() == 0
    tab.page.get_by_role("button", name="Reveal answer", exact=True).click()
    used_card(tab, predict="mask", mask="strided")
    tab.page.get_by_role("button", name="End question").click()
    used_card(tab, mask="strided")


@pytest.mark.extended
def test_groupings_are_compared_and_chosen_on_the_heads_page(visit):
    tab = visit("?grouping=show")
    tab.wait_for_grid(grouping="show")
    tab.widget("kv-2").get_by_role("button").click()
    tab.wait_for_grid(grouping="show", kv_heads=2)
    assert tab.page.locator("figcaption").filter(has_text="kv 1").count() == 4
    tab.page.get_by_test_id("stVegaLiteChart").first.locator("canvas, svg").first.wait_for()
