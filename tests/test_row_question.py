"""The question about a row: exactly one of its guesses is right."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings

from attention import Config, trace
from attention.ui.views.row_question import ALIKE, EVEN, question
from tests.strategies import configs


def position(guess: str) -> int:
    return int(re.match(r"\d+", guess)[0])


@settings(deadline=None, max_examples=100)
@given(config=configs())
def test_one_guess_is_right_and_every_other_gets_less(config):
    found = trace(config)
    weights, seen = found.weights[config.head, config.row], found.mask[config.row]
    asked = question(found)
    assert asked.guesses.count(asked.answer) == 1 and len(set(asked.guesses)) == len(asked.guesses) <= 5
    if not seen.any():
        return
    most, keys = weights[seen].max(), {guess: position(guess) for guess in asked.guesses if guess != EVEN}
    if asked.answer == EVEN:
        assert (weights[seen] >= (1 - ALIKE) * most).all()
        return
    assert weights[keys[asked.answer]] >= (1 - ALIKE) * most
    for guess in keys.keys() - {asked.answer}:
        assert seen[keys[guess]] and weights[keys[guess]] < (1 - ALIKE) * most, guess


TIED = {"projections": "tied"}


@pytest.mark.parametrize(
    ("config", "untold", "answer", "why"),
    [
        # the query's own word stands at two places, and gets as much at both
        (Config(**TIED), {"7 boat"}, "17 boat", "It gets 40.0 %, as much as 7 boat; an even spread"),
        (Config(tokens=19, heads=9, d_model=513, head=2, **TIED), {"16 the"}, "18 The", "It gets 16.1 %, as much as 16 "),
        (Config(text="a a a", tokens=3), set(), EVEN, "Each of the 3 keys gets 33"),
    ],
)  # fmt: skip
def test_equal_tokens_are_no_wrong_guesses(config, untold, answer, why):
    asked = question(trace(config))
    assert asked.answer == answer and asked.why.startswith(why)
    assert not untold & set(asked.guesses)
