"""One head in every number type: against float64, bit by bit where it can be, and where each type ends."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from attention import Config, Trace, scaled_dot_product_attention, trace
from attention.analysis.number_types import DTYPES, EXPONENTS, compare_number_types, exact, limits, round_head
from tests.samples import examples
from tests.softmax_oracle import weights_of
from tests.strategies import configs


@given(configs())
@settings(deadline=None, max_examples=examples(40))
def test_the_reference_is_the_float64_softmax(config):
    t = trace(config)
    head = config.head
    halves = zip(t.q[head].double().chunk(2, -1), t.k[head].double().chunk(2, -1), strict=True)
    if config.softmax == "differential":
        one, two = (weights_of(logits_of(t, q, k)[None], "standard")[0] for q, k in halves)
        wanted = one - config.diff_lambda * two
    else:
        logits = logits_of(t, t.q[head].double(), t.k[head].double())
        wanted = weights_of(logits[None], config.softmax, config.sinks[head : head + 1])[0]
    rounded = config.forgetting == "on"  # the trace has the logarithms of the gates in float32
    torch.testing.assert_close(exact(t), wanted, rtol=1e-5 if rounded else 1e-9, atol=1e-7 if rounded else 1e-12)


def logits_of(t: Trace, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """The logits of the selected head in float64."""
    config, head = t.config, t.config.head
    scores = (q @ k.T) * t.scale
    if config.query_scale == "log n":
        scores = scores * t.mask.sum(-1, keepdim=True).clamp(min=1).double().log()
    scores = config.softcap * torch.tanh(scores / config.softcap) if config.softcap else scores
    return (scores + t.bias[head].double()).masked_fill(~t.mask, -math.inf)


@given(configs())
@settings(deadline=None, max_examples=examples(40))
def test_with_the_greatest_logit_subtracted_nothing_breaks(config):
    t = trace(config)
    seen = int(t.mask.any(-1).sum())
    for found in compare_number_types(t):
        if found.exponent != "naive" and config.softmax == "standard":
            assert (found.broken, found.dots, found.exps, found.sums) == (0, 0, 0, 0)
            assert found.row_sum <= 4 * limits(found.dtype).step * config.tokens
        assert found.broken <= seen
        assert found.sums >= (found.exps > 0) or config.softmax == "sigmoid"


@pytest.mark.parametrize("dtype", DTYPES)
def test_where_a_type_ends(dtype):
    """The exponential is infinite just beyond the limit, finite before it, and the same for zero."""
    end, kind = limits(dtype), DTYPES[dtype]

    def rounded_exp(x: float) -> float:
        return float(torch.tensor(math.exp(x), dtype=torch.float64).to(kind))

    assert rounded_exp(end.overflows - 1e-3) < math.inf == rounded_exp(end.overflows + 0.01)
    assert rounded_exp(end.vanishes - 1e-3) == 0 < rounded_exp(end.vanishes + 1e-3)
    assert float(torch.tensor(1 + end.step, dtype=kind)) == 1 + end.step
    assert float(torch.tensor(1 + end.step / 3, dtype=kind)) == 1
    assert end.largest == float(torch.finfo(kind).max)


def test_scaling_may_overflow_where_dot_products_do_not():
    t = trace(Config(input="sink", heads=1, d_model=2048, scale="none", temperature=0.05, projections="tied"))
    found = round_head(t, "float16", "max-subtracted", exact(t))
    assert (found.dots, found.exps, found.sums, found.broken) == (0, 0, 0, 1)
    assert found.logits > 0


def test_the_naive_softmax_breaks_where_the_exponential_overflows():
    """float16 ends at exp(11.09), float32 and bfloat16 only at exp(88.7)."""
    t = trace(Config(tokens=64, scale="none", d_model=512, projections="tied"))
    head = t.logits[0].double()
    found = {(each.dtype, each.exponent): each for each in compare_number_types(t)}
    assert 20 < float(head.max()) < 88
    over = int((head > 11.1).sum())
    assert found["float16", "naive"].exps == over > 0
    assert found["float16", "naive"].broken == int((head > 11.1).any(-1).sum())
    assert found["bfloat16", "naive"].exps == found["float32", "naive"].broken == 0
    assert found["float16", "max-subtracted"].error < 2e-3
    wide = {
        (each.dtype, each.exponent): each
        for each in compare_number_types(trace(Config(scale="none", d_model=2048, projections="tied")))
    }
    assert wide["float32", "naive"].broken > 0
    assert math.isnan(wide["float32", "naive"].difference[wide["float32", "naive"].worst].max())


def test_fused_kernels_keep_scores_that_are_too_large_for_float16():
    """Materialised in float16 they overflow; F.scaled_dot_product_attention of the same float16 tensors is finite."""
    t = trace(Config(input="sink", heads=1, d_model=2048, scale="none", temperature=0.05, projections="tied"))
    found = {each.exponent: each for each in compare_number_types(t) if each.dtype == "float16"}
    q, k = t.q.half(), t.k.half()
    assert float((q.float() @ k.float().mT * t.scale).max()) > 65504
    theirs = F.scaled_dot_product_attention(
        q[None], k[None], torch.eye(t.config.tokens).half()[None, None], t.mask, scale=t.scale
    )[0, 0]
    assert found["max-subtracted"].broken == 1 and found["max-subtracted"].logits > 0
    fused = found["fused"]
    assert (fused.broken, fused.dots, fused.logits, fused.exps, fused.sums) == (0, 0, 0, 0, 0)
    torch.testing.assert_close((exact(t) + fused.difference).half(), theirs, rtol=2e-3, atol=1e-6)


@given(configs())
@settings(deadline=None, max_examples=examples(20))
def test_fused_weights_are_those_of_the_core(config):
    t = trace(config)
    if config.softmax != "standard" or config.query_scale != "none":
        return
    for name, dtype in DTYPES.items():
        q, k = t.q[config.head].to(dtype), t.k[config.head].to(dtype)
        mask = torch.where(t.mask, t.bias[config.head].double(), -math.inf).float()
        core = scaled_dot_product_attention(
            q, k, k, mask.to(dtype) if dtype == torch.float32 else mask, scale=t.scale, softcap=config.softcap or None
        ).weights
        fused = round_head(t, name, "fused", torch.zeros_like(core, dtype=torch.float64)).difference
        torch.testing.assert_close(fused, core.float(), rtol=2e-2 if dtype != torch.float32 else 1e-4, atol=1e-5)


def test_products_are_rounded_once():
    """A dot product in a half type is the exact one of the rounded numbers, rounded: sums add up in float32."""
    t = trace(Config(tokens=40))
    for kind in (torch.bfloat16, torch.float16):
        q, k = t.q[0].to(kind), t.k[0].to(kind)
        wanted = q.double() @ k.double().T
        off = ((q @ k.T).double() - wanted).abs()
        assert float((off / wanted.abs().clamp(min=1)).max()) <= 0.51 * torch.finfo(kind).eps + 1e-5


@given(st.sampled_from(list(DTYPES)), st.sampled_from(EXPONENTS), st.integers(0, 20))
@settings(deadline=None, max_examples=examples(20))
def test_the_worst_row_is_the_worst(dtype, exponent, seed):
    t = trace(Config(tokens=12, input="noise", projections="independent", seed=seed))
    reference = exact(t)
    found = round_head(t, dtype, exponent, reference)
    each = found.difference.abs().amax(-1)
    assert float(each[found.worst]) == pytest.approx(float(each.max()), rel=1e-6)
    assert found.error == pytest.approx(float(each.max()), rel=1e-6)
    torch.testing.assert_close(
        found.row - reference[found.worst], found.difference[found.worst].double(), atol=1e-9, rtol=1e-6
    )
    step = limits(dtype).step
    assert 0 < found.error < 8 * step


def test_float32_is_what_is_on_the_screen():
    t = trace(Config(tokens=50, positions="rotary"))
    found = compare_number_types(t)[0]
    assert (found.dtype, found.exponent) == ("float32", "max-subtracted")
    torch.testing.assert_close(found.row.float(), t.weights[0, found.worst], rtol=1e-5, atol=1e-6)
