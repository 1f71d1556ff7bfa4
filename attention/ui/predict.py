"""Predict, then reveal: the pages hide an answer behind a question until somebody opens it.

The knob `predict` names a question of ours, the knob `ask` holds one of whoever made the link, which goes first; so a link
carries it. That it was opened is in no link, but holds on every page of the session. To a question of ours any other
setting of the tensors or of the focus is another question, and closed again. To ask: make a `Question`, and name what draws
it in `views/questions.py`, which every page that could give it away asks first.
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
ANSWERS = 64  # that are remembered, the last ones that were asked for


@dataclass(frozen=True)
class Question:
    """A question, as markdown: its text, some `guesses`, what is right, and why it is.

    `answer`: the right guess, or "" where none is; `also`: others that are as right. `said`: whose question it is, and `keeps`
    what is hidden till it is open. `own`: somebody wrote it who is not us.
    """

    text: str
    guesses: tuple[str, ...]
    answer: str
    why: str
    also: tuple[str, ...] = ()
    said: str = "A question is asked."
    keeps: str = "Every page keeps the answer to itself until it is revealed."
    own: bool = False


def question_gate(config: Any, question: Question) -> bool:
    """Draws the question about some settings, its guesses and the switch that opens it; True once it is open."""
    this = _question_key(config)
    switch = f"reveal {this}"
    if page.widgets().get(switch) is None:  # it is new on this page, but may have been opened on another
        page.widgets()[switch] = is_revealed(config)
    st.caption(f"{question.said} {question.keeps}" if not page.widgets()[switch] else question.said)
    with st.container(border=True):
        st.markdown(f"**{'A question' if question.own else 'Predict, then reveal'}.** {question.text}")
        guess = _guess(question, this)
        reveal, end = st.columns([3, 1], vertical_alignment="center")
        found = reveal.toggle("Reveal the answer", bool(page.widgets()[switch]), key=switch)
        end.button("End the question", on_click=page.change, kwargs=none(config), key="end", width="stretch")
        if found:
            _show_verdict(question, guess)
    page.visit_state().revealed = this if found else None
    return found


def is_revealed(config: Any) -> bool:
    """Has somebody opened the question that is asked about these settings?"""
    return page.visit_state().revealed == _question_key(config)


NONE = {"predict": "none", "ask": ""}  # the knobs where nothing is asked


def none(config: Any) -> dict[str, str]:
    """The same of settings that may have but one of them."""
    return {name: value for name, value in NONE.items() if hasattr(config, name)}


def _question_key(config: Any) -> str:
    if config.ask:
        return blake2s(config.ask.encode(), digest_size=8).hexdigest()
    return link(replace(config.tensors, predict=config.predict, head=config.head, query=config.query))


def keep_answer(key: str, ask: Callable[[str], T]) -> T:
    """What somebody answers in a widget of this key, which `ask` draws: Streamlit forgets it where another page is visited."""
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
    return "Right. " if right else f"Not quite: you said “{guess}”. Right is: "
