"""A guess is kept while other pages are visited, and the question goes along in the link of every page."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from attention.config import Config
from attention.timing.cpu_gpu_settings import TIMED
from attention.ui.session.visit_state import KEY
from tests.samples import sample
from tests.strategies import query_without_edition
from tests.test_classroom import LINK, QUERY, alerts, guess
from tests.test_pages import ROOT, SECONDS, answer_toggle, is_answer_shown, page_text, reveal

ELSEWHERE = ("timing", "training", "examples")


def open_page(file: str, **query: str) -> AppTest:
    """A page by itself, as it is opened by a link."""
    test = AppTest.from_file(str(ROOT / file), default_timeout=SECONDS)
    test.query_params.update(query)
    return test.run()


def menu(**query: str) -> AppTest:
    """The app, whose menu leads to all pages."""
    return open_page("app.py", **query)


def go_to_page(test: AppTest, page: str) -> AppTest:
    """The same visitor on another page, by the menu, which opens it with an empty link."""
    test.query_params.clear()
    return test.switch_page(f"pages/{page}.py").run()


@pytest.mark.parametrize("page", sample(["masks", *ELSEWHERE], lambda page: page in ("masks", "timing")))
def test_what_was_guessed_is_there_again_after_another_page(page):
    student = menu(**LINK)
    guess(student).set_value("itself").run()
    go_to_page(go_to_page(student, page), "softmax")
    assert not student.exception and guess(student).value == "itself"
    reveal(student)
    assert "Not quite: you chose “itself”." in alerts(student)
    guess(student).set_value(QUERY.right).run()
    go_to_page(go_to_page(student, page), "heads")
    assert guess(student).value == QUERY.right and is_answer_shown(student) and "Right." in alerts(student)


def test_a_guess_at_a_question_of_ours_and_at_a_bug_stay_too():
    student = menu(predict="row", v="3")
    guessed = student.button_group(key=next(each.key for each in student.button_group if "guess" in (each.key or "")))
    first = guessed.options[0]
    guessed.set_value(first).run()
    go_to_page(go_to_page(student, "timing"), "heads")
    kept = next(each for each in student.button_group if "guess" in (each.key or ""))
    assert kept.value == first
    kept.set_value(None).run()
    go_to_page(go_to_page(student, "masks"), "heads")
    assert next(each for each in student.button_group if "guess" in (each.key or "")).value is None, "taken back"

    hunter = go_to_page(menu(), "find_the_bug")
    hunter.radio[0].set_value(hunter.radio[0].options[2]).run()
    reveal(hunter)
    go_to_page(go_to_page(hunter, "timing"), "find_the_bug")
    assert hunter.radio[0].value == hunter.radio[0].options[2] and answer_toggle(hunter).value


@pytest.mark.parametrize("page", ["examples", "model", "your_data"])
def test_a_question_stays_in_the_link_of_a_page_that_shows_no_weights(page):
    student = go_to_page(menu(**LINK), page)
    assert not student.exception and not student.warning
    assert query_without_edition(student.query_params) == LINK
    student.run()
    assert query_without_edition(student.query_params) == LINK
    again = open_page(f"pages/{page}.py", **LINK)  # reloaded there
    assert not again.exception and not again.warning and query_without_edition(again.query_params) == LINK
    held = again.session_state[KEY].held
    assert held["this app"].setting == Config(ask=LINK["ask"])


def test_a_question_that_was_ended_goes_along_no_more():
    student = menu(**LINK)
    student.button(key="end").click().run()
    assert query_without_edition(go_to_page(student, "timing").query_params) == {}


def test_a_timing_link_keeps_its_own_settings_beside_the_question():
    test = open_page("pages/timing.py", **LINK, seed="7", v=str(len(TIMED.editions)))
    assert query_without_edition(test.query_params) == LINK | {"seed": "7"}
    test.number_input(key="sweep_seed").set_value(8).run()
    assert query_without_edition(test.query_params) == LINK | {"seed": "8"}


def test_a_question_that_is_none_is_said_and_not_carried():
    test = open_page("pages/timing.py", ask="AAAA", seed="7", v=str(len(TIMED.editions)))
    assert "The question in this link can't be read" in page_text(test).replace("\\", "")
    assert query_without_edition(test.query_params) == {"seed": "7"}
