"""What a page shows at first sight: few words, letters that can be read, and nothing that jumps when a slider is moved."""

from __future__ import annotations

import re

import pytest

from tests.browser.conftest import Tab
from tests.samples import sample

PAGES = ("heads", "steps", "softmax", "masks", "training", "layers", "model", "your_data")
HIGH = 800  # pixels of the window
FOLD, WHOLE, LETTER = 200, 300, 11  # most words above the fold and on a page, and least height of a letter in pixels
ASIDE = "pre, code, table, .dvn-scroller, svg, canvas, .katex, .label, .chips, .heard-page, style, [data-testid=stSidebarNav]"
TEXTS = """(aside) => {
    const found = [];
    for (const root of document.querySelectorAll("[data-testid=stMain], [data-testid=stSidebarContent]")) {
        const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
        while (walk.nextNode()) {
            const node = walk.currentNode, part = node.parentElement, range = document.createRange();
            range.selectNodeContents(node);
            const box = range.getBoundingClientRect();
            const seen = part.checkVisibility({ opacityProperty: true, visibilityProperty: true });
            if (!seen || box.width < 2 || box.height < 2 || part.closest("[data-testid=stIconMaterial]")) continue;
            found.push([node.textContent, box.top, parseFloat(getComputedStyle(part).fontSize), !part.closest(aside)]);
        }
    }
    return found;
}"""
COUNT_SHIFTS = """() => {
    window.shifts = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => { window.shifts += entry.value; }))
        .observe({ type: "layout-shift" });
}"""
SLIDERS = [(page, knob) for page in ("heads", "softmax") for knob in ("tokens", "heads", "d_model", "temperature")]


def words(texts: list, bottom: float) -> int:
    """The number of words whose text begins above `bottom`, without code, tables, formulas and tokens of a picture."""
    read = [text for text, top, _, counts in texts if counts and top < bottom]
    return sum(any(sign.isalpha() for sign in word) for text in read for word in text.split())


@pytest.mark.parametrize("page", PAGES)
def test_words_are_few_and_letters_can_be_read(visit, page):
    tab = visit(page)
    tab.still()
    tab.page.locator(".st-key-finding").wait_for()
    tab.page.get_by_text(re.compile("^Next: ")).last.wait_for()  # it comes last
    tab.page.wait_for_timeout(1000)
    texts = tab.page.evaluate(TEXTS, ASIDE)
    assert 20 < words(texts, HIGH) <= FOLD
    assert words(texts, float("inf")) <= WHOLE
    assert [text for text, _, size, counts in texts if counts and size < LETTER] == []


@pytest.mark.parametrize(("page", "knob"), sample(SLIDERS, lambda page, knob: (page, knob) == ("heads", "heads")))
def test_nothing_jumps_when_a_slider_is_moved(visit, page, knob):
    tab: Tab = visit(page)
    tab.still()
    slider = tab.slider(knob)
    tab.page.locator(".st-key-finding p").wait_for()
    tab.page.wait_for_timeout(3000)  # pictures are drawn, and a fold that was opened has unfolded
    tab.page.evaluate(COUNT_SHIFTS)
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        slider.press(key)
        tab.page.wait_for_timeout(900)
        tab.still()
    assert tab.page.evaluate("shifts") < 0.05
