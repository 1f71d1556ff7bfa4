"""Words with lines and a row's output in a browser: what they say is true, with a pointer, with keys and by touch."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from attention import Config, trace

CONFIG = Config(head=3)
MANY = "?tokens=300&heads=2&row_as=all+lines&query=150"
LONG = "uncharacteristically+incomprehensible+counterrevolutionaries"


@pytest.fixture
def opened(visit):
    """Opens a link whose row in focus has words with lines; the words of both sides come with it."""

    def opened(link: str = "?head=3", **more) -> tuple[Page, Locator, Locator]:
        page = visit(link, **more).page
        if "row_as" not in link:
            page.locator("summary", has_text="Selected row: lines").click()
        drawn = page.get_by_test_id("word-lines")
        drawn.locator(".keys .word").first.wait_for()
        return page, drawn.locator(".queries .word"), drawn.locator(".keys .word")

    return opened


def word_numbers(words: Locator) -> list[str]:
    """The numbers beside words."""
    return words.locator("b").all_inner_texts()


def weights(column: list[float], seen: list[bool]) -> list:
    return [
        pytest.approx(weight, rel=6e-3) if visible else "masked" for weight, visible in zip(column, seen, strict=True)
    ]


def numbers(texts: list[str]) -> list:
    return [text if text == "masked" else figure(text) for text in texts]


def ink(page: Page) -> list[float]:
    """How much is drawn of the lines of a word where they end at each key."""
    return page.evaluate(
        """() => {
            const lit = document.querySelector(".word-lines .lit"), copy = document.createElement("canvas");
            Object.assign(copy, { width: lit.width, height: lit.height });
            const pen = copy.getContext("2d", { willReadFrequently: true });  // else the browser warns
            pen.drawImage(lit, 0, 0);
            const words = document.querySelectorAll(".word-lines .keys .word"), high = lit.height / words.length;
            const end = (i) => pen.getImageData(lit.width - 3, i * high + 2, 1, high - 4).data;
            return [...words].map((_, i) => end(i).reduce((sum, value, at) => sum + (at % 4 === 3 ? value : 0), 0));
        }"""
    )


def test_a_word_that_is_pointed_at_says_its_weights_on_the_other_side(opened, theme):
    page, queries, keys = opened(theme=theme)
    found = trace(CONFIG)
    square, mask = found.weights[3], found.mask
    assert numbers(word_numbers(keys)) == weights(square[17].tolist(), mask[17].tolist())
    queries.nth(9).hover()
    expect(keys.nth(10).locator("b")).to_have_text("masked")
    assert numbers(word_numbers(keys)) == weights(square[9].tolist(), mask[9].tolist())
    drawn = ink(page)
    assert [some > 0 for some in drawn] == mask[9].tolist()
    heavy = sorted(range(10), key=lambda key: -square[9, key])
    assert drawn[heavy[0]] > 2 * drawn[heavy[5]]
    keys.nth(7).hover()
    expect(queries.nth(0).locator("b")).to_have_text("masked")
    assert numbers(word_numbers(queries)) == weights(square[:, 7].tolist(), mask[:, 7].tolist())
    assert word_numbers(keys) == [""] * 18


def test_keys_walk_over_the_words_and_put_a_query_in_focus(opened):
    page, queries, _ = opened()
    box, live = page.locator(".word-lines .box"), page.locator(".word-lines .live")
    box.focus()
    page.keyboard.press("ArrowUp")
    expect(live).to_have_text(re.compile(r"^“the” \(16\) puts [\d.]+% on “"))
    page.keyboard.press("ArrowRight")
    expect(live).to_have_text(re.compile(r"^“the” \(16\) gets [\d.]+% from “"))
    page.keyboard.press("Enter")  # a key can't be in focus
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")
    expect(queries.first).to_have_class(re.compile("current"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"query=1(&|$)"))
    expect(queries.nth(1)).to_have_class(re.compile("pinned"))
    page.keyboard.press("End")
    page.keyboard.press("Escape")
    expect(queries.nth(1)).to_have_class(re.compile("current"))


def test_a_click_puts_a_query_in_focus_and_the_focus_elsewhere_moves_the_lines(opened):
    page, queries, _ = opened()
    queries.nth(4).click()
    page.wait_for_url(re.compile("query=4"))
    expect(queries.nth(4)).to_have_class(re.compile("pinned"))
    page.mouse.move(0, 0)
    page.locator(".heads-grid .heads").press("ArrowDown")
    page.wait_for_url(re.compile("query=5"))
    expect(queries.nth(5)).to_have_class(re.compile(r"(?=.*pinned)(?=.*current)"))
    expect(queries.nth(4)).not_to_have_class(re.compile("pinned|current"))


def test_many_words_scroll_in_a_box_of_their_own_and_the_query_in_focus_is_seen(opened):
    page, queries, _ = opened(f"{MANY}&text={LONG}", size=(390, 844))
    expect(queries).to_have_count(300)
    box = page.locator(".word-lines .box")
    seen, word = box.bounding_box(), queries.nth(150).bounding_box()
    assert seen["y"] <= word["y"] < seen["y"] + seen["height"] - word["height"] and seen["height"] <= 520
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
    assert page.locator(".word-lines .middle").bounding_box()["width"] >= 50
    expect(page.locator(".word-lines .left-out")).to_have_text(
        re.compile(r"^[\d,]+ under 1/256 of the scale left out$")
    )


def test_the_lines_of_the_output_add_up_at_every_channel(opened):
    page, *_ = opened()
    found = trace(CONFIG)
    page.get_by_test_id("stMain").get_by_text("output", exact=True).click()
    table = page.get_by_test_id("row-output")
    slider = table.get_by_role("slider")
    output = found.context[3, 17]
    assert int(slider.input_value()) == int(output.abs().argmax())
    for channel in (0, 37, 63):
        slider.fill(f"{channel}")
        expect(table.locator(".said")).to_have_text(re.compile(rf"In channel {channel} it is\b"))
        cells = [line.split("\t") for line in table.locator("tbody tr").all_inner_texts()]
        lines = [[figure(text) for text in line if re.fullmatch(r"[−\d.e-]+%?", text)] for line in cells]
        *parts, (weight, total) = lines
        assert weight == pytest.approx(1, abs=1e-3)
        assert total == pytest.approx(float(output[channel]), rel=6e-3)
        assert sum(product for *_, product in parts) == pytest.approx(total, abs=0.01 * max(abs(p[-1]) for p in parts))
        for share, value, product in parts:
            assert share * value == pytest.approx(product, rel=2e-2)


def figure(text: str) -> float:
    """A number or a percentage."""
    return float(text.replace("−", "-").rstrip("%")) / (100 if text.endswith("%") else 1)
