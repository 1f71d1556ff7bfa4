"""Maps against PyTorch's attention: they agree, and what is wrong in them is found."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings

from attention import head_maps
from attention.analysis.parity import map_parity
from attention.maps import sizes, zoom
from attention.masks import MASKS, Rule, causal, padding
from tests.samples import examples
from tests.strategies import normal
from tests.test_maps import cases


@settings(deadline=None, max_examples=examples(50))
@given(cases(whole=True))
def test_every_map_agrees(case):
    n, rule = case.query.shape[1], case.mask if isinstance(case.mask, Rule) else MASKS[case.mask]
    found = map_parity(head_maps(case.query, case.key, case.mask, **case.options), case.query, case.key)
    assert max(found.weights, found.output, found.row_sum) < 1e-9
    assert found.blind == int((~rule.square(n, n, case.options["span"]).any(-1)).sum())
    assert found.rows == min(n, 16)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("softmax", ["standard", "plus one"])
def test_long_maps_of_several_heads_agree_within_float32(softmax):
    query, key = normal(0, 4, 4500, 8), normal(1, 2, 4500, 8)
    found = map_parity(head_maps(query, key, causal - padding, 4000, softcap=5.0, softmax=softmax), query, key, rows=5)
    assert found.agrees and found.weights > 0 and found.rows == 5
    assert found.blind == 500


def test_large_scores_of_a_long_map_agree_but_for_their_rounding():
    query, key = 20 * normal(0, 1, 4500, 8), normal(1, 1, 4500, 8)
    found = map_parity(head_maps(query, key, "window", 16, scale=4.0), query, key)
    assert found.agrees and not found.close and found.rounding < 1e-3


def test_rounding_is_that_of_what_each_head_was_computed_in():
    """Float32 where scores are mild and tokens more than 2,048, float64 below and for large scores."""
    query, key = normal(3, 2, 2100, 8), normal(4, 2, 2100, 8)
    most = float(query.norm(dim=-1).max() * key.norm(dim=-1).max()) / 8**0.5
    assert most < sizes.MILD
    for head, mild in enumerate((True, False)):
        q, k = query[head, None] * (1 if mild else 10), key[head, None]
        found, eps = map_parity(head_maps(q, k), q, k), torch.finfo(torch.float32 if mild else torch.float64).eps
        assert eps < found.rounding < eps * (most if mild else 10 * most) and found.agrees
        assert (found.weights > 1e-10) == mild
    both = torch.stack([query[0], query[1] * 10])
    assert map_parity(head_maps(both, key), both, key).rounding > torch.finfo(torch.float32).eps
    short = query[:, :2048], key[:, :2048]
    assert map_parity(head_maps(*short), *short).rounding < most * torch.finfo(torch.float64).eps


def test_what_is_wrong_in_one_head_is_found():
    query, key = normal(2, 3, 200, 8), normal(3, 3, 200, 8)
    maps = head_maps(query, key)
    off = maps.lse.clone()
    off[1, -1] += 0.01
    found = map_parity(replace(maps, lse=off), query, key)
    assert found.weights > 1e-4 and found.output > 1e-4 and found.row_sum == pytest.approx(0.00995, rel=1e-3)
    assert not map_parity(maps, query, key.roll(1, 1)).agrees
    assert not map_parity(head_maps(query, key, "full"), query, key).blind
    assert not map_parity(replace(head_maps(query, key, "full"), scoring=maps.scoring), query, key).agrees


def test_windows_and_previews_are_refused():
    q = torch.ones(1, 20, 4)
    with pytest.raises(ValueError, match="preview has no log-sum-exp"):
        map_parity(zoom.preview(q, q), q, q)
    with pytest.raises(ValueError, match="are a window"):
        map_parity(head_maps(q, q, rows=(2, 9)), q, q)
