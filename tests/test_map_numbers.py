"""The numbers of a map against those of all its weights."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings

from attention import Config, head_maps
from attention.analysis.head_numbers import OF_DISTRIBUTIONS
from attention.analysis.map_numbers import hidden_by_pooling, hides_pattern, numbers
from attention.heads import METRICS, profile, row_entropy
from attention.maps import strips, zoom
from attention.maps.blocks import choices, visible
from attention.maps.exact import each_head
from attention.maps.scoring import exponentials
from attention.maps.strips import Strip
from attention.masks import MASKS, Rule, causal, window
from attention.operations.positions import POSITIONS
from attention.sources.chunks import queries_and_keys
from attention.trace import trace
from tests.position_oracle import bias
from tests.samples import examples
from tests.softmax_oracle import NO_DISTRIBUTIONS
from tests.strategies import normal
from tests.test_maps import cases, full, near, small_blocks  # noqa: F401


@settings(deadline=None, max_examples=examples(50))
@given(cases(whole=True))
def test_the_numbers_of_a_map_are_those_of_its_weights(case):
    n, rule = case.query.shape[1], case.mask if isinstance(case.mask, Rule) else MASKS[case.mask]
    want = profile(full(case)[0], rule.square(n, n, case.options["span"]))
    maps = head_maps(case.query, case.key, case.mask, **case.options)
    found = numbers(maps, case.query, case.key)
    distributions = case.options["softmax"] not in NO_DISTRIBUTIONS  # without them there is no entropy
    for name in METRICS:
        if distributions or name not in OF_DISTRIBUTIONS:
            assert near(getattr(found, name), getattr(want, name), 1e-6), name
    assert distributions or found.entropy.isnan().all()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("mask", ["causal", "global", "padding"])
def test_long_heads_one_by_one_agree_with_float64(mask):
    """In float32: to one millionth of what each number can be."""
    query, key = normal(0, 2, 4200, 8), normal(1, 1, 4200, 8)
    exact = numbers(head_maps(query.double(), key.double(), mask, 300), query.double(), key.double())
    for at, maps in enumerate(each_head(query, key, mask, 300)):
        found = numbers(maps, query, key)
        for name in METRICS:
            unit = {"distance": 4200, "entropy": 9}.get(name, 1)
            assert near(getattr(found, name), getattr(exact, name)[at : at + 1], 1e-6 * unit), name


def test_maps_that_lack_something_are_refused():
    q = normal(2, 1, 20, 4)
    for maps, message in [
        (head_maps(q, q, stats=False), "have no statistics: ask head_maps for stats=True"),
        (head_maps(q, q, rows=(2, 9)), "are a window"),
        (zoom.preview(q, q), "have no statistics"),
    ]:
        with pytest.raises(ValueError, match=message):
            numbers(maps, q, q)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(("mask", "left_out"), [(causal, True), (MASKS["full"], True), (causal - window, False)])
@pytest.mark.parametrize("positions", ["none", "alibi bloom", "t5"])
def test_keys_that_a_head_has_forgotten_are_left_out_and_no_number_changes(monkeypatch, mask, left_out, positions):
    """Every token takes 5 to 20 from what came before; a query that does not see itself keeps the largest of its scores."""
    n, q, k = 220, normal(0, 6, 220, 4), normal(1, 6, 220, 4)
    kept = -normal(2, 6, n).double().sigmoid().mul(15).add(5).cumsum(1)
    pieces, taken, real = [], [], Strip.take
    monkeypatch.setattr(Strip, "take", lambda strip, span, shown: pieces.append(span) or real(strip, span, shown))
    monkeypatch.setattr(
        strips, "exponentials", lambda *given, **named: taken.append(1) or exponentials(*given, **named)
    )
    maps = head_maps(q, k, mask, 3, kept=kept, positions=positions, pool="max")
    scores = q.double() @ k.double().mT / 2 - (kept[:, :, None] - kept[:, None]).abs() + bias(positions, 6, n, n)
    weights = scores.masked_fill(~mask.square(n, n, 3), -math.inf).softmax(-1).nan_to_num()
    assert (len(taken) < len(pieces) / 2) == left_out
    assert near(maps.most, weights, 2e-5) and near(maps.mean, weights, 2e-5)
    assert near(maps.entropy, row_entropy(weights), 2e-4)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("positions", ["t5", "t5 causal"])
def test_keys_beyond_the_last_bucket_share_a_number(positions):
    """It is written at once for all keys of a piece that are so far from every query."""
    q, k = normal(0, 2, 220, 4), normal(1, 2, 220, 4)
    for mask in ("causal", "full"):
        scores = q.double() @ k.double().mT / 2 + bias(positions, 2, 220, 220)
        weights = scores.masked_fill(~MASKS[mask].square(220, 220, 3), -math.inf).softmax(-1)
        assert near(head_maps(q, k, mask, positions=positions, pool="max").most, weights, 2e-6)


def test_positions_only_lower_scores_and_nothing_is_added_to_a_query_s_own():
    """Maps rely on it: an upper bound of the products is one of the scores."""
    at, heads = torch.arange(300), torch.arange(12)[:, None, None]
    for rule in filter(lambda rule: rule.to_scores, POSITIONS.values()):
        found = rule.to_scores(at[:, None], at, heads, 12)
        assert bool((found <= 0).all()) and not found.diagonal(0, 1, 2).any()


@pytest.mark.parametrize("tokens", [300, 512])
def test_pooling_hides_the_pattern_of_a_head_with_large_weights_in_every_tile(tokens):
    """The built head “same word” has them in a text that repeats; one with uniform weights has none, and diagonals are seen."""
    config = Config(tokens=tokens)
    query, key = queries_and_keys(config)
    maps = head_maps(query, key, config.rule, side=tokens // 20).pooled_by("max")
    seen = visible(config.rule, tokens, config.span, maps.tile)
    keys = choices(config.rule, tokens, config.span)
    found = [hides_pattern(head, seen, keys, maps.tile) for head in maps.pixels]
    assert found == [True, *[False] * 7]
    assert not hides_pattern(maps.pixels[0], seen, keys, 1)
    exact = trace(config)
    of_weights = [hidden_by_pooling(head, exact.mask, maps.tile) for head in exact.weights]
    assert of_weights == found, "the same from weights and from maps"
    assert not hidden_by_pooling(exact.weights[0], exact.mask, 1)
