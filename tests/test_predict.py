"""Predict, then reveal: no page gives away the answer to a question that is asked, wherever it was asked."""

from __future__ import annotations

from typing import Any, cast

import pytest
import torch
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ButtonGroup

from attention import Config, trace
from attention.analysis.head_roles import roles as head_roles
from attention.codec import to_query
from attention.knobs import DEFAULTS, KNOBS
from attention.ui.session.visit_state import KEY
from attention.ui.text import questions as text
from attention.wire.cells import MASKED, ZERO
from tests.test_cells import decode_message
from tests.test_lessons import sent
from tests.test_pages import PAGES, SECONDS, is_answer_shown, reveal, run
from tests.test_softmax_page import tables, words

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
ASKED = [name for name in KNOBS["predict"].choices if name != DEFAULTS["predict"]]
ASKED_ABOUT = Config(temperature=3.0, mask="strided")
HARMLESS = {  # columns of the one chart that a question may come with: the row at the usual settings, or its dot products
    "temperature": {"place", "key", "token", "visible", "weights", "set"},
    "row": {"place", "key", "token", "visible", "dots"},
}
BEFORE_MASK = {("masks", "mask"): {"attention-lab.sentence_head"}}  # Masks has the head as it is without a mask


def components(test: AppTest) -> set[str]:
    """The parts that run in the browser, but the button that copies the link and a map that hides its weights."""
    shown = {each.proto.component_name for each in test.get("bidi_component") if not hides_weights(each.proto)}
    return shown - {"attention-lab.copy_link"}


def hides_weights(proto: Any) -> bool:
    """Whether it is the map of a head that says which keys are masked and no weight."""
    if proto.component_name != "attention-lab.large_head":
        return False
    header, cells = decode_message(proto.bytes)
    return header.get("marks", {}).get("hides", False) and int(cells.codes.int().max()) <= ZERO


@pytest.mark.sampled(6)
@pytest.mark.parametrize("question", ASKED)
@every_page
def test_nothing_but_the_question_goes_out_until_it_is_opened(page, question):
    test = run(page, to_query(ASKED_ABOUT) | {"predict": question, "grouping": "show"})
    assert not test.exception
    assert "Predict first" in words(test)
    assert components(test) == BEFORE_MASK.get((page.stem, question), set())
    assert not test.get("plotly_chart") and not test.dataframe and not test.table
    assert all(set(table) == HARMLESS[question] for table in tables(test))
    before = sent(test)
    reveal(test)
    assert not test.exception
    answer, _, why = test.info[0].value.replace("\\", "").partition(".** ")
    assert answer.startswith("**") and why and why not in before
    roles = head_roles(*(getattr(trace(ASKED_ABOUT), name) for name in ("weights", "mask", "texts")))
    assert not [role.says for role in roles if role and role.says in before]
    assert components(test) or tables(test)


@pytest.mark.sampled(2)
@every_page
def test_what_was_opened_stays_open_on_every_page_until_the_settings_change(page):
    first = run(PAGES[0], {"predict": "row"})
    reveal(first)
    second = AppTest.from_file(str(page), default_timeout=SECONDS)
    second.session_state[KEY] = first.session_state[KEY]
    second.run()
    assert is_answer_shown(second)
    second.slider(key="temperature").set_value(2.0).run()
    assert not is_answer_shown(second), "a new question waits for a guess"
    assert not components(second)


def test_one_button_reveals_an_answer_with_or_without_a_guess_and_hides_it_again():
    test = run(next(page for page in PAGES if page.stem == "heads"), {"predict": "row"})
    button = lambda: next(each for each in test.button if each.key.startswith("reveal "))  # noqa: E731
    cast(ButtonGroup[Any], test.get("button_group")[0]).set_value(text.EVEN).run()
    labels = [button().label]
    for _ in range(2):
        button().click().run()
        labels.append(button().label)
    assert (
        labels == [text.REVEAL, text.HIDE, text.REVEAL]
        and not test.toggle
        and not components(test) - {"attention-lab.large_head"}
    )


def test_once_revealed_the_right_guesses_are_marked_and_the_choice_stays():
    test = run(next(page for page in PAGES if page.stem == "layers"), {"predict": "row"})
    answers = lambda: cast(ButtonGroup[Any], test.get("button_group")[0])  # noqa: E731
    labels = lambda: [each.content for each in answers().proto.options]  # noqa: E731
    before = labels()
    answers().set_value(before[0]).run()
    reveal(test)
    assert [at for at, said in enumerate(labels()) if said.endswith(" ✓")] == [1, 3], "both “boat”"
    assert [said.removesuffix(" ✓") for said in labels()] == before
    assert answers().value in (before[0], [before[0]]) and "you chose “The” (0)" in test.error[0].value.replace(
        "\\", ""
    )


def test_the_map_under_a_question_about_a_row_has_the_mask_and_no_weight():
    test = run(next(page for page in PAGES if page.stem == "heads"), to_query(ASKED_ABOUT) | {"predict": "row"})
    (map_,) = [each.proto for each in test.get("bidi_component") if hides_weights(each.proto)]
    header, cells = decode_message(map_.bytes)
    found = trace(ASKED_ABOUT)
    assert torch.equal(cells.codes[0].int() != MASKED, found.mask) and header["query"] == found.config.query_index
    assert header["names"][0] == list(found.texts)


def test_a_sequence_too_long_for_a_trace_is_a_question_too():
    test = run(next(page for page in PAGES if page.stem == "heads"), {"predict": "row", "tokens": "4096"})
    assert not test.exception
    assert "Predict first" in words(test)
    assert not components(test) and not tables(test)


def test_the_next_question_is_about_the_next_head_that_is_not_random():
    test = run(next(page for page in PAGES if page.stem == "heads"), {"predict": "row", "head": "6"})
    reveal(test)
    test.button(key="next question").click().run()
    asked = [each.value for each in test.markdown if "Predict first" in each.value]
    assert not test.exception and len(asked) == 1 and "head 0" in asked[0], "head 7 is random"
    assert not test.info, "its answer is hidden"


def test_who_asks_is_said_of_a_revealed_question_too():
    heads = next(page for page in PAGES if page.stem == "heads")
    asked = run(heads, {})
    asked.button(key="ask row").click().run()
    for test, who, other in ((asked, text.ASKED, text.ASKS), (run(heads, {"predict": "row"}), text.ASKS, text.ASKED)):
        before = [each.value for each in test.caption]
        after = [each.value for each in reveal(test).caption]
        assert any(each.startswith(f"{who} ") for each in before) and who in after
        assert not any(each.startswith(other) for each in (*before, *after))
