"""Rooms of classes: laws of their state, their bounds, and both screens driven."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from attention.streamlit_internals import browser_token
from attention.ui import rooms
from attention.ui.question_codec import CustomQuestion, encode
from attention.ui.rooms import (
    ABSENT,
    LETTERS,
    LONGEST,
    MISSES,
    MISSING,
    QUESTIONS,
    ROOMS,
    SEATS,
    TEXT,
    Asked,
    RoomError,
    Rooms,
    Sheet,
    Verdict,
    typed_code,
)
from attention.ui.text import rooms as text
from attention.ui.views import room, room_answers
from tests.samples import examples
from tests.test_pages import PAGES, run

HEADS = next(page for page in PAGES if page.stem == "heads")
ASKED = Asked("Which word?", ("first", "second", "third"))
OTHER = Asked("Which head?", ("0", "1"))
OWN = CustomQuestion("Which word does head 1 look at?", ("the river", "the one before"), "the one before", "One back.")
TEACHER, STUDENT, THIEF = "teacher", "student", "thief"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def open_room(asked: Asked | None = ASKED) -> tuple[Rooms, Clock, str]:
    """Rooms with one that is open, their clock, and its code."""
    clock = Clock()
    found = Rooms(clock)
    code = found.open(TEACHER)
    if asked:
        found.ask(TEACHER, asked)
    return found, clock, code


ANSWERS = st.lists(st.tuples(st.integers(0, 7), st.integers(-1, 3)), max_size=30)


@given(ANSWERS)
@settings(max_examples=examples(50), deadline=None)
def test_a_tally_counts_the_last_valid_answer_of_each_student(given_answers):
    found, _, code = open_room()
    last: dict[int, int] = {}
    for student, guess in given_answers:
        if guess in range(3):
            found.answer(code, f"{student}", 1, guess)
            last[student] = guess
        else:
            with pytest.raises(RoomError, match="not one of the answers"):
                found.answer(code, f"{student}", 1, guess)
    counted, tally = Counter(last.values()), found.tally(TEACHER)
    assert tally.counts == (counted[0], counted[1], counted[2])
    assert tally.students == len({student for student, _ in given_answers})
    assert all(found.look(code, f"{student}").mine == guess for student, guess in last.items())


@pytest.mark.parametrize("key", ["", STUDENT, THIEF, "Teacher"])
def test_nobody_without_the_key_reads_asks_reveals_or_closes(key):
    found, _, code = open_room()
    found.answer(code, STUDENT, 1, 2)
    for act in (
        lambda: found.tally(key),
        lambda: found.ask(key, OTHER),
        lambda: found.reveal(key, ASKED, Verdict((0,), "x")),
        lambda: found.tally(code),
    ):
        with pytest.raises(RoomError, match="closed"):
            act()
    found.close(key)
    assert found.tally(TEACHER).counts == (0, 0, 1)
    assert found.look(code, STUDENT) == Sheet(1, ASKED, 2)
    assert found.look(code, key if key != STUDENT else THIEF).mine is None


def test_a_student_is_told_the_answer_once_it_is_revealed_and_can_not_change_theirs_then():
    found, _, code = open_room()
    found.answer(code, STUDENT, 1, 0)
    assert found.look(code, STUDENT) == Sheet(1, ASKED, 0)
    found.reveal(TEACHER, ASKED, Verdict((1,), "why"))
    with pytest.raises(RoomError, match="revealed"):
        found.answer(code, STUDENT, 1, 1)
    assert found.look(code, STUDENT) == Sheet(1, ASKED, 0, Verdict((1,), "why"))


def test_an_answer_to_an_earlier_question_is_not_one_to_the_next_and_a_question_asked_again_keeps_its_answers():
    found, _, code = open_room()
    found.answer(code, STUDENT, 1, 2)
    found.ask(TEACHER, OTHER)
    with pytest.raises(RoomError, match="changed"):
        found.answer(code, STUDENT, 1, 0)
    found.answer(code, STUDENT, 2, 1)
    found.ask(TEACHER, ASKED)
    assert found.look(code, STUDENT) == Sheet(1, ASKED, 2)
    assert found.tally(TEACHER).counts == (0, 0, 1)


def test_a_room_is_gone_when_it_is_closed_when_its_teacher_stays_away_and_after_its_time():
    found, clock, code = open_room()
    clock.now += ABSENT
    assert found.code_of(TEACHER) == code  # a reload
    clock.now += ABSENT + 1
    with pytest.raises(RoomError, match="no room"):
        found.look(code, STUDENT)
    assert not found.rooms
    code, start = found.open(TEACHER), clock.now
    while clock.now <= start + LONGEST:
        assert found.code_of(TEACHER) == code
        clock.now += ABSENT
    assert found.code_of(TEACHER) == ""
    code = found.open(TEACHER)
    found.close(TEACHER)
    assert not found.rooms
    with pytest.raises(RoomError):
        found.answer(code, STUDENT, 1, 0)


def test_rooms_students_questions_and_codes_have_bounds():
    found, _, code = open_room()
    assert len({found.open(f"{number}") for number in range(ROOMS - 1)} | {code}) == ROOMS
    assert found.open(TEACHER) == code
    with pytest.raises(RoomError, match="in use"):
        found.open("one more")
    for number in range(SEATS):
        found.answer(code, f"{number}", 1, number % 3)
    with pytest.raises(RoomError, match="full"):
        found.look(code, "one more")
    found.answer(code, "0", 1, 1)
    for number in range(2 * QUESTIONS):
        found.ask(TEACHER, Asked(f"{number}", ("a", "b")))
    assert len(found.rooms[code].rounds) == QUESTIONS
    assert found.tally(TEACHER).asked == Asked(f"{2 * QUESTIONS - 1}", ("a", "b"))
    for number in range(2 * MISSING):
        with pytest.raises(RoomError, match="no room"):
            found.look("A", f"thief {number}")
    assert len(found.misses) == MISSING


def test_who_guesses_codes_is_refused_for_a_minute_even_if_one_is_right():
    found, clock, code = open_room()
    for _ in range(MISSES):
        with pytest.raises(RoomError, match="no room"):
            found.look("AAAAA", THIEF)
    with pytest.raises(RoomError, match="Wait a minute"):
        found.look(code, THIEF)
    assert found.look(code, STUDENT).asked == ASKED
    clock.now += rooms.MINUTE
    assert found.look(code, THIEF).asked == ASKED


def test_the_last_of_two_quick_answers_counts_once():
    found, _, code = open_room()
    for guess in (0, 0, 1):
        found.answer(code, STUDENT, 1, guess)
    assert found.tally(TEACHER).counts == (0, 1, 0)
    assert found.look(code, STUDENT).mine == 1


@pytest.mark.parametrize("guess", [True, 3, 10**30, -1])
def test_what_is_no_number_of_an_answer_is_refused(guess: int):
    found, _, code = open_room()
    with pytest.raises(RoomError, match="not one of the answers"):
        found.answer(code, STUDENT, 1, guess)


@pytest.mark.parametrize("guesses", [(), ("one",), ("x",) * 11, ("x" * TEXT, "y")])
def test_a_question_without_a_choice_or_with_too_long_a_text_is_refused(guesses):
    with pytest.raises(RoomError):
        Asked("?", guesses)


def test_pages_look_less_often_when_many_do():
    found = Rooms(Clock())
    codes = [found.open(f"{number}") for number in range(20)]
    seen = [found.pace()]
    for at, code in enumerate(codes):
        for student in range(SEATS):
            found.look(code, f"{student}")
        seen.append(found.pace())
        assert (at + 1) * SEATS / seen[-1] <= rooms.BUSY or seen[-1] == rooms.SLOWEST
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (2.0, rooms.SLOWEST)


@given(st.text(max_size=300))
@settings(max_examples=examples(50), deadline=None)
def test_a_typed_code_is_short_and_the_room_is_found_in_small_letters_with_spaces(typed):
    assert len(typed_code(typed)) <= 3 * 2 * rooms.LENGTH  # some letters are three in capitals
    assert typed_code(f" {LETTERS[:3].lower()} {LETTERS[3:5].lower()}\n") == LETTERS[:5]
    with pytest.raises(RoomError):
        Rooms(Clock()).look(typed_code(typed), STUDENT)


def test_nothing_of_a_key_is_kept():
    found, _, code = open_room()
    found.look(code, "secret of a browser")
    kept = repr(vars(found.rooms[code]))
    assert "secret" not in kept
    assert TEACHER not in kept


def test_a_browser_is_known_by_the_token_in_its_cookie_however_it_is_masked():
    token = b"0123456789abcdef"
    masks = (b"\x00\x00\x00\x00", b"\x01\x02\x03\x04")
    cookies = [
        f"2|{mask.hex()}|{bytes(sign ^ mask[at % 4] for at, sign in enumerate(token)).hex()}|1700000000"
        for mask in masks
    ]
    assert [browser_token({"_streamlit_xsrf": cookie}) for cookie in cookies] == [token.hex()] * 2
    for broken in ("", "2|", "2|00|00|0", "x" * 5000, "2|zz|zz|zz"):
        assert browser_token({"_streamlit_xsrf": broken}) == ""
    assert browser_token({}) == ""


@pytest.fixture
def classroom(monkeypatch) -> Rooms:
    """A server whose owner allows rooms, without any."""
    monkeypatch.setenv("ATTENTION_CLASS", "on")
    found = Rooms()
    monkeypatch.setattr(room, "CLASSROOMS", found)
    monkeypatch.setattr(room_answers, "CLASSROOMS", found)
    return found


def answers_page(code: str = "") -> AppTest:
    test = AppTest.from_string("from attention.ui.views import room_answers\nroom_answers.show()", default_timeout=60)
    test.query_params["code"] = code
    return test.run()


def everything(test: AppTest) -> str:
    """All that the page has sent to the browser."""
    return "".join(str(element.proto) for element in test.main if getattr(element, "proto", None))


def test_a_teacher_opens_a_room_students_answer_and_the_answer_is_told_after_it_is_revealed(classroom):
    teacher = run(HEADS, {"ask": encode(OWN)})
    teacher.button(key="open room").click().run()
    (code,) = classroom.rooms
    students = [answers_page(code), answers_page()]
    students[1].text_input(key="room code").input(f" {code.lower()} ").run()
    assert all(OWN.text in everything(student) for student in students)
    students[0].button(key="answer 1 0").click().run()
    students[1].button(key="answer 1 1").click().run()
    assert all(text.CHOSEN in everything(student) and "One back" not in everything(student) for student in students)
    teacher.run()
    assert not teacher.exception
    assert text.JOINED.format(count=2, students=2) in everything(teacher)
    teacher.button(key=next(each.key for each in teacher.button if each.key.startswith("reveal "))).click().run()
    teacher.run()
    for student, said in zip(students, ("Not quite", "Right"), strict=True):
        student.run()
        assert "One back" in everything(student)
        assert said in everything(student)
        assert not student.button
    teacher.button(key="close room").click().run()
    assert not classroom.rooms
    assert "There is no room" in everything(students[0].run())


def test_an_old_page_and_a_full_room_are_told_so(classroom):
    code = classroom.open("somebody")
    classroom.ask("somebody", ASKED)
    student = answers_page(code)
    classroom.ask("somebody", OTHER)
    student.button(key="answer 1 0").click().run()
    assert classroom.tally("somebody").counts == (0, 0)
    assert len(student.warning) == 1 and not student.run().warning
    for number in range(SEATS):
        if len(classroom.rooms[code].seats) < SEATS:
            classroom.look(code, f"{number}")
    assert "full" in everything(answers_page(code))


def test_a_hostile_code_is_refused_in_words(classroom):
    for code in ("'; DROP TABLE", "<script>", "../" * 50, "\x00", "A" * 5000, "🙂"):
        test = answers_page(code)
        assert not test.exception
        assert "There is no room" in everything(test)
        assert "<script>" not in everything(test)


def test_nothing_of_rooms_is_seen_unless_the_owner_allows_them():
    test = run(HEADS, {"ask": encode(OWN)})
    assert not [each for each in test.button if each.key == "open room"]
    assert room.part().look(None) is None


@pytest.mark.parametrize("query", [{}, {"ask": encode(CustomQuestion("Why?"))}, {"predict": "temperature"}])
def test_a_page_without_a_question_that_can_be_answered_offers_no_room(classroom, query):
    test = run(HEADS, query)
    assert not [each for each in test.button if each.key == "open room"]


@pytest.mark.parametrize("query", [{"card": "roles"}, {"predict": "row"}, {"predict": "mask"}])
def test_cards_and_ready_made_questions_can_be_asked_without_their_answer(classroom, query):
    test = run(HEADS, query)
    test.button(key="open room").click().run()
    (found,) = classroom.rooms.values()
    assert found.current.verdict is None
    assert "answers to choose from" not in everything(test)
    assert len(found.current.asked.guesses) >= 2


def test_a_presentation_counts_in_a_line_and_space_tells_students_the_answer(classroom):
    teacher = run(HEADS, {"ask": encode(OWN)})
    teacher.button(key="open room").click().run()
    (code,) = classroom.rooms
    student = answers_page(code)
    student.button(key="answer 1 1").click().run()
    teacher.query_params["view"] = "present"
    teacher.run()
    said = f"{text.CODE.format(code=code)}\u2003A **0**\u2003B **1**"
    assert any(said in each.value for each in teacher.markdown)
    assert not [each for each in teacher.button if each.key == "close room"]
    teacher.button(key="present reveal").click().run()
    assert "One back" in everything(student.run())
