"""The same weights regrouped: against attention over averaged keys and values, in float64."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention import Config, trace
from attention.analysis.kv_groups import cache_bytes, divisors, groupings, name, with_kv_heads
from attention.knobs import KNOBS
from attention.sources.generated import average_heads
from attention.steps import program
from tests.samples import examples

CONFIGS = st.builds(
    Config,
    heads=st.sampled_from([1, 2, 4, 6, 8]),
    d_model=st.just(24),
    tokens=st.integers(2, 9),
    projections=st.sampled_from(KNOBS["projections"].choices),
    positions=st.sampled_from(KNOBS["positions"].choices),
    mask=st.sampled_from(["causal", "full", "window"]),
    seed=st.integers(0, 20),
)


def by_hand(config, kv_heads):
    """Weights and outputs with the keys and values of a group replaced by their mean, in float64."""
    whole = trace(with_kv_heads(config, config.heads))
    size = config.heads // kv_heads
    k, v = (t.double().unflatten(0, (kv_heads, size)).mean(1).repeat_interleave(size, 0) for t in (whole.k, whole.v))
    logits = whole.q.double() @ k.mT * whole.scale + whole.bias
    weights = torch.softmax(logits.masked_fill(~whole.mask, -torch.inf), -1)
    output = (weights @ v).transpose(0, 1).flatten(1) @ whole.projections.output.double()
    return whole, weights, output


@given(CONFIGS, st.data())
@settings(deadline=None, max_examples=examples(15))
def test_averaged_maps_are_averaged_keys_and_values(config, data):
    kv_heads = data.draw(st.sampled_from(divisors(config.heads)))
    _, weights, output = by_hand(config, kv_heads)
    found = trace(with_kv_heads(config, kv_heads))
    torch.testing.assert_close(found.weights.double(), weights, atol=2e-6, rtol=0)
    torch.testing.assert_close(found.output.double(), output, atol=2e-5, rtol=0)


@given(CONFIGS)
@settings(deadline=None, max_examples=examples(8))
def test_differences_are_those_of_float64(config):
    for found in groupings(config):
        whole, weights, output = by_hand(config, found.kv_heads)
        moved = (whole.weights.double() - weights).abs().sum(-1).mean(-1) / 2
        change = (output - whole.output.double()).norm() / whole.output.double().norm()
        assert found.moved == pytest.approx(moved.tolist(), abs=2e-6)
        assert found.output == pytest.approx(float(change), abs=2e-5)


@given(CONFIGS, st.sampled_from(KNOBS["sharing"].choices), st.data())
@settings(deadline=None, max_examples=examples(12))
def test_the_program_regroups_too(config, sharing, data):
    shared = replace(config, kv_heads=data.draw(st.sampled_from(divisors(config.heads))), sharing=sharing)
    names = {}
    exec(program.source(shared), names)
    torch.testing.assert_close(names["weights"], trace(shared).weights, atol=2e-6, rtol=0)


def test_no_sharing_changes_nothing_and_more_sharing_is_no_smaller_cache():
    config = Config(heads=8, d_model=64, tokens=10)
    found = groupings(config)
    assert [each.kv_heads for each in found] == [8, 4, 2, 1]
    assert (found[0].moved, found[0].output) == ((0.0,) * 8, 0.0)
    assert all(0 < each.mean_moved <= 1 and each.output > 0 for each in found[1:])
    assert [name(each.kv_heads, 8) for each in found] == ["multi-head", "grouped-query", "grouped-query", "multi-query"]


def test_heads_that_are_equal_already_stay_as_they_are():
    one, other = torch.randn(6, 3), torch.randn(6, 3)
    assert torch.equal(average_heads(torch.cat([one, one, other, other], 1), 2, 4), torch.cat([one, other], 1))


def test_a_mask_that_hides_everything_moves_nothing():
    config = Config(heads=2, d_model=4, tokens=5, mask="padding", span=9)
    assert [(each.mean_moved, each.output) for each in groupings(config)] == [(0.0, 0.0), (0.0, 0.0)]


def test_the_cache_in_bytes():
    config = Config(heads=8, d_model=512, tokens=1000)
    assert cache_bytes(config, 8, "bfloat16") == 2 * 8 * 64 * 1000 * 2
    assert cache_bytes(config, 1, "float32") == 2 * 64 * 1000 * 4


def test_queries_count_that_see_keys_and_have_no_weight():
    """Where one is added to the denominator, a row's weights may be too small for a float, in some heads only."""
    config = Config(
        softmax="plus one", scale="none", temperature=0.05, projections="independent", mask="window", span=1
    )
    whole, shared = (trace(with_kv_heads(config, kv_heads)) for kv_heads in (config.heads, 1))
    assert ((whole.weights > 0).any(-1) != whole.mask.any(-1)).any()
    moved = (whole.weights.double() - shared.weights.double()).abs().sum(-1).mean(-1) / 2
    assert groupings(config)[-1].moved == pytest.approx(moved.tolist(), abs=1e-6)
