"""Every question that hides an answer, and the one thing that a page with weights on it does first."""

from __future__ import annotations

from collections.abc import Callable

from attention.config import Config
from attention.ui import compute, predict
from attention.ui.views import mask_question, row_question, softmax_questions

Asks = Callable[[Config], bool]


def _mask(config: Config) -> bool:
    return predict.opened(config, mask_question.question(config))


def _row(config: Config) -> bool:
    return predict.opened(config, row_question.question(compute.heads.trace(config)))


ASKS: dict[str, Asks] = {"mask": _mask, "temperature": softmax_questions.temperature_opened, "row": _row}


def closed(config: Config, **others: Asks) -> bool:
    """Draws the question that is asked, wherever it was asked; True while this page must not show the answer.

    `others`: how a page asks a question in its own way, by the question's name.
    """
    asks = (ASKS | others).get(config.predict)
    return asks is not None and not asks(config)


def hidden(config: Config) -> bool:
    """Is a page that asks in no way of its own closed?"""
    return config.predict in ASKS and not predict.revealed(config)
