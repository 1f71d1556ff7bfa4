"""Every question that hides an answer, and the gate that a page with weights calls first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from attention.config import Config
from attention.sources.providers import idle
from attention.ui import predict, results
from attention.ui.session import page
from attention.ui.text.questions import UNSAID
from attention.ui.views import card_bar, mask_question, own_question, row_question, softmax_questions

Asks = Callable[[Config], bool]


def _mask(config: Config) -> bool:
    return predict.question_gate(config, mask_question.question(config))


def _row_question(config: Config) -> predict.Question:
    return row_question.question(results.heads.trace(config), results.heads.roles(config))


def _row(config: Config) -> bool:
    ask_next = partial(_ask_about_next_head, config) if config.heads > 1 else None
    return predict.question_gate(config, _row_question(config), ask_next)


def _ask_about_next_head(config: Config) -> None:
    """Asks the same about the next head, which is not a random one; after the last, about the first."""
    page.change(**_fair_row(_next_head(config)))


def _next_head(config: Config) -> Config:
    return replace(config, head=(config.head + 1) % config.heads)


def _fair_row(config: Config) -> dict[str, int]:
    """The head and the query to ask about."""
    head = row_question.fair_head(config)
    return {"head": head, "query": row_question.fair(results.heads.trace(replace(config, head=head)))}


ASKS: dict[str, Asks] = {"mask": _mask, "temperature": softmax_questions.temperature_opened, "row": _row}
ABOUT = {"mask": "mask", "temperature": "temperature"}  # the knob that each question is about


def offer(
    names: dict[str, str],
    where: str = "",
    icon: str | None = ":material/quiz:",
    ask: Callable[..., None] = page.change,
) -> None:
    """Draws a button per question, given its label. Asking hides what is on the screen, and the link carries the question.

    `ask` sets the knobs.
    """
    for name, label in names.items():
        st.button(label, on_click=_ask_question, args=(name, ask), key=f"ask {name} {where}".rstrip(), icon=icon)


def _ask_question(name: str, ask: Callable[..., None]) -> None:
    """Asks; selects another query of the head if a single key does not answer the question for this one.

    Of a random head nothing can be predicted: then the question is about the first head. Without other knobs to set, it is about
    the next head: the page has just said what the selected one does.
    """
    asks: dict[str, Any] = predict.NONE | {"predict": name}
    if name == "row":
        shown = page.setting().truncated
        is_said = ask is page.change and shown.heads > 1
        asks |= _fair_row(_next_head(shown) if is_said else shown)
    page.visit_state().asked = name
    ask(**asks)


def can_be_asked(name: str, config: Config) -> bool:
    """Whether there is such a question, about a knob that has an effect here."""
    return name in ASKS and not (name in ABOUT and idle(ABOUT[name], config))


def ours(config: Config) -> str:
    """The name of the built-in question that is asked, "" if there is none."""
    return config.predict if not config.ask and can_be_asked(config.predict, config) else ""


def question_closes(config: Any, **others: Asks) -> bool:
    """Draws the current question, wherever it was asked; True while this page must not show the answer.

    `others`: a page's own way to ask a built-in question, by the name of the question.
    """
    name = ours(config) if isinstance(config, Config) else ""
    open_ = own_question.question_gate(config) if config.ask else not name or (ASKS | others)[name](config)
    page.visit_state().closed = not open_
    return not open_


def unsaid(config: Any) -> bool:
    """Whether a question next to visible pictures withholds what heads do, because that might be its answer."""
    return card_bar.is_waiting() or (bool(config.ask) and not is_hidden(config) and not predict.is_revealed(config))


def unsaid_finding(instead: str = UNSAID) -> str:
    """What is shown `instead` of a finding that `unsaid` withholds: nothing below a card, whose question is the headline."""
    return "" if card_bar.is_waiting() else instead


def hiding_question(config: Any) -> predict.Question | None:
    """The question that hides the page; None for one with pictures of its own."""
    if config.ask:
        return own_question.question(own_question.decode(config.ask))
    ask = {"mask": mask_question.question, "row": _row_question}.get(ours(config))
    return ask and ask(config.truncated)


def is_hidden(config: Any) -> bool:
    """Whether a question hides the page, for pages that have no own way to ask."""
    if config.ask:
        return own_question.is_hidden(config)
    return isinstance(config, Config) and bool(ours(config)) and not predict.is_revealed(config)
