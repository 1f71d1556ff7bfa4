"""Laws of one pass, for any config, and the same pass once more, head by head in float64."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace

import hypothesis.strategies as st
import pytest
import torch
import torch.nn.functional as F
from hypothesis import assume, given, settings
from torch import Tensor

from attention import Config, ConfigError, Trace, trace
from attention.fitting import coerce
from attention.inputs import INPUTS
from attention.knobs import DEFAULTS, KNOBS
from attention.trace import scaled_queries
from tests.samples import examples
from tests.strategies import configs

laws = settings(deadline=None, max_examples=examples(60))
EPS = torch.finfo(torch.float32).eps
LETTERS = "abcdefghijklmnopqrstuvwx"


def slack(t: Trace) -> float:
    """How far weights may be off: a float32 logit by some eps of its size, and a weight by at most half of that."""
    times = math.log(t.config.tokens) if t.config.query_scale == "log n" else 1
    return 1e-6 + 8 * EPS * t.scores.abs().amax().item() * max(1, times)


def near(found: Tensor, exact: Tensor, tolerance: float) -> None:
    """Equal up to the tolerance, in units of the greatest value where that is over one."""
    size = max([1.0, *exact.abs().flatten().tolist()])
    torch.testing.assert_close(found.double(), exact.double(), rtol=0, atol=tolerance * size)


@laws
@given(config=configs())
def test_shapes_are_those_of_the_axes(config):
    t = trace(config)
    n, h, d, c = config.tokens, config.heads, config.d_head, config.d_model
    assert {name: tuple(getattr(t, name).shape) for name in ("x", "q", "k", "v", "mask", "weights", "context")} == {
        "x": (n, c),
        "q": (h, n, d),
        "k": (h, n, d),
        "v": (h, n, d),
        "mask": (n, n),
        "weights": (h, n, n),
        "context": (h, n, d),
    }
    assert t.output.shape == (n, c)
    assert t.scores.shape == t.bias.shape == t.logits.shape == (h, n, n)


@laws
@given(config=configs(softmax="standard"))
def test_rows_sum_to_one_or_see_nothing(config):
    t = trace(config)
    seeing = t.mask.any(-1).float().expand(config.heads, -1)
    torch.testing.assert_close(t.weights.sum(-1), seeing, rtol=0, atol=1e-5)
    assert (t.weights >= 0).all()


@laws
@given(config=st.one_of(configs(softmax="plus one"), configs(softmax="sink")))
def test_rows_sum_to_less_with_a_number_in_the_denominator(config):
    t = trace(config)
    sums = t.weights.double().sum(-1)
    assert (t.weights >= 0).all()
    assert (sums <= 1 + 1e-5).all()
    total = t.logits.double().exp().sum(-1)
    added = torch.tensor(config.sinks, dtype=torch.float64).exp()[:, None]
    exact = torch.where(total.isinf(), 1, total / (added + total))
    torch.testing.assert_close(sums, exact, rtol=0, atol=slack(t) * config.tokens)


@laws
@given(config=configs())
def test_nothing_leaks_through_the_mask(config):
    t = trace(config)
    assert (t.weights.masked_select(~t.mask) == 0).all()
    assert (t.context[:, ~t.mask.any(-1)] == 0).all()


@laws
@given(config=configs(softmax="standard", softcap=0.0))
def test_without_a_softcap_it_is_torchs_function(config):
    t = trace(config)
    mask = t.bias.masked_fill(~t.mask, -math.inf)
    theirs = F.scaled_dot_product_attention(scaled_queries(config, t.q, t.mask), t.k, t.v, mask, scale=t.scale)
    theirs = torch.where(t.mask.any(-1, keepdim=True), theirs, 0)
    near(t.context, theirs, 2 * slack(t) * config.tokens)


@laws
@given(config=st.one_of(configs(softmax="plus one", softcap=0.0), configs(softmax="sink", softcap=0.0)))
def test_a_number_in_the_denominator_is_a_key_and_a_value_of_zeros(config):
    t = trace(config)
    k, v = (F.pad(x, (0, 0, 1, 0)) for x in (t.k, t.v))
    added = torch.tensor(config.sinks)[:, None, None].expand(-1, config.tokens, 1)
    mask = torch.cat([added, t.bias.masked_fill(~t.mask, -math.inf)], -1)
    theirs = F.scaled_dot_product_attention(scaled_queries(config, t.q, t.mask), k, v, mask, scale=t.scale)
    near(t.context, theirs, 2 * slack(t) * config.tokens)


@laws
@given(config=configs(input="characters", text=LETTERS), changed=st.integers(0, 23))
def test_what_a_query_does_not_see_does_not_move_it(config, changed):
    assume(changed < config.tokens)
    assume(config.forgetting == "off")  # the gate of a hidden token between a query and a key acts on their weight
    other = replace(config, text=LETTERS[:changed] + "z" + LETTERS[changed + 1 :])
    before, after = trace(config), trace(other)
    assert not torch.equal(before.x[changed], after.x[changed])
    apart = ~before.mask[:, changed] & (torch.arange(config.tokens) != changed)
    for name in ("weights", "context"):
        near(getattr(after, name)[:, apart], getattr(before, name)[:, apart], slack(before))
    near(after.output[apart], before.output[apart], slack(before) * config.d_model)


@laws
@given(
    config=configs(input="words", text="a b c d e f g h i j k l m n o p q r s t u v w x"),
    mask=st.sampled_from(["causal", "window", "dilated", "strided", "sinks"]),
    kept=st.integers(1, 23),
)
def test_the_past_does_not_know_the_future(config, mask, kept):
    config = replace(config, mask=mask, combine="none")
    past = min(kept, config.tokens)
    other = replace(config, text=" ".join([*config.text.split()[:past], *["future"] * 24]))
    before, after = trace(config), trace(other)
    assert past == config.tokens or not torch.equal(before.x[past:], after.x[past:])
    near(after.weights[:, :past], before.weights[:, :past], slack(before))
    near(after.output[:past], before.output[:past], slack(before) * config.d_model)


@laws
@given(config=configs())
def test_one_config_is_one_picture(config):
    torch.manual_seed(1)
    state = torch.get_rng_state()
    first = trace(config)
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(2)
    second = trace(config)
    assert all(torch.equal(getattr(first, field), getattr(second, field)) for field in TENSORS)


TENSORS = ["x", "q", "k", "v", *(field.name for field in fields(Trace) if field.name not in ("config", "given"))]


@laws
@given(config=configs())
def test_focus_and_view_leave_the_tensors_alone(config):
    whole, bare = trace(config), trace(config.for_page())
    assert all(torch.equal(getattr(whole, field), getattr(bare, field)) for field in TENSORS)
    assert {name for name, knob in KNOBS.items() if knob.about != "tensors"} >= {"head", "query", "colors"}


@laws
@given(config=configs(projections="tied", positions="none", kv_heads=0))
def test_tied_projections_make_likeness_symmetric(config):
    t = trace(config)
    assert torch.equal(t.q, t.k)
    near(t.scores, t.scores.mT, 1e-5)


@laws
@given(config=configs(projections="identity", positions="none", kv_heads=0, qk_norm="off", gate="off"))
def test_identity_projections_hand_on_the_input(config):
    t = trace(config)
    assert all(torch.equal(part.transpose(0, 1).flatten(1), t.x) for part in (t.q, t.k, t.v))
    if config.softmax != "differential":  # which norms the context
        assert torch.equal(t.output, t.context.transpose(0, 1).flatten(1))


@laws
@given(config=configs())
def test_shared_heads_are_repeated(config):
    t = trace(config)
    share = config.heads // config.n_kv_heads
    for part in (t.k, t.v):
        assert torch.equal(part, part[::share].repeat_interleave(share, 0))


@pytest.mark.parametrize("kind", ["independent", "tied"])
def test_projections_have_the_size_of_nn_multiheadattention(kind):
    """Xavier-uniform over a matrix of 3c x c is uniform within sqrt(6 / 4c); its deviation is that over sqrt(3)."""
    c = 256
    w = trace(Config(tokens=2, d_model=c, projections=kind)).projections
    layer = torch.nn.MultiheadAttention(c, 8)
    bound = (6 / (4 * c)) ** 0.5
    for matrix in (w.query, w.key, w.value, layer.in_proj_weight):
        assert matrix.abs().max() <= bound
        torch.testing.assert_close(matrix.std(), torch.tensor(bound / 3**0.5), rtol=0.02, atol=0)
    assert torch.equal(w.query, w.key) == (kind == "tied")
    torch.testing.assert_close(w.output.std(), layer.out_proj.weight.std(), rtol=0.02, atol=0)


def test_seeds_draw_other_inputs_and_other_projections():
    first, second = (trace(Config(seed=seed, input="noise")) for seed in (0, 1))
    assert not torch.equal(first.x, second.x)
    assert not torch.equal(first.projections.query, second.projections.query)


def test_a_repeated_sequence_looks_like_itself():
    """Tied projections, and a sequence that repeats after four: a token attends to itself and its double alike."""
    t = trace(Config(tokens=8, heads=1, d_model=64, input="repeat", mask="full"))
    torch.testing.assert_close(t.weights[:, :, :4], t.weights[:, :, 4:])
    torch.testing.assert_close(t.weights[:, :4], t.weights[:, 4:])


def test_three_tokens_by_hand():
    """x is its own query, key and value; without a scale the logits are the dot products of the tokens."""
    t = trace(Config(tokens=3, heads=1, d_model=2, input="noise", projections="identity", scale="none"))
    x = t.x.tolist()
    dot = [[a[0] * b[0] + a[1] * b[1] for b in x] for a in x]
    second = [math.exp(dot[1][0]), math.exp(dot[1][1]), 0.0]
    torch.testing.assert_close(t.weights[0, 0], torch.tensor([1.0, 0.0, 0.0]))
    torch.testing.assert_close(t.weights[0, 1], torch.tensor(second) / sum(second))
    torch.testing.assert_close(t.output[0], t.x[0])


@pytest.mark.parametrize("name", INPUTS)
def test_large_traces_take_the_path_of_large_squares(name):
    """Past 512 tokens the work is done in blocks; rows still sum to one and torch still agrees."""
    t = trace(Config(tokens=700, heads=2, d_model=32, input=name, mask="window", span=50))
    theirs = F.scaled_dot_product_attention(t.q, t.k, t.v, t.mask, scale=t.scale)
    near(t.context, theirs, 1e-5)
    torch.testing.assert_close(t.weights.sum(-1), torch.ones(2, 700), rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    "options", [{"mask": "window"}, {"positions": "alibi", "kv_heads": 1}, {"mask": "full", "heads": 3}]
)
def test_threads_that_share_the_heads_compute_the_same(options):
    config = Config(**coerce(DEFAULTS | {"tokens": 700, "d_model": 24, "input": "noise"} | options))
    with ThreadPoolExecutor(2) as threads:
        shared, alone = trace(config, threads), trace(config)
    for name in ("weights", "context", "output"):
        assert torch.equal(getattr(shared, name), getattr(alone, name)), name


def test_a_trace_of_too_many_weights_is_refused_with_a_way_out():
    with pytest.raises(
        ConfigError, match=r"tokens=1024: 32 heads of 1,024 x 1,024 .* fits is 707; head_maps draws any"
    ):
        trace(Config(tokens=1024, heads=32))
