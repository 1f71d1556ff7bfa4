"""All weights of every head: counted one by one."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from hypothesis import given, settings

from attention import Config, trace
from attention.analysis.distribution import BINS, distribution, edges, max_entropy
from tests.samples import examples
from tests.strategies import configs, normal


@given(configs())
@settings(deadline=None, max_examples=examples(30))
def test_every_pair_is_counted_once(config):
    t = trace(config)
    found = distribution(t.weights, t.mask, config.softmax != "standard")
    assert (found.counts.sum(-1) + found.below + found.zero).tolist() == [int(t.mask.sum())] * config.heads
    assert found.seen.tolist() == t.mask.sum(-1).tolist()
    if config.softmax == "differential":  # whose rows have no entropy
        negative = t.weights < 0
        assert (negative.sum((1, 2)).tolist() if negative.any() else None) == (
            None if found.negative is None else found.negative.tolist()
        )
        return
    exact = torch.special.entr(t.weights.double()).sum(-1)
    torch.testing.assert_close(found.entropy.double(), exact, rtol=1e-4, atol=1e-5)
    assert found.negative is None
    assert config.softmax == "sigmoid" or (found.entropy <= found.bound + 1e-5).all()


def test_counts_one_by_one():
    t = trace(Config(tokens=40, heads=2, d_model=64, scale="none", temperature=0.5))
    found = distribution(t.weights, t.mask)
    borders = edges()
    assert len(borders) == BINS + 1
    for head in range(2):
        seen = t.weights[head][t.mask].double().tolist()
        assert int(found.zero[head]) == sum(weight == 0 for weight in seen)
        assert int(found.below[head]) == sum(0 < weight < 1e-8 for weight in seen)
        clear = [w for w in seen if w >= 1e-8 and abs(math.log10(w) * 5 - round(math.log10(w) * 5)) > 1e-4]
        counts = [sum(low <= w < high for w in clear) for low, high in itertools.pairwise(borders)]
        on_a_border = sum(w >= 1e-8 for w in seen) - len(clear)
        assert int((found.counts[head] - torch.tensor(counts)).abs().sum()) == on_a_border


@pytest.mark.parametrize("keys", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("below_one", [False, True])
def test_the_bound_is_reached_and_not_passed(keys, below_one):
    """No softmax of many drawn ones has more entropy, and one of them comes near."""
    logits = torch.cat([normal(3, 20_000, keys, dtype=torch.float64), torch.zeros(1, keys)])
    rest = torch.linspace(-4, 4, 20_001)[:, None] if below_one else torch.full((20_001, 1), -torch.inf)
    some = torch.softmax(torch.cat([logits * torch.rand(20_001, 1), rest], -1), -1)[:, :keys]
    limit = float(max_entropy(torch.tensor([keys]), below_one))
    assert float(torch.special.entr(some).sum(-1).max()) == pytest.approx(limit, abs=2e-2)
    assert float(torch.special.entr(some).sum(-1).max()) <= limit + 1e-6


def test_by_eye():
    weights = torch.tensor([[[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 1e-9, 1.0]]])
    found = distribution(weights, torch.ones(3, 3, dtype=torch.bool).tril())
    assert int(found.zero) == 1
    assert int(found.below) == 1
    assert found.counts[0].nonzero()[:, 0].tolist() == [38, 39]
    assert found.counts[0, -2:].tolist() == [2, 2]
