"""Predict, then reveal: the pages hide an answer behind a question until somebody opens it.

The knob `predict` names the question, so a link carries it; that it was opened is in no link, but holds on every page of
the session. Any other setting of the tensors or of the focus is another question, and closed again. To ask: make a
`Question`, and name what draws it in `views/questions.py`, which every page that could give it away asks first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from attention.codec import link
from attention.config import Config
from attention.ui.session import page


@dataclass(frozen=True)
class Question:
    """A question about the settings on the screen: markdown `text`, some `guesses`, the right one, and why it is."""

    text: str
    guesses: tuple[str, ...]
    answer: str
    why: str


def opened(config: Config, question: Question) -> bool:
    """Draws the question, its guesses and the switch that opens it; True once it is open."""
    this = _named(config)
    switch = f"reveal {this}"
    if page.widgets().get(switch) is None:  # it is new on this page, but may have been opened on another
        page.widgets()[switch] = revealed(config)
    st.caption("A question is asked: every page keeps the answer to itself until it is revealed.")
    with st.container(border=True):
        st.markdown(f"**Predict, then reveal.** {question.text}")
        guess = st.segmented_control("Your guess", question.guesses, key=f"guess {this}")
        reveal, end = st.columns([3, 1], vertical_alignment="center")
        found = reveal.toggle("Reveal the answer", bool(page.widgets()[switch]), key=switch)
        end.button("End the question", on_click=page.change, kwargs={"predict": "none"}, key="end", width="stretch")
        if found:
            _answered(question, guess)
    page.kept().revealed = this if found else None
    return found


def revealed(config: Config) -> bool:
    """Has somebody opened the question that is asked about this config?"""
    return page.kept().revealed == _named(config)


def offer(names: dict[str, str]) -> None:
    """Buttons that ask, each with its label: what stands on the screen hides, and the link carries the question."""
    for name, label in names.items():
        st.button(label, on_click=page.change, kwargs={"predict": name}, key=f"ask {name}", icon=":material/quiz:")


def _named(config: Config) -> str:
    return link(replace(config.tensors, predict=config.predict, head=config.head, query=config.query))


def _answered(question: Question, guess: str | None) -> None:
    verdict = "" if guess is None else "Right. " if guess == question.answer else f"Not quite: you said “{guess}”. "
    show = st.success if guess == question.answer else st.info
    show(f"{verdict}**{question.answer}.** {question.why}")
