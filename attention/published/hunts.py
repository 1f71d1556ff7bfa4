"""Quizzes about a mistake: published code with settings that show it, the possible answers, and the right one.

To add a quiz, add an entry to `HUNTS`. Its mistake must show at its settings without raising, and exactly one answer is right.
"""

from __future__ import annotations

from dataclasses import dataclass

from attention.config import Config


@dataclass(frozen=True)
class Hunt:
    """A question about a row of `ROWS`: `shows` selects one of its pictures, `says` describes it.

    `shows`: "weights" of each head by query and key, or "influence" of each token on each output. `offered`: the possible
    answers, each with the evidence against it in the pictures or in the code, which is empty for the right answer.
    """

    row: str
    config: Config
    shows: str
    says: str
    offered: tuple[tuple[str, str], ...]

    @property
    def guesses(self) -> tuple[str, ...]:
        """The possible answers."""
        return tuple(guess for guess, _ in self.offered)

    @property
    def answer(self) -> str:
        """The right answer."""
        return next(guess for guess, against in self.offered if not against)

    def against(self, guess: str) -> str:
        """The evidence against an answer; empty if the answer is right."""
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
    """Returns the quiz that a page opens with: one about another row than `focus`, whose answer the page shows."""
    return next(each for each in HUNTS if each.row != focus)
