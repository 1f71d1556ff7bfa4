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

T = TypeVar("T")
ANSWERS = 64  # answers that are remembered: those to the latest questions


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
    said: str = "This link asks a question."
    keeps: str = "Every page hides the answer until it is revealed."
    own: bool = False


def question_gate(config: Any, question: Question) -> bool:
    """Draws the question about a config, its guesses and the switch that reveals the answer; True once it is revealed."""
    this = _question_key(config)
    switch = f"reveal {this}"
    if page.widgets().get(switch) is None:  # new on this page, but may have been revealed on another
        page.widgets()[switch] = is_revealed(config)
    st.caption(f"{question.said} {question.keeps}" if not page.widgets()[switch] else question.said)
    with st.container(border=True):
        st.markdown(f"**{'Question' if question.own else 'Predict, then reveal'}.** {question.text}")
        guess = _guess(question, this)
        reveal, end = st.columns([3, 1], vertical_alignment="center")
        found = reveal.toggle("Reveal answer", bool(page.widgets()[switch]), key=switch)
        end.button("End question", on_click=page.change, kwargs=none(config), key="end", width="stretch")
        if found:
            _show_verdict(question, guess)
    page.visit_state().revealed = this if found else None
    return found


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


def _guess(question: Question, this: str) -> str | None:
    if not question.guesses:
        return None
    draw = _sentences if question.own else _words
    found = keep_answer(f"guess {this}", lambda key: draw(question.guesses, key))
    return found if found in question.guesses else None


def _sentences(guesses: tuple[str, ...], key: str) -> str | None:
    return st.radio("Your guess", guesses, index=None, key=key)


def _words(guesses: tuple[str, ...], key: str) -> str | None:
    return st.segmented_control("Your guess", guesses, key=key)


def _show_verdict(question: Question, guess: str | None) -> None:
    right = guess is not None and guess in (question.answer, *question.also)
    show = st.success if right else st.info
    answer = f"**{question.answer}.** " if question.answer else ""
    show(f"{_verdict(question, guess, right)}{answer}{question.why}")


def _verdict(question: Question, guess: str | None, right: bool) -> str:
    if guess is None or not question.answer:
        return ""
    return "Right. " if right else f"Not quite: you chose “{guess}”. The answer is "
