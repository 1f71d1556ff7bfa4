"""The Training page in a browser: a film that one plays, a training that one begins and stops, what one asks the model."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import GRID

BARS = """() => {  // heights in pixels of the two highest bars
    const canvas = document.querySelector(".bars canvas"), { width, height } = canvas;
    const { data } = canvas.getContext("2d").getImageData(0, 0, width, height), high = [];
    for (let x = 0; x < width; x++) {
        let rows = 0;
        for (let y = 0; y < height; y++) rows += data[4 * (y * width + x) + 3] > 0;
        if (!x || rows !== high.at(-1)) high.push(rows);
    }
    return high.sort((a, b) => b - a).slice(0, 2);
}"""
LEAST_GAP = """() => Math.min(...["down top", "across left"].flatMap((kind) => [true, false].flatMap((outer) => {
    const [name, edge] = kind.split(" "), all = [...document.querySelector(".large").querySelectorAll(`.label.${name}`)];
    const labels = all.filter((label) => label.classList.contains("outer") === outer);  // in the same line beside the axis
    const shown = labels.filter((label) => getComputedStyle(label).visibility === "visible");
    const at = shown.map((label) => parseFloat(label.style[edge])).sort((a, b) => a - b);
    return at.slice(1).map((each, i) => each - at[i]);
})))"""
SMALL = "task=reverse&d_model=16&heads=2&seed=5"


def test_the_film_plays_to_its_end_and_the_slider_leads_back(visit):
    tab = visit("training")
    grid = tab.page.locator(GRID)
    titles = grid.locator("figcaption")
    expect(titles).to_have_count(2 + 8)
    before = ["Before training2.7% correct", "After 1,000 steps99.3% correct"]
    expect(grid.locator(".heads > figure > figcaption")).to_have_text(before)
    expect(grid.locator(".chips .current")).to_have_text("s")
    expect(grid.locator(".chips .next")).to_have_text("p")
    expect(grid.locator(".large .picked").first).to_have_text("s")
    assert tab.page.evaluate(LEAST_GAP) >= 11, "the bold label covers no other"
    most, second = tab.page.evaluate(BARS)
    assert second / most == pytest.approx(0.446 / 0.541, abs=0.03), "bars are proportional to weights"
    outside = "(canvas) => canvas.getBoundingClientRect().right - canvas.parentElement.getBoundingClientRect().right"
    assert grid.locator(".bars canvas").evaluate(outside) <= 0, "nothing beside the bars pushes them out of view"
    first, last = (grid.locator(".large canvas").nth(at).evaluate("(canvas) => canvas.toDataURL()") for at in (0, 1))
    assert first != last
    expect(
        tab.page.get_by_text("After 1,000 steps, 4 heads find what came next last time; the model gets 99.3%")
    ).to_be_visible()
    tab.page.get_by_text("2×", exact=True).click()
    tab.page.get_by_role("button", name="Play").click()
    expect(tab.page.get_by_text("Before training, the model predicts 2.7%")).to_be_visible()
    expect(
        tab.page.get_by_text("After 1,000 steps, 4 heads find what came next last time; the model gets 99.3%")
    ).to_be_visible()
    expect(titles.nth(2 + 6)).to_have_text(re.compile(r"Head 2\s*induction"))
    expect(tab.page.get_by_role("button", name="Play from the start")).to_be_visible()
    assert tab.link == {}
    slider = tab.page.locator(".st-key-moment input[type=range]")
    slider.focus()
    tab.page.keyboard.press("ArrowLeft")
    expect(tab.page.get_by_text("After 1,000 steps")).to_have_count(0)
    expect(tab.page.get_by_text(re.compile("After [0-9]+ steps")).first).to_be_visible()
    assert tab.link.keys() == {"train_at"}
    grid.locator("[data-row]").nth(20).click()
    expect(grid.locator(".large .picked").first).to_have_text("p")


def test_a_training_is_begun_and_stopped_and_its_model_asked(visit):
    tab = visit(f"training?{SMALL}&steps=3000")
    tab.page.get_by_role("button", name="Train: 3,000 steps").click()
    expect(tab.page.get_by_text(re.compile("[0-9]+ of 3,000 steps, [0-9]+ steps per second"))).to_be_visible()
    tab.page.get_by_role("button", name="Stop").click()
    expect(tab.page.get_by_text(re.compile("Stopped after [0-9,]+ of 3,000 steps"))).to_be_visible()
    tab.page.get_by_text("Try a sequence").click()
    tab.page.get_by_role("button", name="L0H1", exact=True).click()
    expect(tab.page.get_by_text("Accuracy after training", exact=True)).to_be_visible()
    asked = tab.page.get_by_role("textbox", name="Tokens, separated by spaces")
    asked.fill("a b c ->")
    asked.press("Enter")
    expect(tab.page.get_by_text("After “→”, the model predicts")).to_be_visible()


def test_a_training_that_fails_is_shown_as_soon_as_it_is_begun(visit):
    tab = visit("training")
    grid = tab.page.locator(GRID)
    tab.page.locator("summary", has_text="Two trainings that fail").click()
    lesson = tab.page.get_by_role("button", name="Train with a learning rate of 1")
    lesson.scroll_into_view_if_needed()
    expect(grid.locator(".large").first).not_to_be_in_viewport()
    lesson.click()
    expect(grid.locator(".large").first).to_be_in_viewport()
    expect(tab.page.get_by_role("button", name="Stop")).to_be_in_viewport()
    tab.page.get_by_role("button", name="Stop").click()
