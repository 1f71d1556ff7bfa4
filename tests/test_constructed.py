"""Heads that were constructed do what they are called after, at any length, and fade where a head is too narrow for it."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from attention import Config, heads, trace
from attention.inputs import BEFORE
from attention.knobs import KNOBS
from attention.sources.chunks import queries_and_keys
from attention.sources.constructed import OFFSETS, ROLES, frequencies, places
from tests.samples import examples
from tests.strategies import configs

LONG = 65_536
AT = {role: number for number, role in enumerate(ROLES)}


@cache
def weights(**knobs: object) -> Tensor:
    return trace(Config(**knobs)).weights  # pyright: ignore[reportArgumentType]


def back(head: Tensor, by: int) -> float:
    """Mean weight on the token so many places back, of the queries that have one."""
    return float(head.diagonal(-by).mean())


def alike(config: Config) -> Tensor:
    """Which pairs are the same word."""
    words = [text.casefold() for text in trace(config).queries.texts]
    return torch.tensor([[a == b for b in words] for a in words])


@pytest.mark.parametrize("tokens", [18, 300, 1024])
@pytest.mark.parametrize("seed", [0, 7])
def test_each_head_has_most_of_its_weight_where_its_role_says(tokens, seed):
    found, same = weights(tokens=tokens, seed=seed), alike(Config(tokens=tokens, seed=seed))
    assert 0.85 < float((found[AT["same word"]] * same).sum(-1).mean()) < 0.98
    assert 0.85 < back(found[AT["one back"]], 1) < 0.95
    assert 0.85 < float(found[AT["first token"]][:, 0].mean()) < 0.97
    assert 0.85 < back(found[AT["three back"]], 3) < 0.95
    near = found[AT["near"]]
    assert sum(back(near, by) for by in range(6)) > 0.7 and back(near, 0) < 0.4
    both = found[AT["same word and one back"]]
    assert back(both, 1) > 0.3 and float((both * same).sum(-1).mean()) > 0.3
    even = trace(Config(tokens=tokens)).mask / torch.arange(1, tokens + 1)[:, None]
    torch.testing.assert_close(found[AT["broad"]], even, rtol=0.02, atol=0)
    assert not torch.allclose(found[AT["random"]], even, rtol=0.5)


def test_roles_hold_at_the_greatest_length():
    config = Config(tokens=LONG)
    query, key = queries_and_keys(config)
    for role, by in (("one back", 1), ("three back", 3), ("first token", LONG - 1)):
        head = AT[role]
        row = torch.softmax(key[head] @ query[head, -1] / math.sqrt(config.d_head), -1)
        assert float(row[LONG - 1 - by]) > 0.85, role


def test_at_the_defaults_heads_differ():
    found = torch.corrcoef(weights().flatten(1))
    assert float(found[tuple(torch.triu_indices(8, 8, 1))].mean()) < 0.5
    numbers = heads.profile(weights(), trace(Config()).mask)
    assert numbers.previous.argmax() == AT["one back"] and numbers.previous.max() > 0.85
    assert numbers.first.argmax() == AT["first token"] and numbers.first.max() > 0.85


@pytest.mark.parametrize(("role", "by"), [("one back", 1), ("three back", 3)])
def test_roles_fade_where_a_head_is_narrow(role, by):
    shares = [back(weights(tokens=64, d_model=width)[AT[role]], by) for width in (512, 128, 64, 32, 8)]
    assert shares[0] > 0.85 and all(a > b - 0.02 for a, b in pairwise(shares)), shares
    assert shares[-1] == pytest.approx(
        back(weights(tokens=64)[AT["broad"]], by), abs=0.05
    )  # one channel: no pair to turn


def test_from_the_ninth_head_on_roles_begin_again_with_other_offsets():
    found = weights(heads=32, d_model=2048, tokens=40)
    for turn, (short, long) in enumerate(OFFSETS):
        assert back(found[8 * turn + AT["one back"]], short) > 0.6
        assert back(found[8 * turn + AT["three back"]], long) > 0.6
    firsts = [float(found[8 * turn + AT["first token"]][:, 0].mean()) for turn in range(4)]
    assert len({round(first, 2) for first in firsts}) == 4


@pytest.mark.parametrize("tokens", [18, 200])
def test_with_the_word_before_one_head_finds_what_followed_it(tokens):
    config = Config(tokens=tokens, input=BEFORE)
    words = [text.casefold() for text in trace(config).queries.texts]
    found, shares = weights(tokens=tokens, input=BEFORE)[7], []
    for query, word in enumerate(words):
        after = [at + 1 for at in range(query) if words[at] == word]
        shares += [float(found[query, after].sum())] if after else []
    assert len(shares) >= 7 and sum(shares) / len(shares) > 0.85


@pytest.mark.parametrize(
    ("temperature", "scale", "low", "high"),
    [(0.25, "1/sqrt(d_head)", 0.99, 1), (4, "1/sqrt(d_head)", 0, 0.45), (1, "1/d_head", 0, 0.3), (1, "none", 0.999, 1)],
)
def test_temperature_and_scale_act(temperature, scale, low, high):
    assert low <= back(weights(temperature=float(temperature), scale=scale)[AT["one back"]], 1) <= high


@pytest.mark.parametrize("sharing", KNOBS["sharing"].choices)
def test_heads_that_share_keys_share_what_they_can_look_for(sharing):
    """The mean of several heads' keys has each role at a fraction; drawn, the first head of a group keeps its own."""
    alone, shared = weights(), weights(kv_heads=4, sharing=sharing)
    assert back(shared[AT["one back"]], 1) < 0.75 * back(alone[AT["one back"]], 1)
    if sharing == "drawn":
        torch.testing.assert_close(shared[AT["same word"]], alone[AT["same word"]])


@settings(deadline=None, max_examples=examples(50))
@given(config=configs(projections="constructed"))
def test_any_setting_gives_rows_that_sum_to_one_or_see_nothing(config):
    found = trace(config)
    sums = found.weights.sum(-1)
    assert found.weights.isfinite().all()
    assert ((sums <= 1 + 1e-5) & ((sums > 0) == found.mask.any(-1)) | (config.softmax != "standard")).all()


def test_positions_are_told_to_the_last_of_them():
    """A difference of one token turns every pair by its frequency, at the end as at the start."""
    pairs = 128
    turned = []
    for first in (0, LONG - 2):
        here, there = torch.view_as_complex(places(first, first + 2, pairs).view(2, pairs, 2))
        turned.append(there / here)
    torch.testing.assert_close(turned[0], turned[1], rtol=0, atol=1e-6)
    torch.testing.assert_close(turned[0].angle().double(), frequencies(pairs), rtol=0, atol=1e-6)
