"""Find the bug in a real browser: a guess is answered, the wrong lines are marked, and a phone shows all of it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from attention.published import hunt_name
from attention.published.hunts import CODE, HUNTS

GROUNDS = ("span", "del", "ins")  # of lines that stay, were taken away and put in
TWO = next(hunt for hunt in HUNTS if hunt.name == "two-heads")


def test_a_bug_is_found_and_its_wrong_lines_are_told_by_sign_and_ground(visit, theme):
    """An old link of the page Implementations leads there."""
    tab = visit("implementations?bug=question&implementation=two-heads&v=3", theme=theme)
    main = tab.page.get_by_test_id("stMain")
    expect(main.locator(".word-map")).to_have_count(4)
    expect(tab.page).to_have_url(re.compile(rf"/find_the_bug\?bug={hunt_name('two-heads')}$"))
    for told in (TWO.row.mistake, TWO.row.lesson, "scores_1.masked_fill"):
        expect(main).not_to_contain_text(told)
    tab.still()
    main.get_by_text("The mask hides earlier tokens").click()
    expect(main.get_by_text("Not this one.")).to_be_visible()
    main.get_by_text(TWO.answer).click()
    expect(main).to_contain_text(TWO.row.mistake)
    grounds = {
        main.locator(f".lines {kind}").first.evaluate("it => getComputedStyle(it).background") for kind in GROUNDS
    }
    assert len(grounds) == 3
    expect(main.locator(".lines del").first).to_have_text(re.compile("^− .*earlier ="))
    expect(main.locator(".lines ins").first).to_have_text(re.compile("^\\+ .*weights_1 ="))
    expect(main).to_contain_text("Score: 0 of 1")
    expect(tab.page).to_have_url(re.compile("tried=0+w$"))
    tab.page.reload()
    expect(main).to_contain_text("Score: 0 of 1")
    main.get_by_text(TWO.answer).click()  # at once: what is clicked while the page is drawn for the first time counts
    expect(main).to_contain_text(TWO.row.mistake)
    expect(main).to_contain_text("Score: 0 of 1")
    main.get_by_role("button", name=re.compile("Next: bug")).click()
    expect(main).to_contain_text(HUNTS[HUNTS.index(TWO) + 1].says)
    assert CODE[TWO.name] is TWO.row


@pytest.mark.extended
def test_a_phone_shows_the_verdict_on_a_tapped_answer_and_the_start_of_the_next_bug(visit):
    tab = visit("find_the_bug", size=(390, 844))
    main = tab.page.get_by_test_id("stMain")
    tab.still()
    for guess, verdict in ((HUNTS[0].guesses[0], "Not this one."), (HUNTS[0].answer, "Right.")):
        main.get_by_text(guess, exact=True).click()
        expect(main.get_by_text(verdict)).to_be_in_viewport(ratio=1)
    main.get_by_role("button", name="Next: bug 2").click()
    expect(main.get_by_role("radio", name="2", exact=True)).to_be_in_viewport(ratio=1)


@pytest.mark.extended
def test_a_cell_says_its_number_and_labels_can_be_read(visit):
    tab = visit("find_the_bug", size=(390, 844))
    cell = tab.page.locator(".word-map i").first
    tab.still()
    cell.hover()
    tab.page.wait_for_function(
        "() => getComputedStyle(document.querySelector('.word-map i'), '::after').content != 'none'"
    )
    assert "puts 100%" in (cell.get_attribute("data-says") or "")
    tab.page.mouse.move(0, 0)
    other = tab.page.locator(".word-map i").nth(2)
    other.focus()  # as a tap does in browsers that know no pointer on a phone
    assert "masked" in other.evaluate("it => getComputedStyle(it, '::after').content")
    assert cell.evaluate("it => getComputedStyle(it, '::after').content") == "none"
    label = tab.page.locator(".word-map .down").first
    assert label.evaluate("it => parseFloat(getComputedStyle(it).fontSize)") >= 11
    assert tab.page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
