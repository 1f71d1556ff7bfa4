"""A question in the words of the link's author, which are shown as they are and never as markup."""

from __future__ import annotations

from typing import Any

from attention.settings import ConfigError
from attention.ui import predict
from attention.ui.markdown import escape
from attention.ui.predict import Question
from attention.ui.question_codec import CustomQuestion, decode
from attention.ui.session import page
from attention.ui.text import questions as text


def question_gate(config: Any) -> bool:
    """Draws the question; True if the page may show its pictures."""
    asked = decode(config.ask)
    return predict.question_gate(config, question(asked)) or not asked.hides


def is_hidden(config: Any) -> bool:
    """Whether the question hides the pictures."""
    return decode(config.ask).hides and not predict.is_revealed(config)


def question(asked: CustomQuestion) -> Question:
    """The question, as it is drawn."""
    answer = escape(asked.right) if asked.right is not None else ""
    none = text.NOT_MARKED if asked.options else text.NO_ANSWER
    why = escape(asked.why) or ("" if answer else none)
    said, keeps = text.MINE if _mine(asked) else text.BY, text.HIDES[asked.hides]
    return Question(
        escape(asked.text), tuple(map(escape, asked.options)), answer, why, said=said, keeps=keeps, own=True
    )


def _mine(asked: CustomQuestion) -> bool:
    """Whether it is the question in this visitor's own form."""
    try:
        return page.visit_state().draft.to_question() == asked
    except ConfigError:
        return False
