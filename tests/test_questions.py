"""The questions about a temperature, a share and a mask: each asks about something, and what it calls right is right."""

from __future__ import annotations

import re

import pytest
import torch
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from attention import Config, trace
from attention.analysis.row_stages import stages
from attention.knobs import KNOBS, SOURCES
from attention.sources.providers import has_scores
from attention.ui.text.softmax import SPREAD
from attention.ui.views import mask_question
from attention.ui.views.softmax_questions import (
    ROUNDING,
    SAME,
    SET,
    before,
    possible_limits,
    ranges,
    share,
    temperature,
)
from tests.samples import examples
from tests.strategies import configs

ENDS = [float(KNOBS["temperature"].low), float(KNOBS["temperature"].high)]  # pyright: ignore[reportArgumentType]
temperatures = st.sampled_from([*ENDS, 1.0, 4.0, 5.0]) | st.floats(*ENDS).map(lambda value: round(value, 2))


def temperature_question(config: Config):
    return temperature(stages(trace(before(config))), stages(trace(config)))


@pytest.mark.parametrize("source", [source for source in SOURCES if has_scores(source)])
@given(temperature=temperatures)
@settings(deadline=None, max_examples=examples(20))
def test_the_temperature_question_asks_about_a_change_at_any_setting(source, temperature):
    config = Config.of(source, temperature=temperature)
    there = before(config)
    assert [getattr(there, name) for name in SET] != [getattr(config, name) for name in SET]
    assert there.for_page().for_page("") == Config(**vars(there)).for_page()  # it is a config like any other
    assert there.temperature != config.temperature


def test_the_question_says_both_and_they_differ():
    question = temperature_question(Config())
    assert "with scale 1/sqrt\\(d\\_head\\) and temperature 4. Now it is scale" in question.text.replace("\\-", "-")
    assert "and temperature 1. How will" in question.text
    assert question.answer == "on fewer keys" and "is 4 times what it was." in question.why
    assert "temperature 1. Now" in temperature_question(Config(temperature=20.0)).text


@settings(deadline=None, max_examples=examples(150))
@example(config=Config(softmax="differential", temperature=0.5, query=3, diff_lambda=0.9))
@given(config=configs())
def test_how_weight_is_spread_is_told_as_it_is(config):
    given, row = stages(trace(before(config))), stages(trace(config))
    question = temperature(given, row)
    assert question.guesses == SPREAD and not {"nan", "inf"} & set(re.findall("[a-z]+", question.why))
    entropies = []
    for each in (given, row):
        weights = each.weights.double()[each.visible].abs()
        shares = weights / weights.sum() if weights.sum() > 0 else weights
        entropies.append(-float((shares * shares.clamp(min=1e-300).log()).sum()))
    change = entropies[1] - entropies[0]
    assume(abs(abs(change) - SAME) > 1e-6)
    assert question.answer == (SPREAD[2] if abs(change) < SAME else SPREAD[0] if change > 0 else SPREAD[1])


@settings(deadline=None, max_examples=examples(100))
@given(config=configs())
def test_the_share_of_the_heaviest_key_is_in_the_range_that_is_called_right(config):
    row = stages(trace(config))
    question, top = share(row), float(row.weights.max())
    limits = possible_limits(row)
    low, high = (0.0, *limits, 1.0)[question.guesses.index(question.answer) :][:2]
    assert question.guesses == ranges(limits) and low <= top <= high * (1 + 2 * ROUNDING)
    assert top > low or not low


@pytest.mark.parametrize(("tokens", "answer"), [(2, "at most 50%"), (10, "at most 10%"), (9, "at most 50%")])
def test_equal_keys_have_what_they_have_whatever_the_last_digit_says(tokens, answer):
    assert share(stages(trace(Config(tokens=tokens, text="a", mask="full", projections="tied")))).answer == answer


def test_no_answer_is_offered_that_a_row_of_four_keys_cannot_have():
    question = share(stages(trace(Config(tokens=4, heads=2, d_model=8, projections="independent"))))
    assert question.guesses == ("at most 50%", "over 50% to 90%", "over 90%") and "grey" not in question.text
    assert question.why.replace("\\", "").startswith("“The” (0) gets 29.9%: its logit is 0.084 above the next, so")


@settings(deadline=None, max_examples=examples(150))
@given(config=configs())
def test_the_keys_that_a_query_sees_are_counted_by_hand(config):
    question, n = mask_question.question(config), config.tokens
    at = torch.arange(n)
    seen = int(config.rule(torch.tensor([[config.query_index]]), at[None], n, config.span).expand(1, n).sum())
    assert question.answer == str(seen) and question.guesses.count(question.answer) == 1
    assert 2 <= len(set(question.guesses)) == len(question.guesses)
    assert all(0 <= int(guess) <= n for guess in question.guesses)
