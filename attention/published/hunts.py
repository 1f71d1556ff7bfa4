"""A bug to find: a print with a mistake on settings that show it, what one may guess, and what is wrong.

To add one: a line in `HUNTS`. Its mistake must show at its settings without raising, and one of the guesses is right.
"""

from __future__ import annotations

from dataclasses import dataclass

from attention.config import Config


@dataclass(frozen=True)
class Hunt:
    """A question about a row of `ROWS`: `shows` says which of its pictures, `says` what one sees there.

    `shows`: "weights", of each head by query and key, or "influence", of each token on each output.
    """

    row: str
    config: Config
    shows: str
    says: str
    guesses: tuple[str, ...]
    answer: str


HUNTS: tuple[Hunt, ...] = (
    Hunt(
        row="two-heads",
        config=Config(tokens=12, heads=2, d_model=64, batch=1),
        shows="weights",
        says="Two heads read twelve words: a picture a head, a row a word, and the brighter a cell, the more that word takes "
        "from the other.",
        guesses=(
            "The root of d is missing",
            "The mask hides the past",
            "Both heads use another head’s weights",
            "The heads are joined wrongly",
        ),
        answer="Both heads use another head’s weights",
    ),
    Hunt(
        row="fused",
        config=Config(tokens=12, heads=4, d_model=64, batch=1),
        shows="influence",
        says="A causal mask lets each word see itself and those before it. The brighter a cell, the more the output of its row "
        "changes when the word of its column becomes another.",
        guesses=(
            "The mask comes too late",
            "The softmax runs over queries",
            "The axis of heads stays in front",
            "Queries and keys are swapped",
        ),
        answer="The axis of heads stays in front",
    ),
)


def hunt(focus: str) -> Hunt:
    """The one that a page opens with: not about the row in focus, of which the page tells all."""
    return next(each for each in HUNTS if each.row != focus)
