"""Every card by its name in a link, with its place among the others.

A link names a card by the entry `card`: an example or a misconception by its own name, a step of the path as `learn-3`. The
page of the card shows it above the picture.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from attention.examples import EXAMPLES, LEVELS, Example
from attention.lessons.comparisons import COMPARISONS
from attention.lessons.findings import FINDINGS
from attention.lessons.misconceptions import MISCONCEPTIONS
from attention.lessons.path import PATH
from attention.lessons.position_cards import POSITION_CARDS
from attention.settings import CARD

STEP = "learn-"


@dataclass(frozen=True)
class Card:
    """An example at its place in a series: its `name` in links, its `number` of `count`, and the names `before` and `after`.

    `do`: what to try, and `learns`: what one learns, on a step of the path; empty otherwise. `finding`: what one sees, empty on
    the path.
    """

    name: str
    example: Example
    number: int
    count: int
    before: str = ""
    after: str = ""
    do: str = ""
    learns: str = ""
    finding: str = ""

    @property
    def is_step(self) -> bool:
        """Whether it is a step of the path."""
        return bool(self.do)

    @property
    def query(self) -> dict[str, str]:
        """The query of its link."""
        return {**self.example.query, CARD: self.name}


@cache
def gallery() -> dict[str, Card]:
    """The cards of all examples, positions, misconceptions and comparisons, by difficulty."""
    every = EXAMPLES | POSITION_CARDS | MISCONCEPTIONS | COMPARISONS
    cards = _number_cards({name: every[name] for level in LEVELS for name in every if every[name].level == level})
    return {name: replace(card, finding=FINDINGS[name]) for name, card in cards.items()}


@cache
def path() -> dict[str, Card]:
    """The cards of the path."""
    names = {f"{STEP}{number}": step for number, step in enumerate(PATH, 1)}
    cards = _number_cards({name: step.example for name, step in names.items()})
    return {
        name: replace(card, do=names[name].do, learns=names[name].learns or card.example.says)
        for name, card in cards.items()
    }


def find_card(name: str) -> Card | None:
    """The card of a name in a link, None if there is none."""
    return gallery().get(name) or path().get(name)


def _number_cards(examples: dict[str, Example]) -> dict[str, Card]:
    names = ["", *examples, ""]
    return {
        name: Card(name, example, at, len(examples), names[at - 1], names[at + 1])
        for at, (name, example) in enumerate(examples.items(), 1)
    }
