"""For a class, in a real browser: a link with a question is copied, opened by somebody else, guessed at and answered."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from attention.ui.markdown import JOINT
from attention.ui.question_codec import CustomQuestion, encode
from tests.browser.conftest import Tab, open_page

HOSTILE = "<b>x</b> [y](http://evil.example) http://evil.example www.evil.example a@evil.example $z$ :smile:"


def open_dialog(tab: Tab) -> Page:
    """The dialog of a class."""
    tab.widget("class-button").get_by_role("button", name="Class").click()
    tab.page.get_by_label("Question", exact=True).wait_for()
    tab.quiet()
    return tab.page


def test_a_teacher_copies_a_link_and_a_student_guesses_and_reveals(visit):
    """The copy is clicked while the last field has yet to come in."""
    teacher = visit("?tokens=9")
    teacher.wait_for_grid(tokens=9)
    teacher.slider("heads").press("ArrowLeft")
    teacher.wait_for_grid(tokens=9, heads=7, d_model=511)
    page = open_dialog(teacher)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_label("Question", exact=True).fill("Which word does head 1 look at?")
    for number, answer in enumerate(("the river", "the one before"), 1):
        page.get_by_role("textbox", name=f"Answer {number}").fill(answer)
    page.keyboard.press("Tab")
    page.get_by_test_id("stDialog").get_by_text("No answer is marked as right").wait_for()
    page.get_by_role("radio", name="Answer 2").check(force=True)
    page.get_by_test_id("stDialog").get_by_text("No answer is marked as right").wait_for(state="hidden")
    page.get_by_text("Hide pictures").click()
    page.get_by_role("textbox", name="Explanation").fill("One back.")
    copies = page.get_by_role("button", name="Copy link with question")
    copies.click()
    page.get_by_text("Copied").wait_for()
    if page.get_by_text("copy once more").count():  # of a busy machine
        teacher.quiet()
        copies.click()
    page.get_by_text("Copied", exact=True).wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    assert "ask=" in link and "tokens=9" in link and "river" not in link and len(link) < 300
    assert "ask" not in teacher.link

    student = visit(f"?{link.partition('?')[2]}")
    expect(student.page.get_by_text("Question from the person who shared this link.")).to_be_visible()
    expect(student.page.get_by_text("One back.")).to_have_count(0)
    assert student.page.get_by_test_id("heads-grid").count() == 0
    assert not any(b"One back." in frame for frame in student.heard if isinstance(frame, bytes))
    student.page.get_by_test_id("stRadio").get_by_text("the river").click()
    student.quiet()
    student.page.get_by_role("button", name="Reveal answer", exact=True).click()
    expect(student.page.get_by_test_id("stAlert")).to_contain_text(
        "Not quite: you chose “the river”. The answer is the one before. One back."
    )
    student.wait_for_grid(tokens=9, heads=7, d_model=511, ask=link.partition("ask=")[2].partition("&")[0])


@pytest.mark.extended
def test_words_of_a_stranger_do_nothing(visit):
    asked = CustomQuestion(HOSTILE, (HOSTILE[:80], "other"), "other", HOSTILE)
    tab = visit(f"?ask={encode(asked)}")
    tab.page.get_by_role("button", name="Reveal answer", exact=True).click()
    answer = tab.page.get_by_test_id("stAlert")
    expect(answer).to_contain_text("smile")
    main = tab.page.get_by_test_id("stMain")
    question = main.get_by_test_id("stMarkdownContainer").filter(has_text="Question.")
    for where in (answer, question, main.get_by_test_id("stRadio")):
        assert HOSTILE[:70] in where.inner_text().replace(JOINT, "")
    assert (
        main.locator(
            "a:not([data-testid=stPageLink-NavLink], h1 a), .katex, [data-testid=stMarkdownContainer] b"
        ).count()
        == 0
    )


@pytest.mark.extended
def test_what_is_typed_is_there_on_the_next_page(visit):
    tab = visit("")
    page = open_dialog(tab)
    page.get_by_label("Question", exact=True).fill("Why?")
    page.get_by_role("dialog").get_by_label("Close").click()
    open_page(page, "Softmax")
    page.wait_for_url("**/softmax*")
    tab.still()
    open_dialog(tab)
    expect(page.get_by_label("Question", exact=True)).to_have_value("Why?")
