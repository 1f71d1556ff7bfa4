"""Two masks joined: the rule, its words, the weights and the program that computes them."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention import Config, trace
from attention.codec import from_query, to_query
from attention.masks import COMBINATIONS, MASKS
from attention.steps import program
from tests.samples import examples
from tests.strategies import newest

CONFIGS = st.builds(
    Config,
    mask=st.sampled_from(list(MASKS)),
    second=st.sampled_from(list(MASKS)),
    combine=st.sampled_from(list(COMBINATIONS)),
    span=st.integers(1, 12),
    tokens=st.integers(2, 12),
    heads=st.just(2),
    d_model=st.just(8),
)


@given(CONFIGS)
@settings(deadline=None, max_examples=examples(60))
def test_the_rule_is_set_algebra_on_pairs(config):
    first, second, joined = (r.square(config.tokens, config.tokens, config.span) for r in _rules(config))
    for q in range(config.tokens):
        for k in range(config.tokens):
            a, b = bool(first[q, k]), bool(second[q, k])
            kept = {"none": a, "and": a and b, "or": a or b, "without": a and not b}[config.combine]
            assert bool(joined[q, k]) is kept


@given(CONFIGS)
@settings(deadline=None, max_examples=examples(40))
def test_weights_keep_to_the_joined_rule_and_the_program_reproduces_them(config):
    found = trace(config)
    assert not found.weights[:, ~config.rule.square(config.tokens, config.tokens, config.span)].any()
    names = {}
    exec(program.source(config), names)
    torch.testing.assert_close(names["weights"], found.weights, atol=1e-6, rtol=0)


@given(CONFIGS)
@settings(deadline=None, max_examples=examples(40))
def test_the_link_carries_both_masks(config):
    assert from_query(to_query(config)) == (config, [])


def test_a_mask_alone_leaves_the_link_as_it_is():
    assert to_query(Config(mask="window")) == newest({"mask": "window"})
    assert Config(mask="window").rule is MASKS["window"]
    assert Config(mask="window").rule_name == "window"


def test_a_picture_small_enough_to_draw():
    square = Config(mask="causal", combine="without", second="window", span=2, tokens=5).rule.square(5, 5, 2)
    assert ["".join(".x"[int(cell)] for cell in row) for row in square] == [".....", ".....", "x....", "xx...", "xxx.."]


@pytest.mark.parametrize("name", [name for name in COMBINATIONS if name != "none"])
def test_the_words_name_both(name):
    config = Config(mask="window", combine=name, second="documents")
    assert config.rule_name == f"window {name} documents"
    assert all(MASKS[each].help[1:-1] in config.rule.help for each in ("window", "documents"))
    assert config.rule.source == f"{MASKS['window'].source}; {MASKS['documents'].source}"
    assert config.rule.span == "visible keys, the query itself included; length of a document"
    assert config.rule.users == ""


def test_what_both_say_is_said_once():
    rule = Config(mask="window", combine="or", second="dilated").rule
    assert rule.span == "visible keys, the query itself included"


def _rules(config):
    return MASKS[config.mask], MASKS[config.second], config.rule
