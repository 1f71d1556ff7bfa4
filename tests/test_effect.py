"""What a mask does to the weights, against float64 and by definition."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention import Config, ConfigError, trace
from attention.analysis.mask_effect import baseline, difference, hidden_weight, tile_extremes
from attention.masks import COMBINATIONS, MASKS
from tests import example_uploads
from tests.samples import examples

CONFIGS = st.builds(
    Config,
    mask=st.sampled_from(list(MASKS)),
    combine=st.sampled_from(list(COMBINATIONS)),
    span=st.integers(1, 9),
    tokens=st.integers(2, 10),
    heads=st.just(2),
    d_model=st.just(8),
    temperature=st.sampled_from([0.1, 1.0, 3.0]),
)


def without_mask(config):
    """The baseline of generated attention: every key."""
    base = baseline(config, config.rule.square(config.tokens, config.tokens, config.span))
    assert (base.mask, base.combine) == ("full", "none")
    return base


@given(CONFIGS)
@settings(deadline=None, max_examples=examples(30))
def test_what_was_hidden_is_the_total_variation_and_the_rest_grows_in_proportion(config):
    before, after = trace(without_mask(config)), trace(config)
    logits = before.q.double() @ before.k.double().mT * before.scale
    full = torch.softmax(logits, -1)
    lost = (full * ~after.mask).sum(-1)
    torch.testing.assert_close(hidden_weight(before, after.mask).double(), lost, atol=1e-5, rtol=0)
    seeing = after.mask.any(-1)
    apart = (after.weights - before.weights).double().abs().sum(-1) / 2
    torch.testing.assert_close(apart[:, seeing], lost[:, seeing], atol=1e-4, rtol=0)


@given(CONFIGS)
@settings(deadline=None, max_examples=examples(20))
def test_a_difference_takes_from_hidden_keys_and_gives_to_the_others(config):
    before, after = trace(without_mask(config)), trace(config)
    for head in range(config.heads):
        change = difference(before, after, head)
        assert (change[~after.mask] <= 0).all()
        assert (change[after.mask] >= -1e-6).all()
        sums = change.sum(-1)
        lost = torch.where(after.mask.any(-1), 0.0, -1.0)  # a row that sees nothing loses all of its weight
        torch.testing.assert_close(sums, lost, atol=1e-5, rtol=0)


def test_no_mask_moves_nothing():
    config = Config(mask="full", tokens=6, heads=2, d_model=8)
    assert without_mask(config) == config
    assert hidden_weight(trace(config), trace(config).mask).abs().max() == 0


def test_the_baseline_is_the_mask_of_the_source_itself():
    """Of a causal model: weight on later keys, which it never had, is none that a mask could take."""
    holding = example_uploads.holding("named")
    config = Config.of(holding.source, mask="window", span=2)
    own, other = trace(Config.of(holding.source)), trace(config)
    base = baseline(config, other.mask)
    assert (base.mask, base.span) == ("causal", 4) and torch.equal(trace(base).weights, own.weights)
    taken = hidden_weight(trace(base), other.mask)
    later = torch.ones(6, 6, dtype=torch.bool).triu(1)
    by_hand = own.weights.double().masked_fill(later | other.mask, 0).sum(-1)
    torch.testing.assert_close(taken.double(), by_hand, atol=1e-6, rtol=0)
    assert float(taken[:, :2].max()) == 0, "a window of 2 hides nothing from the first two queries of a causal model"


def test_the_baseline_of_generated_attention_is_chosen_and_that_of_others_is_not():
    config = Config(mask="sinks", span=2, baseline="window")
    base = baseline(config, trace(config).mask)
    assert (base.mask, base.span, base.combine) == ("window", 2, "none")
    holding = example_uploads.holding("named")
    with pytest.raises(ConfigError, match="decides that"):
        Config.of(holding.source, baseline="full")


def test_a_mask_that_is_no_rule_is_compared_with_causal_attention_if_it_hides_all_later_keys():
    holding = example_uploads.holding("squared")
    config, ones = Config.of(holding.source), torch.ones(6, 6, dtype=torch.bool)
    assert baseline(config, ones.tril()).mask == baseline(config, ones.tril(-1)).mask == "causal"
    assert baseline(config, ones).mask == "full"
    assert baseline(Config.of(holding.source, baseline="prefix"), ones).mask == "prefix"


def test_a_tile_keeps_the_value_farthest_from_zero_with_its_sign():
    cells = torch.tensor([[0.1, -0.4, 0.0], [0.3, 0.2, 0.0], [0.0, 0.5, -0.1]])
    found, tile = tile_extremes(cells, 2)
    assert tile == 2
    torch.testing.assert_close(found, torch.tensor([[-0.4, 0.0], [0.5, -0.1]]))
    same, one = tile_extremes(cells, 3)
    assert one == 1 and torch.equal(same, cells)


@pytest.mark.parametrize("n", [5, 13])
def test_tiles_lose_no_extreme(n):
    cells = torch.randn(n, n)
    found, _ = tile_extremes(cells, 4)
    assert found.abs().max() == cells.abs().max()
