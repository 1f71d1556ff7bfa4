"""Predict, then reveal: pages hide an answer behind a question until the user reveals it.

The knob `predict` names a built-in question; the knob `ask` holds a question by the author of the link, and takes
precedence. So links carry questions. That an answer was revealed is in no link, but holds on every page of the session. For
a built-in question, any other setting of the tensors, the head or the query is another question, whose answer is hidden. To
add one, make a `Question` and name the function that draws it in `views/questions.py`, which every page that could reveal
the answer calls first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import blake2s
from typing import Any, TypeVar

import streamlit as st

from attention.codec import link
from attention.ui.session import page
from attention.ui.text import questions as words

T = TypeVar("T")
ANSWERS = 64  # answers that are remembered: those to the latest questions
LONG = 24  # characters of a guess from which guesses are lines: pills do not wrap


@dataclass(frozen=True)
class Question:
    """A question in Markdown: its text, the `guesses` to choose from, the right `answer`, and why it is right.

    `answer`: the right guess, or "" if there is none; `also`: other guesses that are as right. `said`: a sentence on who asks;
    `keeps`: a sentence on what is hidden until the answer is revealed. `own`: whether a user wrote it.
    """

    text: str
    guesses: tuple[str, ...]
    answer: str
    why: str
    also: tuple[str, ...] = ()
    said: str = words.ASKS
    keeps: str = words.HIDDEN
    own: bool = False


def question_gate(config: Any, question: Question, ask_next: Callable[[], None] | None = None) -> bool:
    """Draws the question about a config, its guesses and the button that reveals the answer; True once it is revealed.

    `ask_next`: asks the next question, which a button does once the answer is revealed.
    """
    this, is_shown = _question_key(config), is_revealed(config)
    asked = not question.own and page.visit_state().asked == config.predict
    said, before = (words.ASKED, f"{words.FIRST} {question.keeps}") if asked else (question.said, question.keeps)
    st.caption(said if is_shown else f"{said} {before}")
    with st.container(border=True):
        st.markdown(f"**{words.OWN if question.own else words.PREDICT}.** {question.text}")
        guess = _marked_guesses(question, f"guess {this}", is_shown)
        with st.container(horizontal=True, vertical_alignment="center"):
            help = words.GUESS_FIRST if question.guesses and guess is None and not is_shown else None
            label, then = (words.HIDE, None) if is_shown else (words.REVEAL, this)
            st.button(label, on_click=_set_revealed, args=(then,), key=f"reveal {this}", help=help)
            if is_shown and ask_next:
                st.button(words.NEXT_QUESTION, on_click=ask_next, key="next question", type="primary")
            st.button(words.END, on_click=page.change, kwargs=none(config), key="end")
        if is_shown:
            show_verdict(question, guess)
    _set_revealed(this if is_shown else None)
    return is_shown


def draw_question(
    key: str, question: Question, lines: bool = False, on_guess: Callable[[], None] | None = None
) -> str | None:
    """Draws a question that hides no picture, and its guesses, of which the right one reveals the answer; returns the chosen one.

    `lines`: one guess per line, as in `draw_guesses`; `on_guess` is called when another guess is chosen.
    """
    st.markdown(question.text)
    return draw_guesses(question, f"guess {key}", lines, label_visibility="collapsed", on_change=on_guess)


def chosen_guess(key: str) -> str | None:
    """The guess that is chosen for a question that `draw_question` draws by this key."""
    guess, held = f"guess {key}", page.widgets()
    return held[guess] if guess in held else page.visit_state().answers.get(guess)


def _set_revealed(question: str | None) -> None:
    page.visit_state().revealed = question


def is_revealed(config: Any) -> bool:
    """Whether the answer to the question about these settings was revealed."""
    return page.visit_state().revealed == _question_key(config)


NONE = {"predict": "none", "ask": ""}  # the knobs without a question


def none(config: Any) -> dict[str, str]:
    """The values of `NONE` for those knobs that the settings have."""
    return {name: value for name, value in NONE.items() if hasattr(config, name)}


def _question_key(config: Any) -> str:
    if config.ask:
        return blake2s(config.ask.encode(), digest_size=8).hexdigest()
    return link(replace(config.for_page(), predict=config.predict, head=config.head, query=config.query))


def keep_answer(key: str, ask: Callable[[str], T]) -> T:
    """The answer in the widget of this key, which `ask` draws; kept here, as Streamlit forgets it on other pages."""
    answers, here = page.visit_state().answers, page.visit_state().here
    if key in answers and not (key in here and key in page.widgets()):
        page.widgets()[key] = answers[key]
    here.add(key)
    found = answers[key] = ask(key)
    for forgotten in list(answers)[:-ANSWERS]:
        del answers[forgotten]
    return found


def draw_guesses(question: Question, key: str, lines: bool = False, **more: Any) -> str | None:
    """Draws the guesses of a question; returns the chosen one, which is kept when another page is opened.

    `lines`: one guess per line even if all are short, as beside questions with longer ones.
    """
    if not question.guesses:
        return None
    draw = _sentences if lines or question.own or max(map(len, question.guesses)) > LONG else _words
    found = keep_answer(key, lambda key: draw(question.guesses, key, more))
    return found if found in question.guesses else None


def _marked_guesses(question: Question, key: str, marks: bool) -> str | None:
    """Draws the guesses, the right ones with a mark if the answer is revealed; the choice stays when the labels change."""
    right = {question.answer, *question.also} if marks else set()
    if key in page.widgets():
        page.widgets()[key] = page.widgets()[key]
    return draw_guesses(question, key, format_func=lambda guess: f"{guess} {words.MARK}" if guess in right else guess)


def _sentences(guesses: tuple[str, ...], key: str, more: dict[str, Any]) -> str | None:
    return st.radio(words.GUESS, guesses, index=None, key=key, **more)


def _words(guesses: tuple[str, ...], key: str, more: dict[str, Any]) -> str | None:
    return st.pills(words.GUESS, guesses, key=key, **more)


def is_right(question: Question, guess: str | None) -> bool:
    """Whether a guess is the answer, or as right as the answer."""
    return guess is not None and guess in (question.answer, *question.also)


def judge_guess(question: Question, guess: str) -> None:
    """Draws whether a guess is right; the answer and the reason follow the right one, so that people can try again."""
    if is_right(question, guess):
        show_verdict(question, guess)
    else:
        st.error(f"{_wrong(guess)}{words.TRY_AGAIN}", icon=":material/cancel:")


def show_verdict(question: Question, guess: str | None) -> None:
    """Draws whether a guess is right, the answer and the reason. A right and a wrong guess differ in colour, icon and words."""
    right = is_right(question, guess)
    answer, reason = f"**{question.answer}.** " if question.answer else "", _reason(question)
    if right and question.answer and reason.startswith(f"{question.answer} "):  # its first words are the answer
        answer, reason = f"**{question.answer}**", reason.removeprefix(question.answer)
    said = f"{_verdict(question, guess, right)}{answer}{reason}"
    if guess is None or not question.answer:
        st.info(said, icon=":material/lightbulb:")
    elif right:
        st.success(said, icon=":material/check_circle:")
    else:
        st.error(said, icon=":material/cancel:")


def _reason(question: Question) -> str:
    """Why the answer is right, without the answer if the reason begins with it."""
    rest = question.why.removeprefix(question.answer).lstrip("\\")  # Markdown escapes the mark that follows
    if not question.answer or not question.why.startswith(question.answer) or rest[:1] not in (":", "."):
        return question.why
    rest = rest[1:].strip()
    return f"{rest[:1].upper()}{rest[1:]}"


def _verdict(question: Question, guess: str | None, right: bool) -> str:
    if guess is None or not question.answer:
        return ""
    return words.RIGHT if right else f"{_wrong(guess)}{words.ANSWER_IS}"


def _wrong(guess: str) -> str:
    return words.WRONG.format(guess=guess if guess.startswith("“") else words.QUOTED.format(guess=guess))
