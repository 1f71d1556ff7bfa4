"""A head in front of a room, in a frame of another page, and on paper; the picture that a chat is given."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from playwright.sync_api import expect

from attention.ui.question_codec import CustomQuestion, encode
from attention.ui.text import sharing as text

pytestmark = pytest.mark.extended


@pytest.mark.parametrize("size", [(1024, 768), (1920, 1080)])
def test_a_presentation_fills_the_screen_and_keys_change_its_head(visit, size):
    page = visit("heads?head=3&view=present", size=size).page
    picture = page.locator("img.presentation")
    expect(picture).to_have_attribute("alt", "Head 3 (of 8)", timeout=30_000)
    expect(page.locator(".st-key-present .stBidiComponent")).to_be_attached(timeout=30_000)
    box = picture.bounding_box()
    assert box
    assert (box["width"], box["height"]) == size
    expect(page.locator(".stSidebar")).to_be_hidden()
    page.keyboard.press("ArrowRight")
    expect(picture).to_have_attribute("alt", "Head 4 (of 8)", timeout=30_000)
    page.keyboard.press("Escape")
    expect(picture).to_have_count(0, timeout=30_000)
    expect(page).not_to_have_url(re.compile("view="))


def test_space_reveals_the_answer_beside_a_presented_head(visit):
    asked = CustomQuestion("Which word?", ("boat", "river"), "river", "Because.", hides=False)
    page = visit(f"heads?head=3&view=present&ask={encode(asked)}", size=(1024, 768)).page
    expect(page.locator(".st-key-present .stBidiComponent")).to_be_attached(timeout=30_000)
    question = page.locator(".st-key-presented-question")
    expect(question).to_contain_text("Which word?")
    expect(question).not_to_contain_text("Because.")
    sizes = "element => [...element.querySelectorAll('p')].map(each => parseFloat(getComputedStyle(each).fontSize))"
    assert min(question.evaluate(sizes)) >= 20
    page.keyboard.press(" ")
    expect(question).to_contain_text("Because.")


def test_an_embedded_page_has_its_picture_and_a_way_to_the_app(visit):
    page = visit("heads?head=3&embed=true", size=(480, 700)).page
    expect(page.locator(".st-key-grid canvas").first).to_be_visible(timeout=30_000)
    expect(page.locator(".stSidebar")).to_be_hidden()
    expect(page.get_by_role("link", name=text.OPEN_IN_LAB)).to_have_attribute(
        "href", re.compile(r"/heads\?(?!.*embed)")
    )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_dialog_has_the_picture_of_the_link_and_paper_has_no_controls(visit):
    page = visit("heads?head=3").page
    page.get_by_role("button", name=text.SHARE, exact=True).click(timeout=30_000)
    picture = page.get_by_alt_text(text.PREVIEW_ALT)
    expect(picture).to_be_visible(timeout=30_000)
    page.wait_for_function("image => image.complete && image.naturalWidth === 1200", arg=picture.element_handle())
    code = page.get_by_alt_text(text.QR_CODE_ALT)
    page.wait_for_function("image => image.complete && image.naturalWidth > 0", arg=code.element_handle())
    page.keyboard.press("Escape")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator(".printed-end svg")).to_be_hidden()
    page.emulate_media(media="print")
    expect(page.locator(".printed-end svg")).to_be_visible()
    expect(page.locator(".stSidebar")).to_be_hidden()
    expect(page.locator(".st-key-grid canvas").first).to_be_visible()


def test_every_chart_of_a_page_can_be_saved(visit, tmp_path):
    """The bars that one drags are pixels, the steps of the row in the expander below are vectors."""
    page = visit("softmax").page
    page.get_by_text("From q · k to the weights, with numbers").click(timeout=30_000)
    page.locator(".stVegaLiteChart svg.marks").first.wait_for(timeout=30_000)
    page.get_by_role("button", name=text.SHARE, exact=True).click(timeout=30_000)
    for at in (1, 2):
        row = page.locator(".picture-file .picture", has_text=f"{text.CHART_FILE} {at} as")
        with page.expect_download() as saved:
            row.get_by_role("button", name="SVG").click(timeout=30_000)
        saved.value.save_as(tmp_path / f"{at}.svg")
    images = [
        each.get("href", "") for each in ElementTree.parse(tmp_path / "1.svg").iter() if each.tag.endswith("}image")
    ]
    assert len(images) == 1 and images[0].startswith("data:image/png;base64,") and len(images[0]) > 2000
    words = {each.text for each in ElementTree.parse(tmp_path / "2.svg").iter() if each.text}
    assert {"weight", "boat", "key →"} <= words


def test_a_printed_answer_is_on_a_page_of_its_own(visit):
    asked = CustomQuestion("Which word?", ("boat", "river"), "river", "Because.", hides=False)
    tab = visit(f"heads?ask={encode(asked)}")
    page = tab.page
    page.get_by_role("button", name="Reveal answer", exact=True).click(timeout=30_000)
    expect(page.get_by_test_id("stAlert")).to_contain_text("Because.")
    tab.still()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    last = page.locator(".printed-end section")
    expect(last).to_contain_text("Which word?")
    expect(last.get_by_test_id("stAlert")).to_be_visible()
    expect(page.get_by_test_id("stAlert").first).to_be_hidden()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    expect(page.get_by_test_id("stAlert").first).to_be_visible()


def test_printed_code_goes_on_over_pages_and_leaves_none_empty(visit):
    page = visit("heads").page
    page.locator(".st-key-heads-program summary").click(timeout=30_000)
    page.locator(".stCode code").get_by_text("import torch").first.wait_for()
    printed = page.pdf(format="A4", print_background=True)
    assert len(re.findall(rb"/Type /Page\b", printed)) <= 4, (
        "picture, statistics and the program; the link is at its end"
    )


def test_a_thumb_finds_what_it_taps(chromium, server):
    """On a screen that is touched: guesses, the way to other cards and Share are 44 px high, as are areas around icons."""
    context = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(f"{server.url}/heads?card=roles")
    expect(page.locator(".st-key-card-bar").get_by_text("Head 2", exact=True)).to_be_visible(timeout=30_000)
    tapped = ".st-key-card-bar :is(.stButton button, .stButtonGroup button, .stPageLink a, label)"
    heights = page.eval_on_selector_all(tapped, "all => all.map(each => each.getBoundingClientRect().height)")
    heights = [height for height in heights if height]  # a label is only read aloud
    context.close()
    assert len(heights) >= 5
    assert min(heights) >= 44
