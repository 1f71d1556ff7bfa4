"""Traces against PyTorch's attention: they agree, and what is wrong in them is found."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings

from attention import Config, trace
from attention.analysis.parity import Parity, evenly, parity, worst
from attention.trace import run_pass
from tests.samples import examples
from tests.strategies import configs


@settings(deadline=None, max_examples=examples(50))
@given(configs())
def test_every_trace_agrees(config):
    found, whole = trace(config), parity(trace(config))
    assert whole.agrees and max(whole.weights, whole.output, whole.row_sum) < 1e-4 and whole.rounding < 1e-2
    assert whole.blind == int((~found.mask.any(-1)).sum()) and whole.rows == config.tokens


@pytest.mark.parametrize("knobs", [{}, {"softmax": "plus one"}, {"softcap": 5.0}, {"positions": "alibi"}])
def test_what_is_wrong_in_one_row_is_found(knobs):
    found = trace(Config(tokens=40, **knobs))
    assert parity(found).agrees
    weights, context = found.weights.clone(), found.context.clone()
    weights[2, -1] *= 1.01
    context[3, 7, 0] += 0.01
    off = parity(replace(found, weights=weights, context=context))
    assert not off.agrees and off.weights > 1e-4
    assert off.output == pytest.approx(0.01, rel=1e-3) and off.row_sum > 0.001


def test_without_values_what_there_is_is_compared():
    found = trace(Config(tokens=40))
    bare = run_pass(replace(found.given, v=None))
    assert parity(bare) == replace(parity(found), output=None)
    assert not parity(replace(bare, weights=bare.weights * 1.01)).agrees


def test_large_scores_agree_but_for_their_rounding_and_what_is_wrong_is_still_found():
    found = trace(Config(scale="none", temperature=0.05))
    near = parity(replace(found, weights=found.weights * (1 + 5e-5)))
    assert near.agrees and not near.close and 1e-5 < near.weights < near.rounding < 1e-3
    weights = found.weights.clone()
    weights[2, -1] *= 1.01
    assert not parity(replace(found, weights=weights)).agrees
    assert parity(trace(Config())).close and parity(trace(Config())).rounding < 4e-6


def test_rows_are_spread_evenly_and_end_with_the_last():
    assert evenly(9, 3).tolist() == [0, 4, 8] and evenly(3, 9).tolist() == [0, 1, 2]
    assert evenly(9, 1).tolist() == [8] and torch.equal(evenly(1, 5), torch.tensor([0]))


def test_a_difference_that_is_no_number_is_never_lost():
    """max() returns a number or NaN depending on their order."""
    good, bad = Parity(1e-7, 1e-7, 1e-7, 0, 4), Parity(1e-7, float("nan"), 1e-7, 0, 4)
    assert good.agrees and not bad.agrees and not bad.close
    for found in ([good, bad], [bad, good]):
        assert not worst(found).agrees and worst(found).rows == 4
