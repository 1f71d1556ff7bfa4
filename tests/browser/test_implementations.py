"""The Implementations page in a real browser: rows and versions are chosen, a question opens, nothing is too wide."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from attention.knobs import KNOBS
from attention.published import ROWS

SMALL = {"tokens": "6", "d_model": "16", "heads": "2"}
GROUNDS = ("span", "del", "ins")  # of lines that stay, were taken away and put in
LINK = "implementations?" + "&".join(f"{name}={value}" for name, value in SMALL.items())


def choice(tab, knob: str, name: str):
    return tab.widget(knob).get_by_role("radio", name=KNOBS[knob].names.get(name, name), exact=True)


def heading(tab):
    return tab.page.get_by_role("heading", level=4).last  # the first is the name of the page


def test_rows_and_versions_are_chosen_and_stand_in_the_link(visit):
    tab = visit(f"{LINK}&version=as+meant")
    tab.wait_for_grid(**SMALL, version="as meant")
    tab.quiet()
    for name in ("two-heads", "position-weights"):
        choice(tab, "implementation", ROWS[name].name).click()
        tab.wait_for_grid(**SMALL, version="as meant", implementation=name)
        expect(heading(tab)).to_contain_text(f"{ROWS[name].name} agrees")
        assert tab.link == {**SMALL, "version": "as meant", "implementation": name}
    choice(tab, "version", "as printed").click()
    tab.wait_for_grid(**SMALL, implementation="position-weights")
    expect(heading(tab)).to_contain_text("One weight per position disagrees")
    expect(tab.page.get_by_test_id("stPlotlyChart")).to_have_count(4)
    expect(tab.page.get_by_text("One vector of weights for all queries, head 0")).to_be_visible()


@pytest.mark.extended
def test_a_row_that_raises_has_no_squares_and_says_where(visit):
    tab = visit(f"{LINK}&implementation=head-matrices")
    expect(tab.page.get_by_test_id("stAlert").first).to_contain_text("context = (weights.unsqueeze(-1) * v).sum(dim=1)")
    assert tab.page.get_by_test_id("heads-grid").count() == 0
    tab.page.get_by_role("button", name="Keys of another sequence, values of 8 channels").click()
    expect(tab.page.get_by_test_id("stAlert").first).to_contain_text("must match the size of tensor b (2)")
    tab.quiet()
    choice(tab, "version", "as meant").click()
    tab.wait_for_grid(**SMALL, implementation="head-matrices", version="as meant", keys=12, d_v=8)
    grid = tab.page.get_by_test_id("heads-grid")
    expect(grid).not_to_contain_text(re.compile(r"\bso\b"))  # the sixth word: two sequences have no list of names
    canvas = grid.locator("canvas").first.bounding_box()
    assert canvas["width"] / canvas["height"] == pytest.approx(12 / 6, rel=0.05)


def test_a_note_that_goes_leaves_all_else_where_it_is(visit):
    tab = visit(f"{LINK}&version=perhaps")
    tab.wait_for_grid(**SMALL)
    tab.quiet()
    expect(tab.page.get_by_test_id("stAlert").first).to_contain_text("perhaps")
    shown = choice(tab, "version", "as meant").element_handle()
    tab.slider("temperature").press("ArrowRight")
    tab.wait_for_grid(**SMALL, temperature=1.05)
    expect(tab.page.get_by_text("perhaps")).to_have_count(0)
    assert shown.evaluate("it => it.isConnected"), "drawn anew, and a click on what was there before is lost"


@pytest.mark.extended
def test_a_question_keeps_name_and_error_till_it_is_answered(visit):
    row = ROWS["functional"]
    tab = visit(f"{LINK}&batch=3&implementation=functional&bug=question&version=as+meant")
    expect(tab.page.get_by_test_id("stAlert").first).to_have_text("It raises an error at these settings.")
    expect(choice(tab, "implementation", "Number 4")).to_be_checked()
    main = tab.page.get_by_test_id("stMain")
    for told in (row.name, row.mistake, "must match", row.document.title_in_words):
        expect(main).not_to_contain_text(told)
    choice(tab, "bug", "answer").click()
    expect(heading(tab)).to_contain_text(f"{row.name} raises")
    expect(main).to_contain_text("must match the size of tensor b (2)")
    expect(choice(tab, "version", "as printed")).to_be_checked()


@pytest.mark.extended
def test_what_a_question_hides_comes_back_as_it_was(visit):
    tab = visit(f"{LINK}&implementation=fused&version=as+meant&row_detail=costs")
    tab.quiet()
    choice(tab, "bug", "question").click()
    expect(tab.widget("version")).to_have_count(0)
    tab.quiet()
    choice(tab, "implementation", "Number 4").click()
    expect(choice(tab, "implementation", "Number 4")).to_be_checked()
    tab.quiet()
    choice(tab, "bug", "answer").click()
    for knob, value in {"version": "as printed", "row_detail": "costs"}.items():
        expect(choice(tab, knob, value)).to_be_checked()


@pytest.mark.extended
def test_a_narrow_window_scrolls_down_only(visit):
    tab = visit(LINK, theme="dark", size=(390, 844))
    tab.wait_for_grid(**SMALL)
    tab.quiet()
    assert tab.page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
    box = tab.page.get_by_test_id("stPlotlyChart").first.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390


def test_a_bug_is_hunted_and_its_wrong_lines_are_told_by_sign_and_ground(visit, theme):
    tab = visit(LINK, theme=theme)
    hunt, main = tab.page.locator(".st-key-hunt"), tab.page.get_by_test_id("stMain")
    expect(hunt.locator("img")).to_have_count(4)
    for told in (ROWS["two-heads"].mistake, ROWS["two-heads"].lesson, "scores_1.masked_fill"):
        expect(main).not_to_contain_text(told)
    tab.quiet()
    hunt.get_by_text("The mask hides earlier tokens").click()
    hunt.get_by_text("Reveal the wrong line").click()
    expect(hunt.get_by_text("Not quite: you chose “The mask hides earlier tokens”.")).to_be_visible()
    expect(hunt).to_contain_text(ROWS["two-heads"].lesson)
    grounds = {
        hunt.locator(f".lines {kind}").first.evaluate("it => getComputedStyle(it).background") for kind in GROUNDS
    }
    assert len(grounds) == 3
    expect(hunt.locator(".lines del").first).to_have_text(re.compile("^− .*earlier ="))
    expect(hunt.locator(".lines ins").first).to_have_text(re.compile("^\\+ .*weights_1 ="))
    sent = len(tab.sent)
    tab.slider("temperature").press("ArrowRight")
    tab.wait_for_grid(**SMALL, temperature=1.05)
    expect(hunt).to_contain_text(ROWS["two-heads"].lesson)
    assert len(tab.sent) > sent
    tab.quiet()
    choice(tab, "implementation", ROWS["two-heads"].name).click()
    expect(hunt.locator("img")).to_have_count(2)
    expect(hunt).not_to_contain_text("Not quite")
    assert tab.page.evaluate(
        "performance.getEntriesByType('resource').every(({ name }) => !name.includes('SyntaxHighlighter'))"
    )
