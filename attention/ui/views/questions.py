"""Every question that hides an answer, and the one thing that a page with weights on it does first."""

from __future__ import annotations

from collections.abc import Callable

from attention.config import Config
from attention.sources.origins import idle
from attention.ui import compute, predict
from attention.ui.views import mask_question, row_question, softmax_questions

Asks = Callable[[Config], bool]


def _mask(config: Config) -> bool:
    return predict.opened(config, mask_question.question(config))


def _row(config: Config) -> bool:
    return predict.opened(config, row_question.question(compute.heads.trace(config)))


ASKS: dict[str, Asks] = {"mask": _mask, "temperature": softmax_questions.temperature_opened, "row": _row}
ABOUT = {"mask": "mask", "temperature": "temperature"}  # the knob that a question is about


def can_be_asked(name: str, config: Config) -> bool:
    """Is there such a question, about a knob that does something here?"""
    return name in ASKS and not (name in ABOUT and idle(ABOUT[name], config))


def closed(config: Config, **others: Asks) -> bool:
    """Draws the question that is asked, wherever it was asked; True while this page must not show the answer.

    `others`: how a page asks a question in its own way, by the question's name.
    """
    return can_be_asked(config.predict, config) and not (ASKS | others)[config.predict](config)


def hidden(config: Config) -> bool:
    """Is a page that asks in no way of its own closed?"""
    return can_be_asked(config.predict, config) and not predict.revealed(config)
