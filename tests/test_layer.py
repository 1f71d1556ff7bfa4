"""Our layer is torch's layer with the weights of every head, and a textbook layer with grouped keys and values."""

from __future__ import annotations

import re

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch import nn

from attention import MultiHeadAttention
from tests.samples import examples
from tests.strategies import normal, seeds, sizes

laws = settings(deadline=None, max_examples=examples(40))


def torch_layer(seed: int, width: int, heads: int, bias: bool, **options) -> nn.MultiheadAttention:
    """Torch's layer with biases that are not zero."""
    torch.manual_seed(seed)
    layer = nn.MultiheadAttention(width, heads, bias=bias, batch_first=True, **options).eval()
    if bias:
        nn.init.normal_(layer.in_proj_bias)
        nn.init.normal_(layer.out_proj.bias)
    return layer


@laws
@given(
    seed=seeds,
    heads=st.integers(1, 4),
    d_head=st.integers(1, 6),
    batch=st.none() | sizes,
    n=sizes,
    bias=st.booleans(),
    mask=st.sampled_from(["none", "bool", "float"]),
    training=st.booleans(),
)
def test_self_attention_is_that_of_torch(seed, heads, d_head, batch, n, bias, mask, training):
    width = heads * d_head
    theirs = torch_layer(seed, width, heads, bias).train(training)
    x = normal(seed, *([] if batch is None else [batch]), n, width)
    seen = torch.rand(n, n, generator=torch.Generator().manual_seed(seed)) < 0.6
    seen |= torch.eye(n, dtype=torch.bool)  # torch's layer gives NaN where a query sees nothing
    ours_mask, torch_mask = {
        "none": (None, None),
        "bool": (seen, ~seen),  # torch's layer, unlike its function, hides where a mask is True
        "float": (normal(seed, n, n),) * 2,
    }[mask]
    ours = MultiHeadAttention.from_torch(theirs)(x, mask=ours_mask)
    output, weights = theirs(x, x, x, attn_mask=torch_mask, need_weights=True, average_attn_weights=False)
    torch.testing.assert_close(ours.output, output, rtol=1e-6, atol=2e-6)
    torch.testing.assert_close(ours.weights, weights, rtol=1e-6, atol=1e-6)


@laws
@given(seed=seeds, heads=st.integers(1, 4), batch=sizes, q=sizes, k=sizes)
def test_cross_attention_is_that_of_torch(seed, heads, batch, q, k):
    theirs = torch_layer(seed, 4 * heads, heads, bias=True).double()
    query, key, value = (normal(seed + i, batch, n, 4 * heads, dtype=torch.float64) for i, n in enumerate((q, k, k)))
    ours = MultiHeadAttention.from_torch(theirs)(query, key, value)
    output, weights = theirs(query, key, value, need_weights=True, average_attn_weights=False)
    torch.testing.assert_close(ours.output, output, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(ours.weights, weights, rtol=1e-12, atol=1e-12)


@laws
@given(seed=seeds, batch=sizes, n=sizes, padded=st.integers(0, 6))
def test_a_mask_for_each_sequence_is_torchs_key_padding_mask(seed, batch, n, padded):
    theirs = torch_layer(seed, 8, 2, bias=True)
    x = normal(seed, batch, n, 8)
    seen = torch.arange(n).expand(batch, n) < n - (torch.arange(batch) * padded % n)[:, None]
    ours = MultiHeadAttention.from_torch(theirs)(x, mask=seen[:, None, None])
    output, weights = theirs(x, x, x, key_padding_mask=~seen, need_weights=True, average_attn_weights=False)
    torch.testing.assert_close(ours.output, output, rtol=1e-6, atol=2e-6)
    torch.testing.assert_close(ours.weights, weights, rtol=1e-6, atol=1e-6)


def test_the_value_defaults_to_the_key_and_the_key_to_the_query():
    layer = MultiHeadAttention(8, 2)
    x, memory = normal(0, 3, 8), normal(1, 5, 8)
    assert torch.equal(layer(x).output, layer(x, x, x).output)
    assert torch.equal(layer(x, memory).output, layer(x, memory, memory).output)


@laws
@given(seed=seeds, groups=st.integers(1, 3), share=st.integers(1, 3), d_head=st.integers(1, 4))
def test_grouped_heads_are_repeated_heads(seed, groups, share, d_head):
    """Keys and values that `share` heads have in common are those of a layer whose projections repeat them."""
    torch.manual_seed(seed)
    heads, width = groups * share, groups * share * d_head
    grouped, full = MultiHeadAttention(width, heads, kv_heads=groups), MultiHeadAttention(width, heads)
    state = grouped.state_dict()
    for name in ("k_proj.weight", "k_proj.bias", "v_proj.weight", "v_proj.bias"):
        own = state[name].unflatten(0, (groups, d_head))
        state[name] = own.repeat_interleave(share, 0).flatten(0, 1)
    full.load_state_dict(state)
    x = normal(seed, 2, 5, width)
    for ours, theirs in zip(grouped(x), full(x), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6)


def test_a_query_that_sees_nothing_gives_the_output_bias():
    layer = MultiHeadAttention(8, 2)
    nn.init.normal_(layer.out_proj.bias)
    output, weights = layer(normal(0, 3, 8), mask=torch.tensor([[True], [False], [True]]))
    assert torch.equal(output[1], layer.out_proj.bias)
    assert torch.equal(weights[:, 1], torch.zeros(2, 3))


def test_it_learns_to_look_at_the_first_token():
    torch.manual_seed(0)
    layer = MultiHeadAttention(16, 2)
    x = torch.randn(32, 6, 16)
    x[:, 0] += 2
    target = x[:, :1].expand_as(x)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.02)
    losses = []
    for _ in range(60):
        loss = (layer(x).output - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 10
    assert layer(x).weights[..., 0].mean() > 0.5


def test_every_parameter_has_torchs_gradient():
    theirs = torch_layer(0, 12, 3, bias=True).double()
    ours = MultiHeadAttention.from_torch(theirs)
    x = normal(0, 2, 5, 12, dtype=torch.float64)
    ours(x).output.square().sum().backward()
    theirs(x, x, x, need_weights=True, average_attn_weights=False)[0].square().sum().backward()
    for i, projection in enumerate((ours.q_proj, ours.k_proj, ours.v_proj)):
        part = slice(12 * i, 12 * i + 12)
        torch.testing.assert_close(projection.weight.grad, theirs.in_proj_weight.grad[part])
        torch.testing.assert_close(projection.bias.grad, theirs.in_proj_bias.grad[part], rtol=1e-6, atol=1e-12)
    torch.testing.assert_close(ours.out_proj.weight.grad, theirs.out_proj.weight.grad)


def test_it_starts_as_torchs_layer_starts():
    torch.manual_seed(0)
    ours, theirs = MultiHeadAttention(256, 8), nn.MultiheadAttention(256, 8)
    bound = theirs.in_proj_weight.abs().max()
    for projection in (ours.q_proj, ours.k_proj, ours.v_proj):
        torch.testing.assert_close(projection.weight.abs().max(), bound, rtol=0.01, atol=0)
        assert projection.bias.count_nonzero() == 0
    torch.testing.assert_close(ours.out_proj.weight.std(), theirs.out_proj.weight.std(), rtol=0.02, atol=0)
    assert ours.out_proj.bias.count_nonzero() == 0


@pytest.mark.parametrize("bias", [True, False])
def test_a_taken_over_layer_is_its_own_copy_in_the_same_mode_and_precision(bias):
    theirs = nn.MultiheadAttention(8, 2, bias=bias, dtype=torch.float64).eval()
    ours = MultiHeadAttention.from_torch(theirs)
    assert not ours.training
    assert ours.q_proj.weight.dtype == torch.float64
    nn.init.zeros_(theirs.in_proj_weight)
    assert ours.q_proj.weight.count_nonzero() == 64
    assert sum(p.numel() for p in ours.parameters()) == sum(p.numel() for p in theirs.parameters())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 0), "d_model=0 has no channel; choose 1 or more."),
        ((10, 3), "heads=3 don't divide d_model=10; choose a divisor of 10."),
        ((10, 0), "heads=0 don't divide d_model=10; choose a divisor of 10."),
        ((10, -2), "heads=-2 don't divide d_model=10; choose a divisor of 10."),
        ((12, 6, 4), "kv_heads=4 don't divide heads=6; choose a divisor of 6."),
        ((12, 6, 0), "kv_heads=0 don't divide heads=6; choose a divisor of 6."),
    ],
)
def test_sizes_that_do_not_divide_are_refused(arguments, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        MultiHeadAttention(*arguments)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"kdim": 4}, "kdim"),
        ({"kdim": 4, "vdim": 5}, "kdim, vdim"),
        ({"add_bias_kv": True}, "add_bias_kv"),
        ({"add_zero_attn": True}, "add_zero_attn"),
        ({"dropout": 0.1}, "dropout"),
    ],
)
def test_layers_without_a_counterpart_are_refused(options, named):
    calm = ", or call its eval\\(\\)" if named == "dropout" else ""
    message = f"^{named} of this nn.MultiheadAttention has no counterpart here; use a layer without{calm}\\.$"
    with pytest.raises(ValueError, match=message):
        MultiHeadAttention.from_torch(nn.MultiheadAttention(8, 2, **options))


def test_dropout_of_a_layer_in_eval_mode_does_nothing():
    layer, x = nn.TransformerEncoderLayer(8, 2, dropout=0.5, batch_first=True).eval().self_attn, normal(0, 2, 3, 8)
    ours = MultiHeadAttention.from_torch(layer)
    assert not ours.training
    torch.testing.assert_close(ours(x).weights, layer(x, x, x, average_attn_weights=False)[1])


def test_a_mask_that_would_meet_the_heads_is_refused():
    message = r"mask \(2, 3, 3\) has no axis for the heads; give mask\[:, None\] for one mask a sequence\."
    with pytest.raises(ValueError, match=message):
        MultiHeadAttention(8, 2)(normal(0, 2, 3, 8), mask=torch.ones(2, 3, 3, dtype=torch.bool))


def test_its_repr_says_what_it_is():
    assert "d_model=8, heads=4, kv_heads=2" in repr(MultiHeadAttention(8, 4, kv_heads=2))
