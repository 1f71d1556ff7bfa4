"""The Implementations page in a real browser: rows and versions are chosen, a question opens, nothing is too wide."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from attention.knobs import KNOBS
from attention.published import ROWS
from attention.ui.text.implementations import ALL_HEADS, MORE

SMALL = {"tokens": "6", "d_model": "16", "heads": "2"}
LINK = "implementations?" + "&".join(f"{name}={value}" for name, value in SMALL.items())


def choice(tab, knob: str, name: str):
    return tab.widget(knob).get_by_role("radio", name=KNOBS[knob].names.get(name, name), exact=True)


def open_heads(tab) -> None:
    """Opens the fold of all heads."""
    tab.page.get_by_text(ALL_HEADS).click()


def heading(tab):
    return tab.page.get_by_role("heading", level=2).first


def test_rows_and_versions_are_chosen_and_stand_in_the_link(visit):
    tab = visit(f"{LINK}&version=as+meant")
    open_heads(tab)
    tab.wait_for_grid(**SMALL, version="as meant")
    tab.quiet()
    for name in ("two-heads", "position-weights"):
        tab.page.get_by_role("button", name=ROWS[name].name).click()
        tab.wait_for_grid(**SMALL, version="as meant", implementation=name)
        expect(heading(tab)).to_contain_text(f"{ROWS[name].name} corrected: right")
        assert tab.link == {**SMALL, "version": "as meant", "implementation": name}
    choice(tab, "version", "as printed").click()
    tab.wait_for_grid(**SMALL, implementation="position-weights")
    expect(heading(tab)).to_contain_text("One weight per position wrong")
    expect(tab.page.locator(".word-map")).to_have_count(2)
    tab.page.get_by_text(MORE).click()
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
    open_heads(tab)
    tab.wait_for_grid(**SMALL, implementation="head-matrices", version="as meant", keys=12, d_v=8)
    grid = tab.page.get_by_test_id("heads-grid")
    expect(grid).not_to_contain_text(re.compile(r"\bso\b"))  # the sixth word: two sequences have no list of names
    canvas = grid.locator("canvas").first.bounding_box()
    assert canvas["width"] / canvas["height"] == pytest.approx(12 / 6, rel=0.05)


def test_a_note_that_goes_leaves_all_else_where_it_is(visit):
    tab = visit(f"{LINK}&version=perhaps")
    open_heads(tab)
    tab.wait_for_grid(**SMALL)
    tab.quiet()
    expect(tab.page.get_by_test_id("stAlert").first).to_contain_text("perhaps")
    shown = choice(tab, "version", "as meant").element_handle()
    tab.slider("temperature").press("ArrowRight")
    tab.wait_for_grid(**SMALL, temperature=1.05)
    expect(tab.page.get_by_text("perhaps")).to_have_count(0)
    assert shown.evaluate("it => it.isConnected"), "drawn anew, and a click on what was there before is lost"


@pytest.mark.extended
def test_a_narrow_window_scrolls_down_only(visit):
    tab = visit(LINK, theme="dark", size=(390, 844))
    open_heads(tab)
    tab.wait_for_grid(**SMALL)
    tab.quiet()
    assert tab.page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
    expect(tab.page.get_by_role("button", name=ROWS["two-heads"].name)).to_be_hidden()  # a menu takes its place
    box = tab.page.locator(".word-map").first.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390
