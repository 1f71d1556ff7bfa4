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
        says="Weights of two heads over twelve tokens: one map per head, one row per token; brighter means more weight.",
        offered=(
            (
                "The scale 1/√d is missing",
                "Both heads apply it, in the lines of `scores_1` and `scores_2`. Without it, rows would be sharper than "
                "correct; these are flatter.",
            ),
            (
                "The mask hides earlier tokens",
                "It masks later tokens, in both versions: nothing is bright above the diagonal.",
            ),
            ("Both heads use another head’s weights", ""),
            ("The heads are joined wrongly", "The pictures show weights, which are computed before heads are joined."),
        ),
    ),
    Hunt(
        row="fused",
        config=Config(tokens=12, heads=4, d_model=64, batch=1),
        shows="influence",
        says="Under the causal mask, each token attends to itself and earlier tokens. Brighter means that the output of the "
        "row changes more if the token of the column is replaced.",
        offered=(
            ("The mask is applied too late", "It is added to the scores before the softmax, as it should be."),
            ("The softmax runs over queries", "It runs over the last axis, `dim=-1`, which is the keys."),
            ("The head axis stays in front", ""),
            ("Queries and keys are swapped", "Each score is a query times a key, and rows of the scores are queries."),
        ),
    ),
)


def hunt(focus: str) -> Hunt:
    """Returns the quiz that a page opens with: one about another row than `focus`, whose answer the page shows."""
    return next(each for each in HUNTS if each.row != focus)
