"""A bug to find: a print with a mistake on settings that show it, what one may guess, and what is wrong.

To add one: a line in `HUNTS`. Its mistake must show at its settings without raising, and one of the guesses is right.
"""

from __future__ import annotations

from dataclasses import dataclass

from attention.config import Config


@dataclass(frozen=True)
class Hunt:
    """A question about a row of `ROWS`: `shows` says which of its pictures, `says` what one sees there.

    `shows`: "weights", of each head by query and key, or "influence", of each token on each output. `offered`: what may be wrong,
    each with what speaks against it in the pictures or in the code; nothing does against the right one.
    """

    row: str
    config: Config
    shows: str
    says: str
    offered: tuple[tuple[str, str], ...]

    @property
    def guesses(self) -> tuple[str, ...]:
        """What one may guess."""
        return tuple(guess for guess, _ in self.offered)

    @property
    def answer(self) -> str:
        """The right guess."""
        return next(guess for guess, against in self.offered if not against)

    def against(self, guess: str) -> str:
        """What speaks against a guess, nothing where it is right."""
        return dict(self.offered)[guess]


HUNTS: tuple[Hunt, ...] = (
    Hunt(
        row="two-heads",
        config=Config(tokens=12, heads=2, d_model=64, batch=1),
        shows="weights",
        says="Two heads read twelve words: a picture a head, a row a word, and the brighter a cell, the more that word takes "
        "from the other.",
        offered=(
            (
                "The root of d is missing",
                "Both heads divide by it, in the lines of `scores_1` and `scores_2`. Without it rows "
                "would be sharper than they should be, and these are flatter.",
            ),
            (
                "The mask hides the past",
                "It hides what comes after a word, on both sides: nothing is bright above the diagonal.",
            ),
            ("Both heads use another head’s weights", ""),
            ("The heads are joined wrongly", "The pictures show weights, which are there before anything is joined."),
        ),
    ),
    Hunt(
        row="fused",
        config=Config(tokens=12, heads=4, d_model=64, batch=1),
        shows="influence",
        says="A causal mask lets each word see itself and those before it. The brighter a cell, the more the output of its row "
        "changes when the word of its column becomes another.",
        offered=(
            ("The mask comes too late", "It is added to the scores, before the softmax, as it should be."),
            ("The softmax runs over queries", "It runs over the last axis, `dim=-1`, and that is the keys."),
            ("The axis of heads stays in front", ""),
            ("Queries and keys are swapped", "Each score is a query times a key, and rows of the scores are queries."),
        ),
    ),
)


def hunt(focus: str) -> Hunt:
    """The one that a page opens with: not about the row in focus, of which the page tells all."""
    return next(each for each in HUNTS if each.row != focus)
