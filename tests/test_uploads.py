"""What a visitor has brought is a source as others are, as long as somebody holds it and no longer."""

from __future__ import annotations

import gc
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from attention import Config, ConfigError, knobs, trace
from attention.analysis.mask_effect import baseline
from attention.analysis.parity import parity
from attention.array_files.limits import DataError
from attention.codec import from_query, to_query
from attention.fitting import layers
from attention.imported import registry as held
from attention.imported import validate
from attention.imported.registry import GoneError, is_uploaded, missing_upload, register
from attention.imported.stack import Stack
from attention.recorded.file import OWN
from attention.sources.layer_inputs import Source, Tokens
from attention.sources.providers import UPLOADED, has, idle, keys, provenance, source_title, tokens
from tests import example_uploads
from tests.samples import examples
from tests.strategies import newest, normal, unversioned_config

every = pytest.mark.parametrize("name", example_uploads.STACKS)


@every
def test_it_is_a_source_whose_link_opens_it_as_it_is(name):
    found = example_uploads.holding(name)
    config = Config.of(found.source)
    assert to_query(config) == newest({"source": found.source})
    assert from_query(newest({"source": found.source})) == (config, [])
    t = trace(config)
    assert t.weights.shape == (config.heads, config.tokens, config.n_keys)
    assert (t.queries, t.keys) == (tokens(config), keys(config)) and t.has == has(found.source)
    assert parity(t).agrees
    assert provenance(config) == "Made for a test. Only you can see it."
    assert source_title(found.source) == found.stack.title


@every
def test_every_layer_is_what_was_brought(name):
    found = example_uploads.holding(name)
    for at, layer in enumerate(layers(found.source)):
        config = Config.of(found.source, layer=layer)
        stack, t = found.stack, trace(config)
        if stack.weights is not None:
            assert torch.equal(t.weights, stack.weights[at])
            continue
        assert stack.q is not None and stack.k is not None
        shared = config.heads // stack.k.shape[1]
        q, k = stack.q[at].float(), stack.k[at].float().repeat_interleave(shared, 0)
        mask = (
            square
            if (square := stack.square_of(at)) is not None
            else config.rule.square(config.tokens, config.n_keys, config.span)
        )
        value = torch.eye(config.n_keys).expand(config.heads, -1, -1)
        wanted = F.scaled_dot_product_attention(q, k, value, mask, scale=config.logit_scale).nan_to_num(0)
        torch.testing.assert_close(t.weights, wanted, rtol=1e-5, atol=1e-6)


def test_a_sequence_that_looks_at_another_has_its_tokens_on_either_side():
    found = example_uploads.holding("crossing")
    config = Config.of(found.source)
    assert (config.tokens, config.n_keys, config.is_cross) == (6, 8, True)
    assert tokens(config) == Tokens(6, example_uploads.WORDS) and keys(config) == Tokens(8, example_uploads.OTHERS)
    assert replace(config, cols="3-7").window == ((0, 6), (3, 8))
    with pytest.raises(ConfigError, match="reaches beyond 8 tokens"):
        replace(config, cols="3-8")
    assert not Config().is_cross and Config(keys=9).n_keys == 18


def test_models_larger_than_the_sliders_are_shown():
    found = example_uploads.holding("wide")
    config = Config.of(found.source, layer=79, head=63)
    assert (config.heads, config.d_model, config.kv_heads, config.d_head) == (64, 8192, 8, 128)
    assert trace(config).weights.shape == (64, 5, 5)
    with pytest.raises(ConfigError, match="heads=64 is not a whole number between 1 and 32"):
        Config(heads=64, d_model=64)


def test_of_a_long_one_any_number_of_its_first_tokens_is_shown():
    found = register(example_uploads.long())
    config = Config.of(found.source)
    assert config.tokens == 2000 and config.truncated.tokens == 1024 and not idle("tokens", config)
    assert from_query(to_query(config.truncated)) == (config.truncated, [])
    moved, notes = from_query(newest({"source": found.source, "tokens": "3000"}))
    assert moved == config and notes == ["the source long.npz has 2,000 tokens: tokens moved to 2000."]
    assert trace(config.truncated).q.shape == (2, 1024, 8)
    query, key = UPLOADED.queries_and_keys(Source.of(config), config, range(2))
    assert found.stack.q is not None and found.stack.k is not None
    assert torch.equal(query, found.stack.q[0]) and torch.equal(key, found.stack.k[0])


def test_a_mask_that_came_along_stays_and_its_knobs_say_so():
    found = example_uploads.holding("squared")
    config = Config.of(found.source, mask="window", span=1)
    assert found.stack.square is not None and torch.equal(trace(config).mask, found.stack.square)
    assert all("comes with this source" in idle(name, config) for name in ("mask", "span", "combine", "second"))
    assert not idle("temperature", config)


def test_it_is_gone_with_whoever_held_it():
    gc.collect()
    found = example_uploads.holding("named")
    source, size, before = found.source, found.stack.bytes, held.UPLOADS.used_bytes
    assert size > 0 and missing_upload(source) == ""
    config = Config.of(source)
    del found
    gc.collect()
    assert held.UPLOADS.used_bytes == before - size
    with pytest.raises(
        ConfigError, match=r"“model\.safetensors” is a file that was opened in another visit\. It is not open here\."
    ):
        replace(config, head=1)
    assert from_query(newest({"source": source})) == (
        Config(),
        ["“model.safetensors” is a file that was opened in another visit. It is not open here."],
    )
    assert from_query({"source": source})[0] == unversioned_config()
    with pytest.raises(GoneError, match="no longer open"):
        held.shape(source.partition(":")[2])


def test_another_name_for_a_key_that_is_there_is_no_name():
    found = example_uploads.holding("weights")
    kind, key, _ = found.source.split(":")
    assert missing_upload(f"{kind}:{key}:other.npz") and missing_upload(f"model:{key}:weights.npz")
    assert "not open here" in from_query(newest({"source": f"file:{key}:<script>"}))[1][0]


@settings(deadline=None, max_examples=examples(200))
@given(st.text(max_size=80))
def test_any_name_makes_a_source_that_a_link_carries(name):
    found = register(example_uploads.weights(), name=name)
    assert is_uploaded(found.source) and found.source.split(":", 2)[2].strip()
    assert from_query(newest({"source": found.source})) == (Config.of(found.source), [])


def test_what_steers_the_text_around_it_is_left_out_of_tokens_and_words():
    words = ("a\u202eb", "\x00", "\u2066", "plain", "x" * 3000, "é")
    stack = replace(example_uploads.named_upload(), queries=words, keys=words, what="Bad\u202e words\x07")
    with pytest.raises(DataError, match=r"A token has 3,000 characters; 2,000 are allowed\."):
        register(stack)
    words = (*words[:4], "x", "é")
    found = register(replace(stack, queries=words, keys=words)).stack
    assert found.queries == found.keys == ("ab", "U+0000", "U+2066", "plain", "x", "é") and found.what == "Bad words"


LARGE = torch.ones(3000, 3000, dtype=torch.bool)
Q, K, W = normal(0, 1, 4, 6, 8), normal(1, 1, 2, 6, 8), torch.softmax(normal(2, 1, 4, 6, 6), -1)


def stack(**parts: object) -> Stack:
    """A stack of these parts, whether they fit each other or not: nobody has asked when it is made outside of tests."""
    found = Stack("", "")
    for name, part in parts.items():
        object.__setattr__(found, name, part)
    return found


MISFITS = {
    "q alone": (stack(q=Q), "There is q without k. Queries and keys belong together."),
    "nothing": (stack(), "There are neither weights nor queries and keys"),
    "three axes": (stack(weights=W[0]), "weights is of shape (4, 6, 6) and float32; l h q k are four axes"),
    "whole numbers": (stack(q=Q, k=K.long()), "k is of shape (1, 2, 6, 8) and int64"),
    "heads": (stack(q=Q, k=normal(1, 1, 3, 6, 8)), "3 heads of keys and values don't divide 4 heads"),
    "channels": (stack(q=Q, k=K[..., :7]), "k is of shape (1, 2, 6, 7) and float32; with the others it would be"),
    "mask": (stack(q=Q, k=K, square=torch.ones(6, 5, dtype=torch.bool)), "The mask is of shape (6, 5) and bool"),
    "texts": (stack(queries=("a",), q=Q, k=K), "1 texts of tokens don't fit 6 queries."),
    "numbers": (stack(q=Q, k=K, numbers=(200,)), "The 1 layers are numbered (200,): each from 0 to 127, rising."),
    "knob": (stack(q=Q, k=K, own={"tokens": 3}), "'tokens' is nothing that a source sets."),
    "rule": (stack(q=Q, k=K, own={"mask": "casual"}), "mask='casual' is not one of: full, causal"),
    "span": (stack(q=Q, k=K, own={"span": 0}), "span=0 is not between 1 and 65,536."),
    "one query": (stack(weights=W[:, :, :1]), "There is 1 query; at least 2 are needed."),
    "many heads": (stack(weights=W[:, :1].expand(1, 200, 6, 6)), "There are 200 heads; 1 to 128 can be shown."),
    "many layers": (stack(weights=W.expand(200, 4, 6, 6)), "There are 200 layers; 1 to 128 can be shown."),
    "many weights": (
        stack(weights=W[:, :1, :1, :1].expand(1, 64, 900, 900)),
        "64 heads of 900 × 900 weights are more than this app can show weight by weight: at most 500 tokens with so many heads.",
    ),
    "long and square": (
        stack(q=Q[:, :, :1].expand(1, 4, 3000, 8), k=K[:, :, :1].expand(1, 2, 3000, 8), square=LARGE),
        "longer ones can't have a mask that is not a rule of this app: at most 1,024 tokens here.",
    ),
    "long and crossing": (
        stack(q=Q[:, :, :1].expand(1, 4, 3000, 8), k=K[:, :, :1].expand(1, 2, 2000, 8)),
        "longer ones can't have another sequence",
    ),
    "too large": (
        stack(q=Q[:, :, :1, :1].expand(1, 4, 60_000, 256), k=K[:, :, :1, :1].expand(1, 2, 60_000, 256)),
        "60,000 tokens of 1,024 channels are over the limit of 33,554,432 channels in a layer.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISFITS)
def test_what_does_not_fit_is_refused_with_a_sentence(name):
    stack, words = MISFITS[name]
    with pytest.raises(DataError) as refused:
        register(stack)
    assert words in str(refused.value)


def test_the_bounds_are_those_of_configs():
    assert (validate.LONGEST, validate.CHANNELS, validate.CELLS) == (
        knobs.MAX_TOKENS,
        knobs.MAX_CHANNELS,
        knobs.MAX_WEIGHTS,
    )
    assert validate.TOKENS == knobs.MAX_TRACE_TOKENS


def test_weights_that_come_with_queries_and_keys_are_computed_anew():
    stack = replace(example_uploads.named_upload(), weights=example_uploads.weights().weights)
    found = register(stack)
    assert found.stack.weights is None and has(found.source) == {"q", "k", "v"}


def test_layers_have_the_masks_that_came_with_them():
    """The knobs of the mask are those of the layer, on any way to it, until another mask is chosen."""
    q, k = (normal(seed, 3, 2, 6, 4) for seed in (1, 2))
    rules = (("window", 2), ("causal", 4), ("window", 3))
    held = register(Stack("Mine", "By me.", q=q, k=k, own=OWN | {"scale": "none"}, rules=rules, numbers=(1, 4, 7)))
    first = Config.of(held.source)
    assert (first.layer, first.mask, first.span) == (1, "window", 2)
    for config in (Config.of(held.source, layer=4), first.of_layer(4), from_query(to_query(first.of_layer(4)))[0]):
        assert (config.layer, config.mask, config.combine) == (4, "causal", "none")
        assert torch.equal(trace(config).mask, torch.ones(6, 6, dtype=torch.bool).tril())
        weights = (q[1] @ k[1].mT).masked_fill(~torch.ones(6, 6, dtype=torch.bool).tril(), -torch.inf).softmax(-1)
        torch.testing.assert_close(trace(config).weights, weights, rtol=0, atol=1e-5)
    assert "mask" not in to_query(first.of_layer(7)) and not idle("mask", first)
    chosen = Config.of(held.source, layer=4, mask="full")
    assert trace(chosen).mask.all() and from_query(to_query(chosen)) == (chosen, [])
    for number in (1, 7):
        other = chosen.of_layer(number)
        assert (other.layer, other.mask) == (number, "full") and from_query(to_query(other))[0] == other
    assert baseline(chosen, trace(chosen).mask).mask == "causal"
    assert baseline(chosen.of_layer(7), trace(chosen).mask).rule_name == "window"
    assert baseline(chosen.of_layer(7), trace(chosen).mask).span == 3
    with pytest.raises(DataError, match="There are 2 rules of masks for 3 layers"):
        register(Stack("Mine", "", q=q, k=k, rules=rules[:2]))
