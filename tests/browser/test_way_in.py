"""What a newcomer meets: the name, a text of one's own, a next step, and on a phone the other pages and words."""

from __future__ import annotations

import re
from urllib.parse import urlencode, urlsplit

import pytest
from playwright.sync_api import expect

from attention.lessons.cards import gallery, path
from attention.ui.menu import page_title
from tests.browser.conftest import EDITION
from tests.samples import sample

DESK, PHONE = (1280, 800), (390, 844)
SEVEN = "all that glitters may well be gold"
UNDER = "([x, y]) => !!document.elementFromPoint(x, y).closest('[data-testid=stMain]')"
WITHIN = """() => { const button = document.querySelector(".st-key-fit-text");
    return button.getBoundingClientRect().right <= button.closest(".stColumn").getBoundingClientRect().right + 1; }"""
NAMED = """() => [...document.querySelectorAll("[data-testid=stLogoSpacer], .stAppToolbar")]
    .map((part) => getComputedStyle(part, "::before")).filter((found) => found.content === '"Attention Lab"').length"""


def test_a_text_that_is_typed_is_what_the_heads_read(tab):
    field = tab.widget("text").locator("input")
    field.fill(SEVEN)
    field.press("Enter")
    tab.wait_for_grid(text=SEVEN, tokens=7)
    assert tab.page.locator(".heads-grid .label.down").all_text_contents()[:7] == SEVEN.split()
    expect(tab.slider("tokens")).to_have_attribute("aria-valuetext", "7")
    tab.slider("tokens").press("ArrowRight")
    tab.wait_for_grid(text=SEVEN, tokens=8)
    expect(tab.page.get_by_text("Repeated to fill 8 tokens.")).to_be_visible()
    for width in (1280, 1024):
        tab.page.set_viewport_size({"width": width, "height": 800})
        assert tab.page.evaluate(WITHIN), f"the button is cut off at {width} pixels"
    tab.page.get_by_role("button", name="Show it once").click()
    tab.wait_for_grid(text=SEVEN, tokens=7)
    expect(tab.page.get_by_role("button", name="Show it once")).to_have_count(0)


@pytest.mark.extended
def test_typing_takes_the_place_of_noise(visit):
    tab = visit("?input=noise")
    tab.wait_for_grid(input="noise")
    expect(tab.page.get_by_text("The input is “noise”.")).to_be_visible()
    field = tab.page.get_by_role("textbox", name="Text")
    expect(field).to_have_value("")
    field.fill("שלום עולם <b>hi</b> 🙂")
    field.press("Enter")
    tab.wait_for_grid(text="שלום עולם <b>hi</b> 🙂", tokens=11, query=8)  # the last word that has letters
    assert tab.page.locator(".heads-grid b:text-is('hi')").count() == 0


@pytest.mark.extended
def test_a_text_that_is_too_long_is_cut_and_said_to_be(tab):
    tab.widget("text").locator("input").fill("glitter " * 2000)
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_text("Your text has 16,000 characters.")).to_be_visible()
    kept = ("glitter " * 250)[:-1]
    expect(tab.widget("text").locator("input")).to_have_value(kept)


@pytest.mark.extended
def test_the_next_steps_keep_what_is_set(visit):
    tab = visit("?temperature=2.0")
    tab.wait_for_grid(temperature=2.0)
    for page, link in (("Steps", ""), ("Softmax", "&topic=scaling"), ("Masks", "&topic=scaling")):
        tab.page.get_by_role("link", name="Next: ").click()
        expect(tab.page).to_have_title(f"{page} · Attention Lab")
        tab.page.wait_for_url(f"**?{EDITION}&temperature=2.0{link}")
        tab.still()
        expect(tab.slider("temperature")).to_have_value("2")


def test_the_name_of_the_app_is_above_everything(visit):
    tab = visit("masks")
    tab.still()
    for size in (DESK, PHONE):
        tab.page.set_viewport_size({"width": size[0], "height": size[1]})
        for _ in range(100):  # on a busy machine styles come late
            if tab.page.evaluate(NAMED):
                break
            tab.page.wait_for_timeout(100)
        assert tab.page.evaluate(NAMED) >= 1
    expect(tab.page).to_have_title("Masks · Attention Lab")


def test_on_a_phone_pages_and_settings_are_a_tap_away_and_a_chosen_page_is_not_covered(visit):
    tab = visit("?temperature=2.0", size=PHONE)
    tab.wait_for_grid(temperature=2.0)
    assert all(tab.page.evaluate(UNDER, [x, 300]) for x in (3, 20, 200, 387)), "nothing lies over the page"
    menu, pages = tab.page.get_by_test_id("stExpandSidebarButton"), tab.page.get_by_test_id("stSidebarNavLink")
    label = menu.evaluate("found => getComputedStyle(found, '::after').content")
    assert label == '"Menu and settings"' and menu.bounding_box()["height"] >= 40
    menu.click()
    expect(tab.page.locator('[data-testid="stSidebarNavLink"][aria-current="page"]')).to_be_in_viewport()
    expect(pages.filter(has_text="Find the bug")).to_be_in_viewport()
    expect(tab.widget("tokens")).to_be_in_viewport()
    pages.filter(has_text="Softmax").click()
    tab.page.wait_for_url(f"**/softmax?{EDITION}&temperature=2.0")
    expect(tab.page.get_by_role("link", name="Next: ")).to_contain_text("→ Masks")
    expect(tab.widget("tokens")).not_to_be_in_viewport()
    for x in (3, 20, 200, 387):  # it slides
        tab.page.wait_for_function(UNDER, arg=[x, 300])


def test_on_a_phone_a_tapped_cell_is_said_in_words(visit):
    tab = visit("", size=PHONE)
    tab.wait_for_grid()
    said, square = tab.page.locator("[data-of=said]"), tab.page.locator('.heads-grid [data-head="1"]')
    expect(said).to_have_text("Head 0, same word: “boat” (17) puts 43.0% each on “boat” (7) and “boat” (17).")
    readout, large = (tab.page.locator(f".heads-grid .{name}").bounding_box() for name in ("readout", "large"))
    assert readout["y"] + readout["height"] <= large["y"], "it covers no row"
    square.click()  # chooses the head alone: its query stays, and its largest key is read
    expect(said).to_have_text("Head 1, one back: “boat” (17) puts 91.0% of its weight on “the” (16).")
    map_of_head = tab.page.locator(".heads-grid .large canvas").first
    box = map_of_head.bounding_box()
    at = [box["width"] * 4.5 / 18, box["height"] * 5.5 / 18]
    map_of_head.click(position={"x": at[0], "y": at[1]})
    expect(said).to_contain_text("Head 1, one back: “so” (5) puts 91.2% of its weight on “steep” (4).")
    map_of_head.click(position={"x": at[1], "y": at[0]})
    expect(said).to_have_text("Head 1, one back: “so” (5) is masked for “steep” (4).")
    expect(said).to_be_in_viewport()
    names = [each.inner_text() for each in tab.page.locator(".heads-grid figcaption").all()]
    assert all("\n" in name or len(name.split()) > 2 for name in names[:7]), names


@pytest.mark.parametrize(("size", "lines"), sample([(DESK, 1), (PHONE, 2)], lambda size, _: size is PHONE))
def test_the_first_words_name_the_page_and_where_the_weights_come_from(visit, size, lines):
    tab = visit("", size=size)
    tab.wait_for_grid()
    first = tab.widget("page-title").locator("h1")
    expect(first).to_contain_text(re.compile("Learn · Heads.*Hand-built, not learned"))
    expect(first).to_be_in_viewport()
    height = first.evaluate("found => found.clientHeight / parseFloat(getComputedStyle(found).lineHeight)")
    assert round(height) <= lines


def test_links_of_examples_and_of_the_menu_are_right_in_a_new_tab(visit):
    tab = visit("examples?about=all")
    tab.page.get_by_role("link", name="Next: ").wait_for()
    links = tab.page.locator('a:visible:not([href^="#"])').evaluate_all(
        "found => found.map((a) => [a.innerText.trim(), a.href])"
    )
    pages = {card.example.title: page_title(card.example.page) for card in gallery().values()}
    assert pages.keys() <= {text for text, _ in links}, links
    for text, href in links:
        page = pages.get(text, text.rpartition("→ ")[2]).lower().replace(" ", "_")
        assert urlsplit(href).path == ("/" if page == "start" else f"/{page}"), (text, href)
    link = tab.page.get_by_role("link", name="Eight heads on one sentence")
    with tab.page.context.expect_page() as opened:
        link.click(button="middle")
    expect(opened.value).to_have_title("Heads · Attention Lab")
    assert urlsplit(opened.value.url).path == "/heads"
    opened.value.close()
    link.click()
    expect(tab.page).to_have_title("Heads · Attention Lab")


@pytest.mark.parametrize("size", sample([list(DESK), list(PHONE)], lambda size: size[0] < 400))
def test_an_example_has_its_picture_beside_its_words(visit, size):
    tab = visit("examples?about=all", size=size)
    tab.still()
    words = tab.page.get_by_text("Eight heads on one sentence")
    beside = """words => {  // at one moment: the buttons above still wrap while pictures load
      const picture = document.querySelector("[data-testid=stHtml] img").getBoundingClientRect();
      const { left, top } = words.getBoundingClientRect();
      return picture.right <= left && top < picture.top + picture.height / 2;
    }"""
    assert words.evaluate(beside)


@pytest.mark.extended
def test_a_step_on_the_same_page_has_an_address_of_its_own(visit):
    """Streamlit leaves the address as it was if a link opens the page that is open."""
    page = visit("masks?card=learn-9").page
    page.locator(".st-key-card-links").get_by_role("link", name="Next").click()
    page.wait_for_url("**card=learn-10")
    page.go_back()
    expect(page.locator(".st-key-card-bar")).to_contain_text("9 of 12")


@pytest.mark.parametrize(
    ("step", "picture"),
    [
        ("learn-8", ".stVegaLiteChart"),
        ("learn-10", ".st-key-mask-map canvas"),
    ],
)
def test_on_a_phone_the_picture_of_a_step_is_in_the_first_screen(visit, step, picture):
    card = path()[step]
    tab = visit(f"{card.example.page}?{urlencode(card.query)}", size=PHONE)
    tab.page.locator(picture).first.wait_for()
    tab.still()
    box = tab.page.locator(picture).first.bounding_box()
    assert box["y"] + 0.75 * box["height"] <= PHONE[1] and box["x"] + box["width"] <= PHONE[0], box
    assert tab.page.evaluate("document.querySelector('.stMain').scrollWidth") == PHONE[0], "nothing is cut at the side"


@pytest.mark.extended
def test_the_card_of_a_step_has_the_only_next_button(visit):
    page = visit("/?card=learn-1").page
    page.locator(".st-key-card-links").wait_for()
    expect(page.get_by_role("button", name="Go to step 2")).to_have_count(0)
    page.locator(".st-key-close-card button:visible").first.click()
    expect(page.get_by_role("button", name="Go to step 2")).to_be_visible()


@pytest.mark.extended
@pytest.mark.parametrize("size", [list(DESK), list(PHONE)])
def test_the_picture_of_a_step_opens_it(visit, size):
    page = visit("examples", size=size).page
    second = page.locator(".st-key-path-steps img").nth(1)
    second.scroll_into_view_if_needed()
    box = second.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url("**card=learn-2")
