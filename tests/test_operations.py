"""Operations of the pass against their formulas."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings

from attention import Config, head_maps, trace
from attention.analysis.parity import map_parity, parity
from attention.analysis.row_stages import STAGES, stages, worked_formulas
from attention.attend import attend
from attention.fitting import coerce
from attention.knobs import KNOBS, SOURCES
from attention.maps import zoom
from attention.operations.forgetting import retention
from attention.operations.gate import GATED, GATES
from attention.operations.normalisers import standard
from attention.operations.operation import Spec
from attention.operations.positions import POSITIONS, Positions, alibi, rotary, sinusoidal
from attention.operations.qk_norm import rms_norm
from attention.operations.scale import SCALES, Scale
from attention.operations.softcap import soft_cap
from attention.operations.softmax import SOFTMAXES, head_softmax, normaliser, row_sums
from attention.operations.table import compute, operations
from attention.settings import ConfigError
from attention.sources.chunks import retained
from attention.sources.generated import gate_map
from attention.steps.parts import parts
from attention.steps.plan import by_name
from attention.steps.program import source
from attention.steps.values import pairs, values
from attention.trace import forget_logits
from attention.ui import results
from attention.ui.controls.picture import first_line
from attention.ui.controls.reasons import why
from attention.ui.views import heads_parts
from tests import differential_references
from tests.samples import examples
from tests.strategies import configs, normal, seeds, sizes

plus_one = SOFTMAXES["plus one"].normalise
laws = settings(deadline=None, max_examples=examples(50))


@laws
@given(d=st.integers(1, 4096))
def test_scales_are_their_names(d):
    assert {name: scale(d) for name, scale in SCALES.items()} == {
        "1/sqrt(d_head)": 1 / math.sqrt(d),
        "none": 1.0,
        "1/d_head": 1 / d,
    }


def test_the_usual_scale_keeps_the_variance_of_the_logits():
    q, k = normal(0, 20_000, 64), normal(1, 20_000, 64)
    dots = (q * k).sum(-1)
    assert (dots * SCALES["1/sqrt(d_head)"](64)).var().item() == pytest.approx(1, rel=0.05)
    assert (dots * SCALES["none"](64)).var().item() == pytest.approx(64, rel=0.05)
    assert (dots * SCALES["1/d_head"](64)).var().item() == pytest.approx(1 / 64, rel=0.05)


@laws
@given(n=sizes, channels=st.integers(1, 9))
def test_sinusoids_are_the_formula(n, channels):
    exact = [
        [(math.sin if c % 2 == 0 else math.cos)(t / 10_000 ** ((c - c % 2) / channels)) for c in range(channels)]
        for t in range(n)
    ]
    torch.testing.assert_close(sinusoidal(n, channels), torch.tensor(exact), rtol=1e-5, atol=1e-5)


@laws
@given(seed=seeds, n=sizes, d=st.integers(1, 9), shift=st.integers(0, 500))
def test_rotary_scores_depend_on_the_distance_alone(seed, n, d, shift):
    q, k = normal(seed, 2, n, d, dtype=torch.float64), normal(seed + 1, 2, n, d, dtype=torch.float64)
    at = torch.arange(n)
    here, there = (rotary(q, p) @ rotary(k, p).mT for p in (at, at + shift))
    torch.testing.assert_close(here, there, rtol=0, atol=1e-3 if shift else 1e-12)
    torch.testing.assert_close(rotary(q).norm(dim=-1), q.norm(dim=-1))
    assert torch.equal(rotary(q)[:, 0], q[:, 0])


def test_rotary_turns_a_pair_by_its_position():
    """Two channels are one pair, turned by one radian a position."""
    turned = rotary(torch.tensor([[1.0, 0.0]] * 3))
    exact = torch.tensor([[1.0, 0.0], [math.cos(1), math.sin(1)], [math.cos(2), math.sin(2)]])
    torch.testing.assert_close(turned, exact)


def test_alibi_by_hand():
    """Two heads have slopes 1/16 and 1/256."""
    at = torch.arange(3)
    bias = alibi(at[:, None], at[None, :], torch.arange(2)[:, None, None], 2)
    distance = torch.tensor([[0.0, 1, 2], [1, 0, 1], [2, 1, 0]])
    assert torch.equal(bias, torch.stack([-distance / 16, -distance / 256]))


@settings(deadline=None, max_examples=50)
@given(seed=seeds, n=sizes, d=st.integers(1, 70), size=st.sampled_from([1e-4, 1.0, 1e3]))
def test_qk_norm_is_torchs_rms_norm_bounds_scores_and_commutes_with_positions(seed, n, d, size):
    q, k = (normal(seed + at, 2, n, d, dtype=torch.float64) * size for at in (0, 1))
    near = {"rtol": 0, "atol": 1e-9}
    torch.testing.assert_close(rms_norm(q), torch.nn.functional.rms_norm(q, (d,), eps=1e-6), **near)
    assert (rms_norm(q) @ rms_norm(k).mT).abs().max() <= d * (1 + 1e-9)
    torch.testing.assert_close(rms_norm(rotary(q)), rotary(rms_norm(q)), rtol=0, atol=1e-6 if size == 1 else 1e-3)
    assert torch.autograd.gradcheck(rms_norm, q[:1, :2, :4].clone().requires_grad_())


@pytest.mark.extended
def test_qk_norm_is_the_one_of_qwen3():
    from transformers.models.qwen3.modeling_qwen3 import Qwen3RMSNorm

    for seed, shape in enumerate([(1, 2, 3, 4), (2, 4, 7, 64), (1, 1, 9, 128)]):
        x = normal(seed, *shape)
        torch.testing.assert_close(rms_norm(x), Qwen3RMSNorm(shape[-1], eps=1e-6)(x).detach())


@pytest.mark.parametrize("source", [source for source in SOURCES if source.startswith("recorded")][:2])
def test_qk_norm_acts_on_queries_and_keys_of_a_source(source):
    """Which are turned already; Steps shows them before and after."""
    config = Config.of(source, qk_norm="on")
    t, plain = trace(config), trace(Config.of(source))
    torch.testing.assert_close(t.q, rms_norm(plain.q))
    assert t.scores.abs().max() <= config.d_head**0.5 * 1.001 < plain.scores.abs().max()
    found = values(config)
    assert torch.equal(found["q"], plain.q)
    torch.testing.assert_close(found["normed q"], t.q)
    torch.testing.assert_close(found["weights"], t.weights, rtol=1e-4, atol=1e-5)


@laws
@given(seed=seeds, softcap=st.floats(0.1, 50))
def test_the_cap_is_its_formula_in_place(seed, softcap):
    scores = normal(seed, 2, 3, 4, dtype=torch.float64) * 20
    exact = softcap * torch.tanh(scores / softcap)
    assert soft_cap(scores, softcap) is scores
    torch.testing.assert_close(scores, exact)
    assert scores.abs().max() <= softcap


@pytest.mark.parametrize("off", [None, 0.0])
def test_without_a_cap_scores_stay(off):
    scores = normal(0, 3, 4)
    assert torch.equal(soft_cap(scores.clone(), off), scores)


@laws
@given(seed=seeds, n=sizes, size=st.sampled_from([1.0, 30.0, 1e4]))
def test_softmaxes_are_their_formulas_in_place(seed, n, size):
    logits = normal(seed, 2, n, n, dtype=torch.float64) * size
    powers = (logits - logits.amax(-1, keepdim=True)).exp()
    one = (-logits.amax(-1, keepdim=True)).exp()
    for softmax, total in ((standard, 0), (plus_one, one)):
        weights = logits.clone()
        assert softmax(weights) is weights
        torch.testing.assert_close(weights, powers / (powers.sum(-1, keepdim=True) + total))


@laws
@given(seed=seeds, n=sizes)
def test_one_in_the_denominator_is_a_key_of_logit_zero(seed, n):
    logits = normal(seed, 2, n, n, dtype=torch.float64)
    wider = torch.softmax(torch.nn.functional.pad(logits, (0, 1)), -1)[..., :-1]
    torch.testing.assert_close(plus_one(logits), wider)


def test_a_block_without_keys_stays_empty():
    """As blocks of rows are whose keys are all masked, also if the whole square has a sink."""
    assert plus_one(torch.empty(3, 0)).shape == (3, 0)
    config = Config(tokens=600, heads=1, d_model=8, mask="padding", span=600, softmax="sink")
    assert not trace(config).weights.any()


def test_a_head_with_nothing_to_say_can_attend_to_nothing():
    weights = plus_one(torch.full((1, 4), -50.0))
    assert weights.sum() < 1e-20
    torch.testing.assert_close(standard(torch.full((1, 4), -50.0)), torch.full((1, 4), 0.25))


def test_sinks_are_drawn_by_themselves_around_their_mean():
    """Nothing else that is drawn changes, every head has its own, and the mean moves all of them by as much."""
    plain, config = trace(Config()), Config(softmax="sink", sink_logit=2.5)
    t = trace(config)
    assert all(torch.equal(getattr(t, name), getattr(plain, name)) for name in ("x", "q", "k", "v", "logits"))
    assert len(set(config.sinks)) == 8 and set(Config(softmax="sink", seed=1).sinks).isdisjoint(config.sinks)
    moved = zip(config.sinks, Config(softmax="sink").sinks, strict=True)
    assert all(high - low == pytest.approx(2.5) for high, low in moved)
    assert Config().sinks == (-math.inf,) * 8 and Config(softmax="plus one").sinks == (0.0,) * 8


@settings(deadline=None, max_examples=50)
@given(seed=seeds, h=st.integers(1, 5), n=sizes, m=sizes, size=st.sampled_from([1.0, 30.0, 1e3]))
def test_a_sink_is_a_key_of_its_logit_without_a_value(seed, h, n, m, size):
    logits, sinks = normal(seed, h, n, m, dtype=torch.float64) * size, normal(seed + 1, h, dtype=torch.float64) * 5
    exact = torch.softmax(torch.cat([logits, sinks[:, None, None].expand(-1, n, 1)], -1), -1)[..., :-1]
    torch.testing.assert_close(normaliser("sink", sinks.tolist())(logits.clone()), exact, rtol=1e-9, atol=1e-9)
    for head in range(h):  # blocks are of one head each
        own = normaliser("sink", sinks.tolist())(logits[head].clone(), (head,))
        torch.testing.assert_close(own, exact[head], rtol=1e-9, atol=1e-9)
        alone = head_softmax("sink", float(sinks[head])).normalise(logits[head].clone())
        torch.testing.assert_close(alone, exact[head], rtol=1e-9, atol=1e-9)


@pytest.mark.extended
def test_sinks_are_those_of_gpt_oss():
    from transformers.models.gpt_oss.modeling_gpt_oss import eager_attention_forward

    for seed, (h, n, d) in enumerate([(1, 3, 4), (4, 7, 8), (6, 33, 64)]):
        q, k, v = (normal(seed + at, 1, h, n, d) for at in range(3))
        sinks, hidden = normal(seed + 3, h), torch.full((n, n), -torch.inf).triu(1)
        layer = torch.nn.Module().eval()
        layer.sinks, layer.num_key_value_groups = torch.nn.Parameter(sinks), 1  # pyright: ignore[reportAttributeAccessIssue, reportArgumentType]
        output, theirs = eager_attention_forward(layer, q, k, v, hidden, d**-0.5)
        found = attend(q[0], k[0], v[0], hidden, normalise=normaliser("sink", sinks.tolist()))
        torch.testing.assert_close(found.weights, theirs[0], rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(found.output, output[0].transpose(0, 1), rtol=1e-5, atol=1e-6)


def test_the_gradient_of_a_sink_is_that_of_one_more_key():
    """With the textbook's formula, whose gradient autograd knows."""
    logits, sink = normal(3, 2, 3, 4, dtype=torch.float64).requires_grad_(), torch.tensor([0.3, -1.0]).double()
    sink.requires_grad_()

    def weights(logits, sink):
        wide = torch.cat([logits, sink[:, None, None].expand(-1, 3, 1)], -1)
        return torch.softmax(wide, -1)[..., :-1]

    def by_sigmoid(logits, sink):
        return torch.softmax(logits, -1) * (logits.logsumexp(-1, keepdim=True) - sink[:, None, None]).sigmoid()

    assert torch.autograd.gradcheck(by_sigmoid, (logits, sink))
    given = torch.autograd.grad(weights(logits, sink).square().sum(), (logits, sink))
    found = torch.autograd.grad(by_sigmoid(logits, sink).square().sum(), (logits, sink))
    for one, other in zip(found, given, strict=True):
        torch.testing.assert_close(one, other)


@settings(deadline=None, max_examples=50)
@given(seed=seeds, h=st.integers(1, 4), n=sizes, e=st.integers(1, 6), c=sizes, gate=st.sampled_from(GATES[1:]))
def test_a_gate_is_its_formula(seed, h, n, e, c, gate):
    """Number by number in float64, from tokens and the map to the gates."""
    u = e if gate == "elementwise" else 1
    x, w, context = (
        normal(seed + at, *shape, dtype=torch.float64) for at, shape in enumerate([(n, c), (c, h * u), (h, n, e)])
    )
    spec = Spec({"b": 1, "q": n, "k": n, "c": c, "h": h, "g": h, "d": e, "e": e, "u": u}, gate=gate)
    gates = compute({"x": x, "W_g": w}, spec, operations(spec, "W_g", "scores"))
    found = compute({"context": context, **gates}, spec, [GATED])["gated"]
    for head, row, channel in itertools.product(range(h), range(n), range(e)):
        logit = sum(float(x[row, i] * w[i, head * u + min(channel, u - 1)]) for i in range(c))
        exact = float(context[head, row, channel]) / (1 + math.exp(-logit))
        assert float(found[head, row, channel]) == pytest.approx(exact, rel=1e-9, abs=1e-9)


@pytest.mark.extended
def test_the_gate_per_channel_is_that_of_qwen3_next():
    """Its layer, whose weights are those before the gate, with its norms at one and positions that turn nothing."""
    from transformers.models.qwen3_next.configuration_qwen3_next import Qwen3NextConfig
    from transformers.models.qwen3_next.modeling_qwen3_next import Qwen3NextAttention

    config = Config(
        tokens=7, heads=4, d_model=32, kv_heads=2, gate="elementwise", qk_norm="on", projections="independent"
    )
    knobs = {"attn_implementation": "eager", "partial_rotary_factor": 1.0, "attention_bias": False, "head_dim": 8}
    own = Qwen3NextConfig(hidden_size=32, num_attention_heads=4, num_key_value_heads=2, **knobs)
    layer, t = Qwen3NextAttention(own, 0), trace(config)
    w, gates = t.projections, gate_map(config)
    query = torch.cat([w.query.unflatten(1, (4, 8)), gates.unflatten(1, (4, 8))], -1).flatten(1)
    parts = {"q_proj": query, "k_proj": w.key, "v_proj": w.value, "o_proj": w.output}
    layer.load_state_dict(
        {f"{name}.weight": part.mT for name, part in parts.items()}
        | {f"{name}.weight": torch.zeros(8) for name in ("q_norm", "k_norm")}
    )
    places = torch.ones(1, 7, 8), torch.zeros(1, 7, 8)
    hidden = torch.full((7, 7), -torch.inf).triu(1)[None, None]
    with torch.inference_mode():
        output, weights = layer(t.x[None], places, hidden)
    torch.testing.assert_close(weights[0], t.weights, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(output[0], t.output, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("gate", GATES[1:])
def test_a_gate_changes_outputs_and_no_weight(gate):
    plain, t = trace(Config()), trace(Config(gate=gate))
    assert all(
        torch.equal(getattr(t, name), getattr(plain, name)) for name in ("x", "q", "k", "v", "weights", "context")
    )
    assert not torch.allclose(t.output, plain.output)
    assert "before the output gate" in heads_parts.help_text(t.config)
    recorded = Config.of(SOURCES[1])
    assert recorded.gate == "off" and "is a recording" in why("gate", recorded)


@settings(deadline=None, max_examples=50)
@given(seed=seeds, h=st.integers(1, 4), n=sizes, masks=st.booleans(), b=st.floats(-4, 10))
def test_forgetting_multiplies_a_weight_by_the_gates_after_its_key(seed, h, n, masks, b):
    """In float64, pair by pair: an exponential times what the tokens between key and query keep; every gate is below one."""
    scores, mask = normal(seed, h, n, n, dtype=torch.float64) * 3, normal(seed + 1, n, n) > 0
    logits = normal(seed + 2, n, h, dtype=torch.float64) * 2 + b
    sizes = {"b": 1, "q": n, "k": n, "h": h, "g": h, "d": 4, "e": 4, "c": 4}
    spec = Spec(sizes, forgetting="on", masks=masks, sinks=(-math.inf,) * h)
    given = {"scores": scores, "mask": mask, "heads": torch.arange(h), "F": logits}
    found = compute(given, spec, operations(spec, "bias", "context"))["weights"]
    gates = 1 / (1 + (-logits).exp())
    for head, row in itertools.product(range(h), range(n)):
        keys = [key for key in range(n) if not masks or mask[row, key]]
        kept = {key: math.prod(gates[min(key, row) + 1 : max(key, row) + 1, head].tolist()) for key in keys}
        exps = {key: math.exp(float(scores[head, row, key])) * kept[key] for key in keys}
        exact = [exps.get(key, 0.0) / (math.fsum(exps.values()) or 1) for key in range(n)]
        assert found[head, row].tolist() == pytest.approx(exact, rel=1e-9, abs=1e-9)


def test_forgetting_with_constant_gates_is_alibi():
    """Equal tokens have equal gates, so what is added grows with the distance alone."""
    t = trace(Config(text="the the the the the", tokens=5, forgetting="on", projections="independent"))
    assert torch.allclose(t.bias[:, 4, 0], 4 * t.bias[:, 4, 3]) and (t.bias[:, 4, 3] < -1e-3).all()
    assert torch.allclose(t.bias, t.bias[:, 1, 0][:, None, None] * (torch.arange(5)[:, None] - torch.arange(5)).abs())


def test_what_is_forgotten_of_a_long_sequence_is_that_of_its_beginning():
    """Tokens are taken some at a time, and a row of a map is that of the trace."""
    config = Config(tokens=1500, heads=2, d_model=32, forgetting="on", mask="causal", input="noise")
    t, kept = trace(config), retained(config)
    assert kept.shape == (2, 1500)
    torch.testing.assert_close(kept, retention(forget_logits(t.given)["F"]), rtol=1e-5, atol=1e-4)
    maps = head_maps(t.q, t.k, config.rule, scale=config.logit_scale, kept=kept)
    for at in (1023, 1499):
        torch.testing.assert_close(zoom.row(maps, t.q, t.k, at).float(), t.weights[:, at], rtol=1e-3, atol=1e-5)
    assert map_parity(maps, t.q, t.k).agrees and parity(t).agrees
    assert not map_parity(replace(maps, scoring=replace(maps.scoring, kept=None)), t.q, t.k).agrees
    with pytest.raises(ValueError, match="not a number for each of 2 heads"):
        head_maps(t.q, t.k, kept=kept[:1])


def test_where_nothing_can_be_forgotten_it_is_said():
    recorded = Config.of(SOURCES[1])
    assert recorded.forgetting == "off" and "is a recording" in why("forgetting", recorded)
    assert why("forget_bias", Config()) == "Forgetting is off." and not why("forget_bias", Config(forgetting="on"))
    forgets = Config(forgetting="on")
    assert "bias" in by_name(forgets) and "needs the tokens between" in why("keys", forgets)
    with pytest.raises(ConfigError, match="no tokens between them and a query, which forgetting needs"):
        Config(keys=5, forgetting="on")


@settings(deadline=None, max_examples=50)
@given(seed=seeds, h=st.integers(1, 4), n=sizes, masks=st.booleans())
def test_scores_times_log_n_make_powers_of_n(seed, h, n, masks):
    """Scalable-Softmax: a weight is proportional to n to the power of its score; in float64, pair by pair."""
    scores, mask = normal(seed, h, n, n, dtype=torch.float64) * 3, normal(seed + 1, n, n) > 0
    spec = Spec({"b": 1, "q": n, "k": n, "h": h}, query_scale="log n", masks=masks, sinks=(-math.inf,) * h)
    some = operations(spec, "lengthened", "context")
    found = compute({"scores": scores, "mask": mask, "heads": torch.arange(h)}, spec, some)["weights"]
    for head, row in itertools.product(range(h), range(n)):
        keys = [key for key in range(n) if not masks or mask[row, key]]
        powers = {key: len(keys) ** float(scores[head, row, key]) for key in keys}
        exact = [powers.get(key, 0.0) / (math.fsum(powers.values()) or 1) for key in range(n)]
        assert found[head, row].tolist() == pytest.approx(exact, rel=1e-9, abs=1e-9)


def test_the_query_scale_counts_the_keys_of_its_mask():
    """Those of the mask that is set, or of the source's own; one visible key has no score to multiply."""
    for mask, counts in (("causal", [1, 2, 3, 4]), ("window", [1, 2, 2, 2])):
        t = trace(Config(tokens=4, mask=mask, span=2, query_scale="log n"))
        factors = torch.tensor(counts).double().log().float()[:, None]
        torch.testing.assert_close(t.logits, (t.scores * factors).masked_fill(~t.mask, -math.inf))
        assert parity(t).close and (t.weights[:, 0, 0] == 1).all()
    assert not parity(replace(t, config=replace(t.config, query_scale="none"))).agrees


def test_every_rule_explains_itself():
    helps = [first_line(rule) for rules in (SCALES, SOFTMAXES, POSITIONS) for rule in rules.values()]
    assert all(text.endswith(".") and len(text) > 20 for text in helps)


@settings(deadline=None, max_examples=examples(60))
@given(config=configs(), softmax=st.sampled_from([*SOFTMAXES]), combine=st.sampled_from(["none", "without", "and"]))
def test_what_is_said_of_row_sums_is_true_of_the_rows(config, softmax, combine):
    """On Heads, on Softmax and in the diagram of Steps."""
    readable = {"ask": ""}  # a link with a question that can't be read is refused before
    config = Config(**coerce(vars(config) | {"softmax": softmax, "combine": combine} | readable))
    sums = trace(config).weights.double().sum(-1)[0]
    blind = ~trace(config).mask.any(-1)
    assert results.heads.fully_masked(config) == int(blind.sum())
    said = row_sums(softmax, int(blind.sum()), config.tokens)
    assert (sums[blind] == 0).all() and ("fully masked" in said) == bool(blind.any())
    assert softmax == "sigmoid" or (sums[~blind] <= 1 + 1e-6).all()
    assert "at most" in said or "any number" in said or "λ" in said or blind.all() or (sums[~blind] > 1 - 1e-6).all()
    assert f"A row is a query: {said}. " in heads_parts.help_text(config)
    blind = ~pairs(config).any(-1)  # of another sequence, where Steps shows one
    said = row_sums(softmax, int(blind.sum()), config.tokens)
    titles = {part.place: part.title for part in parts(config)}
    assert titles["softmax"] == f"Each row of logits becomes weights: {said}"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("standard", 0, 18), "each row sums to 1"),
        (("plus one", 0, 18), "each row sums to at most 1"),
        (("sink", 0, 18), "each row sums to at most 1"),
        (("sigmoid", 0, 18), "each row sums to any number"),
        (("entmax-1.5", 0, 18), "each row sums to 1"),
        (("differential", 0, 18), "each row sums to 1 − λ"),
        (("standard", 4, 18), "each row sums to 1, but 4 fully masked rows sum to 0"),
        (("plus one", 1, 18), "each row sums to at most 1, but 1 fully masked row sums to 0"),
        (("standard", 18, 18), "every row is fully masked and sums to 0"),
    ],
)
def test_row_sums_in_words(given, said):
    assert row_sums(*given) == said


@pytest.mark.parametrize("acts", ["to_input", "to_heads", "to_scores"])
def test_positions_without_a_printed_form_are_refused(acts):
    """Instead of the formula and the program of another rule."""
    with pytest.raises(ValueError, match="alibi has no formula or no code"):
        Positions(alibi, formula="b", **{acts: alibi})


def test_a_new_scale_is_a_function_and_its_printed_form(monkeypatch):
    """Formulas of Softmax and Steps and the program follow."""
    monkeypatch.setitem(SCALES, "half", Scale(lambda d_head: 0.5, "1 / 2", "2"))
    monkeypatch.setitem(KNOBS, "scale", replace(KNOBS["scale"], choices=tuple(SCALES)))
    config = Config(tokens=5, scale="half")
    found: dict = {}
    exec(source(config), found)
    torch.testing.assert_close(found["weights"], trace(config).weights)
    assert r"\frac{1}{2}" in by_name(config)["scaled"].formula
    assert STAGES["scaled"].formula(config) == r"z_j = \frac{s_j}{2\, T}"
    assert r"{2 \cdot 1}" in worked_formulas(stages(trace(config)), 0)["scaled"]


def differential_pass(q, k, v, factors, masked=True):
    """The table's pass of queries and keys `(s h n d)` of both softmaxes and values `(h n e)`."""
    _, h, n, d = q.shape
    sizes = {"b": 1, "q": n, "k": k.shape[2], "h": h, "g": h, "s": 2, "d": d, "e": v.shape[-1]}
    spec = Spec(sizes, frozenset("qkv"), softmax="differential", sinks=tuple(factors), masks=masked)
    given = {"q": q[0], "k": k[0], "q 2": q[1], "k 2": k[1], "v": v, "heads": torch.arange(h)}
    given |= {"mask": torch.ones(n, k.shape[2], dtype=torch.bool).tril()} if masked else {}
    return compute(given, spec, operations(spec, "scores", "joined"))


@pytest.mark.parametrize(
    "case", json.loads(differential_references.FILE.read_text()), ids=lambda case: f"{case['shape']}"
)
def test_differential_attention_is_that_of_diffllama(case):
    """Its weights are those of both softmaxes: the difference, which multiplies the values, is not among them."""
    found = differential_pass(*differential_references.inputs(*case["shape"]), [case["factor"]] * case["shape"][1])
    output = found["normed context"].transpose(0, 1).flatten(1)
    near = {"rtol": 0, "atol": 1e-6}  # its softmax is float32
    torch.testing.assert_close(output, torch.tensor(case["output"], dtype=torch.float64), **near)
    both = torch.cat([found["first softmax"], found["second softmax"]])
    torch.testing.assert_close(both, torch.tensor(case["weights"], dtype=torch.float64), **near)
    assert (found["weights"] < 0).any()


@settings(deadline=None, max_examples=examples(50))
@given(seed=seeds, h=st.integers(1, 3), n=sizes, d=st.integers(1, 5), masked=st.booleans())
def test_differential_attention_is_its_formula(seed, h, n, d, masked):
    q, k = (normal(seed + at, 2, h, n, d, dtype=torch.float64) for at in (0, 1))
    v, factors = normal(seed + 2, h, n, 2 * d, dtype=torch.float64), normal(seed + 3, h).sigmoid().tolist()
    found = differential_pass(q, k, v, factors, masked)["weights"]
    for head, query in itertools.product(range(h), range(n)):
        keys, rows = query + 1 if masked else n, []
        for half in range(2):
            mine, others = q[half, head, query].tolist(), k[half, head, :keys].tolist()
            dots = [math.fsum(a * b for a, b in zip(mine, other, strict=True)) for other in others]
            exps = [math.exp(dot / math.sqrt(d)) for dot in dots]
            rows.append([each / math.fsum(exps) for each in exps])
        wanted = [one - factors[head] * two for one, two in zip(*rows, strict=True)] + [0.0] * (n - keys)
        assert found[head, query].tolist() == pytest.approx(wanted, abs=1e-9)
        assert math.fsum(found[head, query].tolist()) == pytest.approx(1 - factors[head], abs=1e-6)
