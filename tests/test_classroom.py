"""For a class, driven: a teacher writes a question and shares it, a student opens the link, guesses, and opens the answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from attention.codec import NEWEST
from attention.config import Config
from attention.settings import EDITION
from attention.ui.markdown import escape
from attention.ui.question_codec import OPTIONS, QUESTION, CustomQuestion, decode, encode
from attention.ui.session.visit_state import KEY
from attention.ui.text import lessons
from attention.ui.text.questions import OFFERS, PREDICT
from attention.ui.views import questions
from attention.ui.views.question_form import TYPED
from tests.samples import sample
from tests.strategies import query_without_edition
from tests.test_pages import PAGES, ROOT, SECONDS, is_answer_shown, run
from tests.test_predict import components
from tests.test_softmax_page import tables, words

HEADS = next(page for page in PAGES if page.stem == "heads")
QUERY = CustomQuestion(
    "Which word does head 1 look at?", ("the river", "the one before", "itself"), "the one before", "One back."
)
LINK = {"ask": encode(QUERY)}
DRAWN = ("bidi_component", "vega_lite_chart", "dataframe")
every_page = pytest.mark.parametrize(  # the fold is the same on each; a test below looks for it on all
    "page", sample(PAGES, lambda page: page.stem in ("heads", "softmax")), ids=lambda page: page.stem
)


def classroom(page: Path, **query: str) -> AppTest:
    """A page with its dialog for a class open."""
    return run(page, query).button(key="open class").click().run()


def write_question(test: AppTest, *answers: str, right: int | None = None, **fields: str) -> AppTest:
    for name, text in fields.items():
        test.text_area(key=f"class {name}").set_value(text)
    for at, answer in enumerate(answers):
        test.text_input(key=f"class answer {at}").set_value(answer)
    if right is not None:
        test.radio(key="class right").set_value(right)
    return test.run()


def copied_link(test: AppTest) -> dict[str, Any]:
    """What the link says that the button copies."""
    (found,) = [each.proto for each in test.get("bidi_component") if "copy_question" in each.proto.id]
    return json.loads(found.json)


def guess(test: AppTest):
    return next((radio for radio in test.radio if radio.label == "Your guess"), None)


def reveal(test: AppTest):
    """The button that reveals the answer, pressed."""
    return next(button for button in test.button if button.label == "Reveal answer").click()


def alerts(test: AppTest) -> str:
    return "\n".join(each.value for each in [*test.success, *test.info, *test.error]).replace("\\", "")


@pytest.mark.sampled(2)
@every_page
def test_a_teacher_asks_and_a_student_guesses_and_opens(page):
    teacher = write_question(classroom(page, tokens="9"), *QUERY.options, text=QUERY.text, why=QUERY.why)
    assert not teacher.exception
    assert not decode(copied_link(teacher)["adds"]["ask"]).hides  # one asks about a picture, unless one says otherwise
    teacher.toggle(key="class hides").set_value(True)
    teacher.radio(key="class right").set_value(1).run()
    assert not teacher.warning
    assert query_without_edition(teacher.query_params) == {"tokens": "9"}  # nothing is asked yet
    said = copied_link(teacher)
    assert decode(said["adds"]["ask"]) == QUERY and said["adds"][EDITION] == NEWEST[EDITION] and not said["lacking"]

    student = run(page, {"tokens": "9"} | said["adds"])
    assert not student.exception and not student.warning
    assert "Question from the person who shared this link" in words(student)
    assert not components(student) and not tables(student) and not student.get("plotly_chart")
    assert QUERY.why not in words(student) and guess(student).value is None
    guess(student).set_value("itself").run()
    assert not alerts(student)
    reveal(student).run()
    assert "Not quite: you chose “itself”. The answer is **the one before.** One back." in alerts(student)
    assert components(student) or tables(student)
    guess(student).set_value("the one before").run()
    assert student.success[0].value.startswith("Right. ")
    student.slider(key="temperature").set_value(3.0).run()  # it is one question, whatever is set
    assert is_answer_shown(student) and student.success
    student.button(key="end").click().run()
    assert query_without_edition(student.query_params) == {"tokens": "9", "temperature": "3.0"}


@pytest.mark.sampled(2)
@every_page
def test_pictures_may_be_shown_beside_the_question(page):
    shown = CustomQuestion(QUERY.text, QUERY.options, QUERY.right, QUERY.why, hides=False)
    student, alone = run(page, {"ask": encode(shown)}), run(page, {})
    assert components(student) == components(alone) and len(tables(student)) == len(tables(alone))
    assert QUERY.why not in words(student) and "The answer is hidden until it is revealed" in words(student)
    reveal(student).run()
    assert "**the one before.** One back." in alerts(student)


@pytest.mark.parametrize("page", [HEADS, HEADS.with_stem("layers")], ids=["heads", "layers"])
def test_what_heads_do_is_not_said_beside_such_a_question_until_it_is_opened(page):
    """The picture is what it is about, and the sentence beside it would be the answer."""
    shown, set_ = CustomQuestion("What does head 1 do?", hides=False), {"head": "1"}
    said = "A description of what heads do appears here once the answer is revealed."
    student = run(page, {"ask": encode(shown)} | set_)
    assert said in words(student) and "attends one word back" not in everything(student)
    reveal(student).run()
    assert said not in words(student) and "attends one word back" in words(student)
    assert "attends one word back" in words(run(page, set_))


def test_what_heads_do_is_not_said_on_training_either():
    page = HEADS.with_stem("training")
    told = ("Two kinds of heads", "looks one letter back")
    student = run(
        page, {"train_at": "1000", "train_ask": encode(CustomQuestion("Which head looks back?", hides=False))}
    )
    assert not any(said in words(student) for said in told) and "one back" not in everything(student)
    reveal(student).run()
    assert all(said in words(student) for said in told) and "one back" in everything(student)


def everything(test: AppTest) -> str:
    """All that a page sends, tables and what is drawn by data too."""
    return words(test) + "".join(str(each.proto) for kind in DRAWN for each in test.get(kind))


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (CustomQuestion("What do you see?"), "This is an open question without a given answer."),
        (CustomQuestion("What do you see?", why="A diagonal."), "A diagonal."),
        (CustomQuestion("What do you see?", ("a", "b")), "No answer was marked as right"),
        (CustomQuestion("What do you see?", ("a", "b"), "a"), "**a.**"),
    ],
)
def test_a_question_may_leave_open_what_it_likes(asked, says):
    student = run(HEADS, {"ask": encode(asked)})
    assert (guess(student) is None) == (not asked.options)
    if asked.options:
        guess(student).set_value("b").run()
    reveal(student).run()
    assert says in alerts(student) and bool("Not quite" in alerts(student)) == (asked.right is not None)


def test_what_is_written_stays_while_settings_change_and_pages_are_left():
    teacher = write_question(classroom(HEADS), *QUERY.options, right=2, text=QUERY.text)
    teacher.slider(key="temperature").set_value(2.0).run()
    assert teacher.text_area(key="class text").value == QUERY.text
    other = AppTest.from_file(str(next(page for page in PAGES if page.stem == "steps")), default_timeout=SECONDS)
    other.session_state[KEY] = teacher.session_state[KEY]
    other.run()
    assert [other.text_input(key=f"class answer {at}").value for at in range(OPTIONS)] == [*QUERY.options, "", "", ""]
    assert other.radio(key="class right").value == 2
    write_question(other, "the river", "the one before", "its own place")  # the answer is written again
    assert other.session_state[KEY].kept.draft.right_option == "its own place"


def test_every_page_but_those_that_are_named_has_the_button():
    """As the README says; what opens it is looked at on two of them elsewhere."""
    without = {page.stem for page in (ROOT / "pages").glob("*.py") if "classroom.button" not in page.read_text()}
    said = (
        (ROOT / "README.md").read_text().partition("a button beside the title of all pages but ")[2].partition(":")[0]
    )
    assert without == {"start", "examples", "model", "your_data", "find_the_bug"}
    assert said == "Start, Examples, Model, Your data and Find the bug"


def test_a_teacher_sees_it_as_the_class_does_and_may_change_it():
    teacher = write_question(classroom(HEADS), *QUERY.options, text=QUERY.text, why=QUERY.why)
    teacher.toggle(key="class hides").set_value(True)
    teacher.button(key="ask own").click().run()
    assert decode(query_without_edition(teacher.query_params)["ask"]).text == QUERY.text
    assert not components(teacher) and "Your question, as it appears to people who open its link" in words(teacher)
    assert "Question from the person who shared this link" not in words(teacher)
    other = classroom(HEADS, **LINK)
    assert other.text_area(key="class text").value == "" and not [b for b in other.button if b.key == "load own"]
    reveal(other).run()
    other.button(key="load own").click().run()
    assert other.text_area(key="class text").value == QUERY.text
    assert other.radio(key="class right").value == 1
    assert not [button for button in other.button if button.key == "load own"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "page", sample(PAGES, lambda page: page.stem in ("masks", "implementations")), ids=lambda page: page.stem
)
def test_our_questions_are_offered_at_one_place(page):
    for name in OFFERS:
        test = classroom(page)
        test.button(key=f"ask {name} class").click().run()
        assert query_without_edition(test.query_params) == {"predict": name} | (
            {"query": "15"} if name == "row" else {}
        )
        assert "Predict first" in words(test)


def test_a_question_of_ours_takes_the_place_of_ones_own_and_the_other_way_round():
    test = classroom(HEADS, **LINK)
    test.button(key="ask row class").click().run()
    assert query_without_edition(test.query_params) == {
        "predict": "row",
        "query": "15",
    }  # at the last row two words share the answer
    assert questions.ours(Config(predict="row")) == "row" and not questions.ours(Config(predict="row", **LINK))
    test.button(key="open class").click().run()
    write_question(test, text="What?").button(key="ask own").click().run()
    assert query_without_edition(test.query_params).keys() == {"ask", "query"}
    test.button(key="open class").click().run()
    assert copied_link(test)["drops"] == ["predict"]


def test_what_is_no_question_yet_is_not_shared_and_why_is_said():
    test = classroom(HEADS)
    assert copied_link(test)["lacking"] == "Nothing was copied: write a question first." and not test.warning
    test.button(key="ask own").click().run()
    assert query_without_edition(test.query_params) == {}
    write_question(test, text="a" * 10_000)
    assert f"The question has {TYPED:,} characters; at most {QUESTION} fit" in test.warning[0].value.replace("\\", "")
    assert (
        copied_link(test)["adds"] == {} and copied_link(test)["lacking"] == "Nothing was copied: see the message below."
    )
    write_question(test, "a", text="Why?")
    assert "needs two answers or more" in test.warning[0].value
    write_question(test, "", text="left \u202e right")
    assert "change the writing direction" in test.warning[0].value
    write_question(test, text="Why?")
    assert not test.warning


def test_a_link_over_2000_characters_is_said_to_be_so():
    words = " ".join(f"{number * 7919:x}" for number in range(400))[:1990]
    test = write_question(classroom(HEADS, text=words), text="Which word is it?")
    assert "The link has over 2,000 characters" in test.warning[0].value
    test.text_input(key="text").set_value("short").run()
    assert not test.warning


def test_a_right_answer_that_is_not_marked_is_told_before_the_link_is_copied():
    test = write_question(classroom(HEADS), "a", "", "b", text="Why?")
    assert "No answer is marked as right" in test.warning[0].value and copied_link(test)["adds"]
    test.radio(key="class right").set_value(1).run()
    assert test.warning  # an empty answer
    test.radio(key="class right").set_value(2).run()
    assert not test.warning
    test = write_question(classroom(HEADS), text="An open question?")
    assert not test.warning


def open_step(page: Path, entry: str) -> AppTest:
    """A page, opened by the entry of a lesson alone."""
    test = AppTest.from_file(str(page), default_timeout=SECONDS)
    test.query_params["lesson"] = entry
    return test.run()


def test_a_lesson_of_two_pictures_is_one_link_with_its_place_and_the_way_on():
    teacher = classroom(HEADS, tokens="9")
    teacher.button(key="add step").click().run()
    assert chain_of(teacher) == []  # there is no question yet
    write_question(teacher, *QUERY.options, right=1, text=QUERY.text, why=QUERY.why)
    teacher.button(key="add step").click().run()
    assert lessons.OWN_NEXT.format(count=1) in words(teacher)
    assert teacher.text_area(key="class text").value == "" and QUERY.text in words(teacher)
    masks = AppTest.from_file(str(HEADS.with_stem("masks")), default_timeout=SECONDS)
    masks.session_state[KEY] = teacher.session_state[KEY]
    masks.query_params["mask"] = "full"
    write_question(masks.run(), text="Which keys are visible?").button(key="add step").click().run()
    (found,) = [each.proto for each in masks.get("bidi_component") if "copy_lesson" in each.proto.id]
    page, _, entry = json.loads(found.json)["copies"].partition("?lesson=")
    assert page == "/heads" and len(entry) < 400 and "river" not in entry

    student = open_step(HEADS, entry)
    assert not student.exception and not student.warning
    assert student.session_state[KEY].here.setting.tokens == 9 and "**Lesson** :gray[· 1 of 2]" in words(student)
    assert QUERY.text in words(student) and QUERY.why not in words(student)
    assert query_without_edition(student.query_params) == {"lesson": entry}
    (onward,) = [link.proto.url for link in student.get("link_button") if link.proto.label == "Next"]
    page, _, query = onward.partition("?")
    second = open_step(HEADS.with_stem(page.strip("/")), dict(parse_qsl(query))["lesson"])
    assert "**Lesson** :gray[· 2 of 2]" in words(second) and "Which keys are visible?" in words(second)
    assert second.selectbox(key="mask").value == "full" and not second.warning
    student.slider(key="temperature").set_value(2.0).run()
    assert set(student.query_params) >= {"lesson", "temperature", "ask"}
    student.button(key="close lesson").click().run()
    assert "lesson" not in student.query_params and "**Lesson**" not in words(student)


def chain_of(test: AppTest) -> list[str]:
    return [step.text for step in test.session_state[KEY].kept.chain]


def test_steps_are_moved_edited_and_deleted_and_a_lesson_goes_on_from_its_link():
    test = classroom(HEADS, temperature="2.0")
    for name in "abc":
        write_question(test, text=name).button(key="add step").click().run()
    test.button(key="edit step 0").click().run()
    assert test.text_area(key="class text").value == "a" and "**Lesson** :gray[· 1 of 3]" in words(test)
    test.button(key="arrow_downward step 0").click().run()
    assert chain_of(test) == ["b", "a", "c"] and test.button(key="arrow_downward step 2").disabled
    test.slider(key="temperature").set_value(3.0).run()
    write_question(test, text="A").button(key="save step").click().run()
    assert chain_of(test) == ["b", "A", "c"] and test.text_area(key="class text").value == ""
    test.button(key="edit step 2").click().run()
    test.button(key="save picture").click().run()
    shown = [dict(step.settings)["temperature"] for step in test.session_state[KEY].kept.chain]
    assert shown == ["2.0", "2.0", "3.0"]
    test.button(key="edit step 2").click().run()
    test.button(key="delete step 0").click().run()
    write_question(test, text="C").button(key="save step").click().run()
    assert chain_of(test) == ["A", "C"]
    (found,) = [each.proto for each in test.get("bidi_component") if "copy_lesson" in each.proto.id]
    other = classroom(HEADS)
    other.text_input(key="class lesson").set_value("https://lab.example/heads?lesson=1.AAAA").run()
    assert chain_of(other) == [] and "not a link of a lesson" in other.warning[0].value
    other.text_input(key="class lesson").set_value(json.loads(found.json)["copies"]).run()
    assert chain_of(other) == ["A", "C"] and not other.warning


@pytest.mark.parametrize("entry", ["", "1", "1.", "9.AAAA", "<b>", "1.___", "1." + "A" * 7000])
def test_what_is_no_lesson_is_told_and_the_page_opens(entry):
    test = run(HEADS, {"lesson": entry, "tokens": "7", **NEWEST})
    assert not test.exception and query_without_edition(test.query_params) == {"tokens": "7"}
    assert "**Lesson**" not in words(test)
    assert bool(test.warning) == bool(entry)


HOSTILE = [
    "<script>alert(1)</script> <b>bold</b> &amp; <img src=x onerror=alert(1)>",
    "# **bold** _it_ `code` ~~gone~~ [x](http://evil.example) ![p](http://evil.example/p.png) ^[1]",
    "$\\frac{1}{2}$ $$\\href{javascript:alert(1)}{x}$$ :material/bolt: :red[x] :smile: -- | a | b |",
    "1. first - second > third \\ 'quoted' \"twice\" http://evil.example www.evil.example a@evil.example",
    "שלום عربي 中文 🙂👩‍👩‍👧 e\u0301\u0302\u0303",
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", HOSTILE)
def test_a_strangers_words_are_words(text):
    asked = CustomQuestion(text, tuple(f"{number} {text}"[:80].strip() for number in range(3)), None, text)
    student = run(HEADS, {"ask": encode(asked)})
    assert not student.exception
    assert [each.value for each in student.markdown if escape(text) in each.value] == [f"**Question.** {escape(text)}"]
    assert guess(student).options == [escape(option) for option in asked.options]
    reveal(student).run()
    assert student.info[0].value == escape(text)
    loaded = classroom(HEADS, ask=encode(asked))
    reveal(loaded).run()
    loaded.button(key="load own").click().run()
    assert loaded.text_area(key="class text").value == text


@pytest.mark.parametrize(("name", "knob"), [("timing", "ask"), ("training", "train_ask")])
def test_pages_of_other_settings_ask_what_a_teacher_writes(name, knob):
    page = HEADS.with_name(f"{name}.py")
    teacher = write_question(classroom(page), *QUERY.options, text=QUERY.text, why=QUERY.why)
    teacher.toggle(key="class hides").set_value(True).run()
    assert not teacher.exception and not [b for b in teacher.button if b.key in ("ask row class", "ask mask class")]
    adds = copied_link(teacher)["adds"]
    assert adds.keys() == {EDITION, knob} and decode(adds[knob]).text == QUERY.text
    student = run(page, adds)
    assert not student.exception and QUERY.text in words(student) and QUERY.why not in words(student)
    hidden = len(student.get("plotly_chart")) + len(student.get("vega_lite_chart")) + len(student.get("page_link"))
    assert hidden == 0 and not [each for each in student.get("link_button") if each.proto.label.startswith("Next")]
    reveal(student).run()
    assert (not student.exception and student.get("plotly_chart")) or student.get("vega_lite_chart")
    student.button(key="end").click().run()
    assert not query_without_edition(student.query_params) and not [
        t for t in student.toggle if t.key.startswith("class")
    ]


def test_without_a_draft_students_see_the_question_that_hides_the_page_and_no_weights():
    test = run(HEADS, {"predict": "row"})
    asked = next(each.value for each in test.markdown if each.value.startswith(f"**{PREDICT}.**"))
    test.button(key="open class").click().run()
    assert lessons.SEEN_HIDDEN in [each.value for each in test.caption]
    assert asked.removeprefix(f"**{PREDICT}.** ") in " ".join(
        each.value for each in test.markdown if each.value != asked
    )
    assert 'class="link-preview"' not in pictures(test)
    write_question(test, "a", "b", text="Which?")
    assert lessons.SEEN_HIDDEN not in [each.value for each in test.caption] and 'class="link-preview"' in pictures(test)


def pictures(test: AppTest) -> str:
    """The HTML of the small pictures."""
    return "".join(each.proto.body for each in test.get("html"))
