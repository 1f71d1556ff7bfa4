"""A question of one's own: what it may be, and how a link carries it. What is no question is said to be none."""

from __future__ import annotations

import base64
import re
import zlib
from random import Random
from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention.codec import NEWEST, from_query, to_query
from attention.config import Config
from attention.settings import ConfigError
from attention.ui.controls.picture import PICTURE
from attention.ui.lesson_codec import PAGES, STEPS, Lesson, Step
from attention.ui.lesson_codec import decode as decode_lesson
from attention.ui.lesson_codec import encode as encode_lesson
from attention.ui.question_codec import (
    BETWEEN,
    BROKEN,
    LARGEST,
    NO_RIGHT,
    OPTION,
    OPTIONS,
    PACKED,
    QUESTION,
    WHY,
    CustomQuestion,
    Draft,
    decode,
    encode,
)
from tests.strategies import LETTERS

line = lambda longest: st.text(LETTERS, max_size=longest).map(lambda text: " ".join(text.split()))  # noqa: E731


@st.composite
def questions(draw) -> CustomQuestion:
    options = draw(st.lists(line(OPTION).filter(bool), max_size=OPTIONS, unique=True).filter(lambda all: len(all) != 1))
    right = draw(st.sampled_from([None, *options]))
    return CustomQuestion(
        draw(line(QUESTION).filter(bool)), tuple(options), right, draw(line(WHY)), draw(st.booleans())
    )


@given(asked=questions())
def test_a_link_gives_the_question_back_and_so_does_the_form(asked):
    code = encode(asked)  # of the letters that are drawn there are few enough
    assert decode(code) == asked
    config, notes = from_query(to_query(Config(ask=code)))
    assert (config.ask, notes) == (code, [])
    assert Draft.of(asked).to_question() == asked


def test_the_answer_is_not_in_plain_sight():
    asked = CustomQuestion("Which word does head 1 look at?", ("boat", "river"), "river", "It looks one word back.")
    code = encode(asked)
    for text in (asked.text, asked.why, *asked.options, "river", "right"):
        assert text not in code
        assert text.encode() not in base64.urlsafe_b64decode(code + "==")
    assert len(code) < 150


def test_a_question_of_the_greatest_size_fits_into_a_link_even_if_it_were_random_letters():
    letters = lambda count: "".join(random.choices(ascii_lowercase, k=count))  # noqa: E731
    random = Random(0)
    options = tuple(letters(OPTION) for _ in range(OPTIONS))
    assert 900 < len(encode(CustomQuestion(letters(QUESTION), options, options[2], letters(WHY)))) < 1200


def test_a_question_that_is_too_long_for_a_link_is_said_to_be_so():
    random = Random(0)
    signs = lambda count: "".join(chr(random.randrange(0x4E00, 0x9FFF)) for _ in range(count))  # noqa: E731
    with pytest.raises(ConfigError, match=f"at most {PACKED:,} fit. Shorten it by about"):
        encode(CustomQuestion(signs(QUESTION), tuple(signs(OPTION) for _ in range(OPTIONS)), None, signs(WHY)))


def packed_question(text: str) -> str:
    deflate = zlib.compressobj(9, wbits=-15)
    return base64.urlsafe_b64encode(deflate.compress(text.encode()) + deflate.flush()).decode().rstrip("=")


GOOD = BETWEEN.join(["1", "1", "1", "Why?", "", "a", "b"])


@pytest.mark.parametrize(
    "code",
    [
        "", "a", "ab", "abc", "-", "_____", "A" * PACKED,
        encode(CustomQuestion("Why?"))[:-2],
        packed_question(GOOD) + packed_question(GOOD),
        packed_question(GOOD.replace("1", "2", 1)),  # a format that is none
        packed_question(BETWEEN.join(["1", "3", "1", "Why?", "", "a", "b"])),
        packed_question(BETWEEN.join(["1", "٣", "1", "Why?", "", "a", "b", "c"])),
        packed_question(BETWEEN.join(["1", "0", "2", "Why?", ""])),
        packed_question(BETWEEN.join(["1", "0", "1", "Why?"])),
        packed_question(" " * 3_000_000),
        packed_question(GOOD + " " * LARGEST),
    ],
)  # fmt: skip
def test_whatever_was_not_packed_is_no_question(code):
    with pytest.raises(ConfigError, match="can't be read"):
        decode(code)


def test_a_link_with_what_is_no_question_opens_all_else_and_says_so():
    assert decode(packed_question(GOOD)).options == ("a", "b")  # what the others are like
    config, notes = PICTURE.open({"ask": "AAAA", **NEWEST, "tokens": "7"})
    assert config == Config(tokens=7) and notes == [BROKEN]
    config, notes = PICTURE.open({"ask": "<b>", **NEWEST})
    assert config == Config() and notes[0].startswith("ask='<b>' is not a question as this app packs it")
    _, notes = PICTURE.open({"ask": packed_question(GOOD.replace("Why?", "Why?\u202e")), **NEWEST})
    assert "change the writing direction" in notes[0]


@pytest.mark.parametrize(
    ("draft", "says"),
    [
        (Draft(), "The question is empty"),
        (Draft("a" * 10_000), f"The question has 10,000 characters; at most {QUESTION} fit. Shorten it by 9,700."),
        (Draft("Why?", ("a", "b" * 81)), "Answer 2 has 81 characters"),
        (Draft("Why?", why="a" * 10_000), "The explanation has 10,000 characters"),
        (Draft("Why?", ("a",)), "A choice needs two answers or more"),
        (Draft("Why?", ("a", "a")), "occurs twice"),
        (Draft("Why?", tuple("abcdefg")), "There are 7 answers; at most 6 fit"),
        (Draft("left \u202e right"), "change the writing direction"),
        (Draft("Why?", ("a\u2066", "b")), "Answer 1 has characters"),
        (Draft("Why\0?"), "The question has characters"),
        (Draft("Why\ud800?"), "The question has characters"),
    ],
)
def test_what_is_wrong_with_a_draft_is_said(draft, says):
    with pytest.raises(ConfigError) as error:
        draft.to_question()
    assert says in str(error.value)


def test_lines_become_one_and_empty_ones_are_no_answers():
    draft = Draft(" Why\n\n  so? ", ("", " a ", "", " b\tc "), 3, "because\r\nof it")
    assert draft.to_question() == CustomQuestion("Why so?", ("a", "b c"), "b c", "because of it", hides=False)
    for nothing in (NO_RIGHT, 2, 9):
        assert Draft("Why?", ("a", "b", " "), nothing).to_question().right is None
    assert not Draft(" \n").is_started and Draft(why="x").is_started


asks = st.sampled_from([encode(CustomQuestion("Why?")), encode(CustomQuestion("Wo?", ("ä", "b"), "ä", hides=False))])
steps = st.builds(
    Step, st.sampled_from(PAGES), st.lists(st.tuples(st.just("text"), line(20)), max_size=1).map(tuple), asks
)


@given(chain=st.lists(steps, min_size=1, max_size=STEPS), data=st.data())
def test_a_link_gives_a_lesson_back(chain, data):
    number = data.draw(st.integers(1, len(chain)))
    entry = encode_lesson(chain, number)
    assert decode_lesson(entry) == Lesson(tuple(chain), number) and len(entry) <= 6000
    assert re.fullmatch(r"[1-8]\.[\w-]+", entry, re.ASCII)


def test_a_lesson_that_is_too_long_for_a_link_is_said_to_be_so():
    random = Random(0)
    long = Step(
        "heads", (), encode(CustomQuestion("".join(random.choices(ascii_lowercase, k=QUESTION)), why="x" * WHY))
    )
    other = [
        Step("masks", (("text", "".join(random.choices(ascii_lowercase, k=1900))),), long.ask) for _ in range(STEPS)
    ]
    with pytest.raises(ConfigError, match="at most 6,000 fit"):
        encode_lesson(other)


def lesson_text(*steps: tuple[str, ...]) -> str:
    return "1." + packed_question("\x1d".join("\x1f".join(step) for step in steps))


@pytest.mark.parametrize(
    "entry",
    [
        "", "1", "0.x", "12.x", "1.", "1.-", "1.A" * 3000,
        lesson_text(("heads", "", GOOD)).replace("1.", "2.", 1),
        lesson_text(*[("heads", "", GOOD)] * (STEPS + 1)),
        lesson_text(("../etc", "", GOOD)), lesson_text(("examples", "", GOOD)), lesson_text(("heads", "")),
        lesson_text(("heads", "", "")), lesson_text(("heads", "", GOOD, "x")),
        lesson_text(("heads", "&".join(f"a{n}=1" for n in range(200)), GOOD)),
        lesson_text(("heads", "", GOOD + " " * 50_000)), lesson_text(("heads", "", GOOD.replace("Why?", "\u202e"))),
    ],
)  # fmt: skip
def test_whatever_was_not_packed_is_no_lesson(entry):
    assert decode_lesson(lesson_text(("heads", "tokens=7", GOOD))).step.query["tokens"] == "7"
    with pytest.raises(ConfigError, match="lesson in this link can't be read"):
        decode_lesson(entry)
