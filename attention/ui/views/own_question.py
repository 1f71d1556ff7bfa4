"""A question that whoever made the link asks in words of their own; these are shown as they are, and never as markup."""

from __future__ import annotations

from typing import Any

from attention.settings import ConfigError
from attention.ui import predict
from attention.ui.asked import Asked, unpacked
from attention.ui.predict import Question
from attention.ui.session import page
from attention.ui.words import plain

BY = "A question by whoever made this link, not by Attention Lab."
MINE = "Your question, as those see it who open its link; it tells them that it is not by Attention Lab."
KEPT = {
    True: "The pictures are hidden until the answer is revealed.",
    False: "The answer is hidden until it is revealed, and so are sentences about what heads do.",
}
NO_ANSWER = "It is an open question: whoever asks it gave no answer. Compare what you think with what others think."
NOT_MARKED = "None of the answers was marked as right: what do you say to each of them?"


def opened(config: Any) -> bool:
    """Draws the question; True where the page may show its pictures."""
    asked = unpacked(config.ask)
    return predict.opened(config, question(asked)) or not asked.hides


def hidden(config: Any) -> bool:
    """Does it keep the pictures to itself?"""
    return unpacked(config.ask).hides and not predict.revealed(config)


def question(asked: Asked) -> Question:
    """As it is drawn."""
    answer = plain(asked.right) if asked.right is not None else ""
    none = NOT_MARKED if asked.options else NO_ANSWER
    why = plain(asked.why) or ("" if answer else none)
    said = MINE if _mine(asked) else BY
    return Question(
        plain(asked.text), tuple(map(plain, asked.options)), answer, why, said=said, keeps=KEPT[asked.hides], own=True
    )


def _mine(asked: Asked) -> bool:
    """Is it the one that stands in this visitor's own form?"""
    try:
        return page.kept().draft.asked() == asked
    except ConfigError:
        return False
