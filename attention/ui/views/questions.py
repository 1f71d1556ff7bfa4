"""Every question that hides an answer, and the one thing that a page with weights on it does first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from attention.config import Config
from attention.sources.providers import idle
from attention.ui import predict, results
from attention.ui.session import page
from attention.ui.views import mask_question, own_question, row_question, softmax_questions

Asks = Callable[[Config], bool]


def _mask(config: Config) -> bool:
    return predict.question_gate(config, mask_question.question(config))


def _row(config: Config) -> bool:
    roles = results.heads.roles(config.tensors)
    return predict.question_gate(config, row_question.question(results.heads.trace(config), roles[config.head]))


ASKS: dict[str, Asks] = {"mask": _mask, "temperature": softmax_questions.temperature_opened, "row": _row}
ABOUT = {"mask": "mask", "temperature": "temperature"}  # the knob that a question is about
OFFERS = {
    "row": "Ask about the row",
    "temperature": "Ask about the temperature",
    "mask": "Ask about the mask",
}


UNSAID = "What heads do is said here once the answer is revealed."


def offer(names: dict[str, str], where: str = "", icon: str | None = ":material/quiz:") -> None:
    """Buttons that ask, each with its label: what stands on the screen hides, and the link carries the question."""
    for name, label in names.items():
        st.button(label, on_click=_ask_question, args=(name,), key=f"ask {name} {where}".rstrip(), icon=icon)


def _ask_question(name: str) -> None:
    """Asks; about the row in focus only where a single key answers that, else about another of its head."""
    asks: dict[str, Any] = predict.NONE | {"predict": name}
    if name == "row":
        asks["query"] = row_question.fair(results.heads.trace(page.setting().truncated))
    page.change(**asks)


def can_be_asked(name: str, config: Config) -> bool:
    """Is there such a question, about a knob that does something here?"""
    return name in ASKS and not (name in ABOUT and idle(ABOUT[name], config))


def ours(config: Config) -> str:
    """The question of ours that is asked, "" where there is none."""
    return config.predict if not config.ask and can_be_asked(config.predict, config) else ""


def question_closes(config: Any, **others: Asks) -> bool:
    """Draws the question that is asked, wherever it was asked; True while this page must not show the answer.

    `others`: how a page asks a question of ours in its own way, by the question's name.
    """
    name = ours(config) if isinstance(config, Config) else ""
    open_ = own_question.question_gate(config) if config.ask else not name or (ASKS | others)[name](config)
    page.visit_state().closed = not open_
    return not open_


def unsaid(config: Any) -> bool:
    """Does a question beside the pictures keep to itself what heads do, in words, which might be its answer?"""
    return bool(config.ask) and not is_hidden(config) and not predict.is_revealed(config)


def is_hidden(config: Any) -> bool:
    """Is a page that asks in no way of its own closed?"""
    if config.ask:
        return own_question.is_hidden(config)
    return isinstance(config, Config) and bool(ours(config)) and not predict.is_revealed(config)
