"""A lesson in a room: a teacher at a desk, a student with a phone; opened, joined, answered, revealed, led on and closed."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from attention.ui.lesson_codec import Step, encode
from attention.ui.question_codec import CustomQuestion
from attention.ui.question_codec import encode as pack
from attention.ui.text import rooms as text
from tests.browser.conftest import SECONDS
from tests.server import warm_server

pytestmark = pytest.mark.extended
ASKED = (
    CustomQuestion("Which word does head 1 attend to?", ("itself", "the one before"), "the one before", "One back."),
    CustomQuestion("Do the weights of a row sum to one?", ("yes", "no"), "yes", "It is a softmax."),
)
STEPS = [
    Step(page, settings, pack(asked))
    for page, settings, asked in zip(("heads", "softmax"), ((("head", "1"),), ()), ASKED, strict=True)
]


def phone(chromium: Browser) -> Page:
    return chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True).new_page()


FITS = """() => document.documentElement.scrollWidth <= innerWidth
    && [...document.querySelectorAll(".st-key-room-answers button")].every((each) => each.getBoundingClientRect().height >= 44)"""


def wait_until_it_fits(page: Page) -> None:
    """Waits until nothing is wider than the screen, and every button is as high as a thumb."""
    page.wait_for_function(FITS, timeout=SECONDS)


def test_a_class_takes_a_lesson_of_two_questions_in_a_room(chromium):
    with warm_server(ATTENTION_CLASS="on") as server:
        teacher, student = chromium.new_context(viewport={"width": 1280, "height": 900}).new_page(), phone(chromium)
        teacher.goto(f"{server.url}/heads?lesson={encode(STEPS)}")
        teacher.get_by_role("button", name=text.OFFER).click(timeout=SECONDS)
        code = teacher.locator(".st-key-room h3").inner_text().split()[-1]

        student.goto(f"{server.url}/room")
        student.get_by_role("textbox").fill(code.lower())
        student.get_by_role("button", name=text.ENTER_BUTTON).tap()
        expect(student.get_by_text(ASKED[0].text)).to_be_visible()
        wait_until_it_fits(student)
        student.get_by_role("button", name="the one before").tap()
        expect(student.get_by_text(text.CHOSEN)).to_be_visible()
        bars = teacher.locator(".st-key-room-bars")
        expect(bars).to_contain_text("1 of 1 have answered")
        expect(bars.get_by_test_id("stProgress").nth(1)).to_contain_text("the one before 1")
        assert "One back." not in student.content()

        teacher.get_by_role("button", name="Reveal answer", exact=True).click()
        expect(student.get_by_test_id("stAlert")).to_contain_text("One back.")
        expect(student.get_by_test_id("stAlert")).to_contain_text("Right")
        expect(student.get_by_role("button", name="itself")).to_have_count(0)

        teacher.get_by_role("link", name="Next", exact=True).click()
        expect(student.get_by_text(ASKED[1].text)).to_be_visible()
        student.get_by_role("button", name="no", exact=True).tap()
        expect(student.get_by_text(text.CHOSEN)).to_be_visible()
        expect(bars.get_by_test_id("stProgress").nth(1)).to_contain_text("no 1")
        student.get_by_role("button", name="yes", exact=True).tap()
        expect(bars.get_by_test_id("stProgress").nth(0)).to_contain_text("yes 1")
        expect(bars).to_contain_text("1 of 1 have answered")
        wait_until_it_fits(student)

        teacher.get_by_role("button", name=text.CLOSE).click()
        expect(student.get_by_test_id("stAlert")).to_contain_text("There is no room")
        for page in (teacher, student):
            page.context.close()
