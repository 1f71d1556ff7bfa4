"""Sources: what an origin gives, the pass of it, and the recordings that ship doing what they say of themselves."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings

from attention import Config, ConfigError, knobs, trace
from attention.codec import from_query, to_query
from attention.fitting import INPUT_KNOBS, coerce, defaults, fixed_by_source
from attention.knobs import DEFAULTS, KNOBS, SOURCES
from attention.recorded import file
from attention.recorded.constructed import NAME, hand_built_recording
from attention.recorded.file import RecordingError, read_recording, write_recording
from attention.recorded.shipped import SHIPPED, path, recording
from attention.sources.generated import Generated
from attention.sources.layer_inputs import LackingError, LayerInputs, Source, Tokens
from attention.sources.providers import PROVIDERS, has, idle, keys, tokens
from attention.sources.providers import layer_inputs as layer_of
from attention.steps.values import values
from attention.trace import run_pass
from tests.samples import examples
from tests.strategies import configs, newest, normal, unversioned_config

TWO = f"recorded:{NAME}"
RECORDED = [source for source in SOURCES if source != "generated"]
every = pytest.mark.parametrize("source", SOURCES)


@every
def test_every_source_has_an_origin_and_knobs_that_fit_it(source):
    config = Config.of(source)
    origin = PROVIDERS[Source.of(config).kind]
    assert origin.idle.keys() == fixed_by_source(source).keys()
    assert {name for name in KNOBS if idle(name, config)} == origin.idle.keys()
    assert layer_of(config).has == has(source)
    t = trace(config)
    assert t.weights.shape == (config.heads, config.tokens, config.tokens)
    assert t.queries == t.keys == tokens(config)
    assert t.queries.count == config.tokens
    assert t.provenance.endswith(".")


@every
def test_a_link_of_a_source_alone_opens_it_as_it_is(source):
    config = Config.of(source)
    assert to_query(config) == ({} if source == "generated" else newest({"source": source}))
    assert from_query(newest({"source": source})) == (config, [])
    assert all(getattr(config, name) == value for name, value in defaults(source).items() if name != "source")


def test_what_a_source_decides_is_named_and_ignored_in_a_link():
    config, notes = from_query(newest({"source": TWO, "tokens": "40", "seed": "7", "mask": "full", "layer": "5"}))
    assert config == Config.of(TWO, mask="full", layer=1)
    assert notes == [
        "tokens=40: the source recorded:two-layers decides that; it was ignored.",
        "seed=7: the source recorded:two-layers decides that; it was ignored.",
        "there is no layer 5 among 2 (counted from 0): layer moved to 1.",
    ]
    assert from_query({"layer": "1"}) == (
        unversioned_config(),
        ["layer=1: the source generated decides that; it was ignored."],
    )


def test_a_name_that_is_none_keeps_the_default_and_says_so():
    config, notes = from_query({"source": "recorded:two-layer"})
    assert config == unversioned_config()
    assert notes == [
        f"source='recorded:two-layer' is not one of: {', '.join(SOURCES)}. Did you mean 'recorded:two-layers'?"
    ]


def test_a_config_that_does_not_fit_its_source_is_refused_with_what_does():
    with pytest.raises(
        ConfigError, match=r"tokens=18: the source recorded:two-layers decides that\. The nearest that "
    ):
        Config(source=TWO)
    wanted = DEFAULTS | {"source": TWO, "layer": 9, "query": 17, "kv_heads": 8}
    assert Config(**coerce(wanted)) == Config.of(TWO, layer=1, query=13)


def test_tokens_are_named_once_and_by_their_source():
    config = Config(tokens=4, text="a b")
    assert trace(config).queries is tokens(config)
    assert tokens(config).labels == ("a", "b", "a", "b")
    assert tokens(replace(config, input="noise")) == Tokens(4)
    assert Tokens(3, (" ", "\n", "x" * 99)).labels == ("␣", "↵", "x" * 79 + "…")
    assert tokens(Config.of(TWO)).labels == recording(NAME).tokens


def test_the_trace_is_the_pass_of_what_the_generated_origin_gives():
    config = Config(tokens=9, heads=2, d_model=8, positions="alibi", mask="window")
    here = run_pass(Generated().layer_inputs(Source("generated"), config))
    assert torch.equal(here.weights, trace(config).weights)
    assert torch.equal(here.output, trace(config).output)
    assert here.has == {"x", "projections", "q", "k", "v"}


@settings(deadline=None, max_examples=examples(40))
@given(config=configs())
def test_self_and_cross_attention_are_one_path(config):
    """What the generated origin gives, with keys of another sequence and values of their width, is what Steps shows."""
    t, found = run_pass(layer_of(config)), values(config)
    for name in ("weights", "context", "output"):
        torch.testing.assert_close(getattr(t, name), found[name], rtol=1e-4, atol=1e-4)
    assert t.keys.count == (config.keys or config.tokens)
    assert (t.queries, t.keys) == (tokens(config), keys(config))
    assert len(t.keys.texts) in (0, t.keys.count)
    alone = trace(config)
    assert alone.config is config and alone.keys is alone.queries
    assert torch.equal(alone.weights, trace(config.for_page()).weights)


def test_knobs_of_some_pages_count_there_as_what_they_are():
    config = Config(keys=5, d_v=3, batch=4, head=1, colors="log")
    assert config.for_page() == Config()
    assert config.for_page("Steps") == Config(keys=5, d_v=3)
    assert config.for_page("Implementations") == Config(keys=5, d_v=3, batch=4)
    several = {name: knob for name, knob in KNOBS.items() if knob.pages}
    assert several.keys() == {"keys", "d_v", "batch"}
    for name in ("keys", "d_v"):
        assert several[name].help.startswith(f"{' and '.join(several[name].pages)}:")


def one(**parts: object) -> LayerInputs:
    """A layer of two heads, three queries and five keys."""
    config = Config(tokens=3, heads=2, d_model=8)
    return LayerInputs(config, Tokens(3), Tokens(5), config.rule, "Made for a test.", **parts)


Q, K, V = (normal(seed, 2, n, 4) for seed, n in ((1, 3), (2, 5), (3, 5)))


@pytest.mark.parametrize("positions", ["none", "alibi"])
def test_a_pass_may_have_other_keys_than_queries_and_any_square(positions):
    square = torch.tensor([[1, 0, 1, 1, 0], [0, 0, 0, 0, 1], [1, 1, 1, 1, 1]]).bool()
    layer = one(q=Q, k=K, v=V)
    t = run_pass(replace(layer, rule=square, config=replace(layer.config, positions=positions)))
    theirs = F.scaled_dot_product_attention(Q, K, V, t.bias.masked_fill(~square, -torch.inf))
    torch.testing.assert_close(t.context, theirs)
    assert torch.equal(t.mask, square)
    assert torch.equal(run_pass(layer).mask, torch.ones(3, 5).tril().bool())


def test_without_values_there_are_weights_and_no_context():
    t = run_pass(one(q=Q, k=K))
    assert torch.equal(t.weights, run_pass(one(q=Q, k=K, v=V)).weights)
    assert t.context.shape == (2, 3, 0)
    with pytest.raises(LackingError, match=r"The source 'generated' has no v\. It has: q, k\."):
        _ = t.v
    with pytest.raises(LackingError, match="has no projections"):
        _ = t.output


def test_weights_that_come_alone_are_taken_as_they_are():
    weights = torch.softmax(normal(4, 2, 3, 5), -1)
    t = run_pass(one(weights=weights, v=V))
    assert t.weights is weights
    torch.testing.assert_close(t.context, weights @ V)
    with pytest.raises(LackingError, match="has neither queries and keys nor weights"):
        run_pass(one(v=V))


# What the heads of the constructed recording do, as its provenance says.


def shares(layer: int, head: int, wanted: dict[int, list[int]]) -> list[float]:
    """What each of some queries gives to the keys that it should look at."""
    weights = trace(Config.of(TWO, layer=layer)).weights[head]
    return [float(weights[query, keys].sum()) for query, keys in wanted.items()]


WORDS = recording(NAME).tokens
SAME = {q: [k for k in range(q + 1) if WORDS[k] == WORDS[q]] for q in range(len(WORDS))}
AFTER = {q: [k + 1 for k in SAME[q] if k < q] for q in range(len(WORDS)) if len(SAME[q]) > 1}


@pytest.mark.parametrize(
    ("layer", "head", "wanted"),
    [
        (0, 0, {q: [q - 1] for q in range(1, len(WORDS))}),
        (0, 1, SAME),
        (1, 0, AFTER),
        (1, 1, {q: [0] for q in range(len(WORDS))}),
    ],
    ids=["previous token", "same word", "induction", "first token"],
)
def test_the_constructed_heads_do_what_their_provenance_says(layer, head, wanted):
    assert len(wanted) > 5
    assert min(shares(layer, head, wanted)) > 0.98
    assert ["previous token", "same word", "induction", "first token"][2 * layer + head] in recording(NAME).what.lower()


def test_the_knobs_act_on_what_was_recorded():
    plain = trace(Config.of(TWO))
    theirs = F.scaled_dot_product_attention(plain.q, plain.k, plain.v, is_causal=True)
    torch.testing.assert_close(plain.context, theirs)
    for changed in (
        {"mask": "full"},
        {"temperature": 4.0},
        {"scale": "none"},
        {"softcap": 1.0},
        {"softmax": "plus one"},
    ):
        t = trace(Config.of(TWO, **changed))
        assert torch.equal(t.q, plain.q)
        assert not torch.equal(t.weights, plain.weights), changed
    assert not torch.equal(trace(Config.of(TWO, layer=1)).weights, plain.weights)


# The format.


def test_the_script_makes_the_file_that_ships():
    assert path(NAME).read_bytes() == write_recording(hand_built_recording())
    assert path(NAME).stat().st_size < 4096


@pytest.mark.parametrize("name", SHIPPED)
def test_every_recording_that_ships_can_be_read_and_shown(name):
    found = recording(name)
    assert replace(found, q=found.q.half().float()).shape == found.shape
    for layer in found.shape.numbers:
        trace(Config.of(f"recorded:{name}", layer=layer))


def test_a_recording_comes_back_as_it_went():
    made = replace(
        hand_built_recording(), v=None, k=hand_built_recording().k[:, :1], own=file.OWN | {"mask": "window", "span": 3}
    )
    back = read_recording(write_recording(made), "made.npz")
    assert torch.equal(back.q, made.q) and torch.equal(back.k, made.k) and back.v is None
    assert {name: getattr(back, name) for name in (*file.WORDS, "tokens", "own")} == {
        name: getattr(made, name) for name in (*file.WORDS, "tokens", "own")
    }
    assert back.shape == file.Shape(2, 2, 1, 14, 16, frozenset("qk"), made.own)


def test_a_recording_may_say_which_layers_of_its_model_it_has():
    back = read_recording(write_recording(replace(hand_built_recording(), chosen=(3, 17))), "made.npz")
    assert back.chosen == back.shape.numbers == (3, 17)
    assert read_recording(npz({"layers": [0, 1]}), "made.npz").shape == hand_built_recording().shape
    assert hand_built_recording().shape.numbers == (0, 1)


def test_a_layer_that_was_not_recorded_is_moved_to_the_nearest():
    config, notes = from_query(newest({"source": "recorded:smollm2-street", "layer": "15"}))
    assert config == Config.of("recorded:smollm2-street", layer=16)
    assert notes == ["there is no layer 15 among 1, 11, 13, 16, 17, 18 (counted from 0): layer moved to 16."]


def test_its_limits_are_what_a_config_can_be():
    assert KNOBS["layer"].high == file.LAYERS - 1
    assert (KNOBS["heads"].high, KNOBS["d_model"].high) == (file.HEADS, file.WIDTH)
    assert (knobs.MAX_TRACE_TOKENS, knobs.MAX_WEIGHTS) == (file.TOKENS, file.CELLS)
    assert all((KNOBS[name].low, KNOBS[name].high) == file.RANGES[name] for name in file.RANGES)
    assert all(set(file.CHOICES[name]) <= set(KNOBS[name].choices) for name in file.CHOICES)
    assert {*file.CHOICES, *file.RANGES} == file.OWN.keys()
    assert set(INPUT_KNOBS).isdisjoint(file.OWN)


def npz(changed: dict[str, object] | None = None, **arrays: np.ndarray | None) -> bytes:
    """The constructed file with other fields and arrays; None leaves one out."""
    with np.load(io.BytesIO(write_recording(hand_built_recording()))) as found:
        parts = {name: found[name] for name in found.files}
    about = json.loads(parts["about"].item()) | (changed or {})
    parts["about"] = np.array(json.dumps({name: value for name, value in about.items() if value is not ...}))
    memory = io.BytesIO()
    np.savez(memory, **{name: array for name, array in (parts | arrays).items() if array is not None})
    return memory.getvalue()


HALF = np.float16


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            b"",
            "it.npz is not an .npz of arrays without pickles: The file is cut off: the end of its zip is missing.",
        ),
        (
            npz()[:-40],
            "it.npz is not an .npz of arrays without pickles: The file is cut off: the end of its zip is missing.",
        ),
        (
            npz(q=np.array([{}], dtype=object)),
            "it.npz is not an .npz of arrays without pickles: 'q' holds Python objects, which are not read",
        ),
        (npz(k=None), "it.npz: k is missing. A recording has about, q, k and may have v."),
        (npz(w=np.zeros(2)), "it.npz: 'w' is not a part of a recording. These are: about, q, k, v."),
        (npz(about=np.array("[]")), "it.npz: about is not the text of a JSON object."),
        (npz(about=np.array("{")), "it.npz: about is not the text of a JSON object."),
        (npz(about=np.zeros(3)), "it.npz: about is not the text of a JSON object."),
        (npz({"license": ...}), "it.npz: license is missing."),
        (npz({"license": " "}), "it.npz: license=' ' is not a sentence of at most 2,000 characters."),
        (npz({"license": "x" * 2001}), "it.npz: license='xxx"),
        (npz({"tokens": ["x" * 2001, "b"]}), "it.npz: tokens=['xxx"),
        (npz({"author": "me"}), "it.npz: 'author' is not a field. These are: format, what, weights, license, made, "),
        (npz({"format": 2}), "it.npz: format=2 is not 'attention recording 1'."),
        (npz({"mask": "casual"}), "it.npz: mask='casual' is not one of: full, causal, window"),
        (npz({"mask": ["full"]}), "it.npz: mask=['full'] is not one of: full, causal, window"),
        (npz({"positions": "rotary"}), "it.npz: positions='rotary' is not one of: none, alibi, alibi bloom."),
        (npz({"span": 0}), "it.npz: span=0 is not a whole number between 1 and 65,536."),
        (npz({"softcap": True}), "it.npz: softcap=True is not a number between 0 and 100."),
        (npz({"softcap": float("nan")}), "it.npz: softcap=nan is not a number between 0 and 100."),
        (npz({"tokens": ["a"]}), "it.npz: tokens=['a'] is not a list of 2 to 1,024 texts."),
        (npz({"tokens": ["a\0", "b"]}), r"it.npz: tokens=['a\x00', 'b'] is not a list of 2 to 1,024 texts."),
        (npz({"tokens": ["a", "b"]}), "it.npz: q is (2, 2, 14, 16); with q and 2 tokens it is (2, 2, 2, 16)."),
        (npz(q=np.zeros((2, 2, 14, 16))), "it.npz: q is of float64; float16 and float32 are allowed."),
        (npz(q=np.zeros((2, 14, 16), HALF)), "it.npz: q has 3 axes; l h n d are four."),
        (npz(q=np.full((2, 2, 14, 16), np.inf, HALF)), "it.npz: q has cells that are not finite numbers."),
        (npz(k=np.zeros((2, 3, 14, 16), HALF), v=None), "it.npz: k has 3 heads, which don't divide the 2 of q."),
        (
            npz(v=np.zeros((2, 2, 14, 8), HALF)),
            "it.npz: v is (2, 2, 14, 8); with q and 14 tokens it is (2, 2, 14, 16).",
        ),
        (
            npz(q=np.zeros((2, 40, 14, 16), HALF)),
            "it.npz: q has 40 heads; 1 to 32 are allowed.",
        ),
        (
            npz(**dict.fromkeys("qkv", np.zeros((2, 2, 14, 2000), HALF))),
            "it.npz: q has 4,000 channels; 1 to 2,048 are allowed.",
        ),
        (npz(v=np.zeros(2**25, HALF)), "it.npz is not an .npz of arrays without pickles: It unpacks to 67,1"),
        (
            npz({"layers": []}),
            "it.npz: layers=[] is not a list of whole numbers from 0 to 127, each greater than the one ",
        ),
        (npz({"layers": [3, 3]}), "it.npz: layers=[3, 3] is not a list of whole numbers from 0 to 127, each greater"),
        (npz({"layers": [0, 128]}), "it.npz: layers=[0, 128] is not a list of whole numbers from 0 to 127"),
        (npz({"layers": [False, True]}), "it.npz: layers=[False, True] is not a list of whole numbers"),
        (npz({"layers": [3, 5, 7]}), "it.npz: layers names 3; q has 2."),
    ],
    ids=range(36),
)
def test_a_file_that_is_no_recording_is_refused_by_name(data, message):
    with pytest.raises(RecordingError) as refusal:
        read_recording(data, "it.npz")
    assert str(refusal.value).startswith(message)
    assert len(str(refusal.value)) < 300
