"""Every timed implementation computes attention, gives weights where it says so, and gradients that are right."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from einops import rearrange

from attention.attend import Attention
from attention.layer import MultiHeadAttention
from attention.published import ROWS, Weights
from attention.published.case import Case as Problem
from attention.published.case import reference
from attention.timing import implementations
from attention.timing.implementations import IMPLEMENTATIONS
from attention.timing.inputs import random_inputs, ready
from attention.timing.sweep import Case
from attention.timing.visible import Visible

HERE = [
    name
    for name, how in IMPLEMENTATIONS.items()
    if not how.asked and name not in ("SDPA memory-efficient", "SDPA cuDNN")
]
PUBLISHED = [name for name in IMPLEMENTATIONS if name.startswith("published: ")]
ALONE = [name for name in HERE if not IMPLEMENTATIONS[name].layer]
LAYERS = [name for name in HERE if IMPLEMENTATIONS[name].layer]


def case(name: str, mask: str, passes: str = "forward", length: int = 7, **more: int) -> Case:
    return Case(
        implementation=name,
        device="cpu",
        dtype="float32",
        mask=mask,
        passes=passes,
        batch=2,
        heads=3,
        d_head=4,
        length=length,
        **more,
    )


def oracle(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool, window: int = 0) -> Attention:
    """In float64, pair by pair, with the unit matrix next to the values to see the weights."""
    (queries, keys), group = (q.shape[-2], k.shape[-2]), q.shape[1] // k.shape[1]
    q, k, v = q.double(), *(x.double().repeat_interleave(group, 1) for x in (k, v))
    apart = [[i + keys - queries - j for j in range(keys)] for i in range(queries)]  # how far a key is before its query
    seen = [[not (causal and d < 0) and not (window and abs(d) >= window) for d in row] for row in apart]
    eye = torch.eye(k.shape[-2], dtype=torch.float64).expand(*k.shape[:-1], -1)
    both = F.scaled_dot_product_attention(q, k, torch.cat([v, eye], -1), torch.tensor(seen))
    return Attention(both[..., : v.shape[-1]], both[..., v.shape[-1] :])


@pytest.mark.parametrize("mask", ["full", "causal"])
@pytest.mark.parametrize("name", ALONE)
def test_it_computes_attention(name, mask):
    q, k, v = random_inputs(case(name, mask), seed=1)
    expected = oracle(q, k, v, mask == "causal")
    with ready(case(name, mask), seed=1) as call:
        results = call()
    assert len(results) == (2 if IMPLEMENTATIONS[name].weights else 1)
    for result, right in zip(results, expected, strict=False):
        torch.testing.assert_close(result.double(), right, atol=1e-6, rtol=1e-5)


SERVING = [
    {"queries": 1},
    {"queries": 3},
    {"queries": 1, "kv_heads": 1},
    {"window": 3},
    {"window": 40, "kv_heads": 3},
    {"queries": 4, "window": 2, "kv_heads": 1},
]


@pytest.mark.parametrize("more", SERVING, ids=str)
@pytest.mark.parametrize("mask", ["full", "causal"])
@pytest.mark.parametrize("name", [*ALONE, "flex_attention compiled"])
def test_it_computes_attention_of_the_last_queries_in_groups_and_windows(name, mask, more, monkeypatch):
    monkeypatch.setattr(implementations, "_compiled_attention", lambda: implementations.flex_attention)
    asked = case(name, mask, length=9, **more)
    expected = oracle(*random_inputs(asked, seed=1), causal=mask == "causal", window=asked.window)
    with ready(asked, seed=1) as call:
        results = call()
    for result, right in zip(results, expected, strict=False):
        torch.testing.assert_close(result.double(), right, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("more", [{"queries": 3}, {"kv_heads": 1}], ids=str)
@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_is_not_timed_with_fewer_queries_or_key_value_heads(name, more):
    with pytest.raises(ValueError, match="as many queries as keys"), ready(case(name, "causal", **more), seed=1):
        pass


@pytest.mark.parametrize(
    ("more", "message"),
    [({"queries": 8}, "8 queries are more than the 7 tokens"), ({"kv_heads": 2}, "2 key-value heads don't divide 3")],
)
def test_sizes_that_do_not_fit_are_named(more, message):
    with pytest.raises(ValueError, match=message):
        random_inputs(case("SDPA", "full", **more), seed=1)


@pytest.mark.parametrize("mask", ["full", "causal"])
@pytest.mark.parametrize("name", [name for name in ALONE if name != "core into a reused buffer"])
def test_its_gradients_are_those_of_attention(name, mask):
    torch.manual_seed(0)
    with ready(case(name, mask, "forward + backward"), seed=1) as call:
        found = call()
    leaves = [x.double().requires_grad_() for x in random_inputs(case(name, mask), seed=1)]
    torch.manual_seed(0)
    upstream = torch.randn_like(leaves[0].float()).double()
    right = torch.autograd.grad(oracle(*leaves, causal=mask == "causal").output, leaves, upstream)
    for gradient, expected in zip(found, right, strict=True):
        torch.testing.assert_close(gradient.double(), expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("mask", ["full", "causal"])
def test_all_layers_are_one_layer(mask):
    results = []
    for name in LAYERS:
        torch.manual_seed(0)  # the maps are drawn in the same order and alike
        with ready(case(name, mask), seed=1) as call:
            results.append(call())
    shapes = {len(result) == 2 and result[1].shape for result in results}
    assert shapes == {False, (2, 3, 7, 7)}
    future = torch.ones(7, 7).triu(1).bool()
    for result in results:
        assert result[0].shape == (2, 7, 12)
        if len(result) == 2:
            torch.testing.assert_close(result[1].sum(-1), torch.ones(2, 3, 7))
            assert bool((result[1][..., future] == 0).all()) is (mask == "causal")


@pytest.mark.parametrize("name", LAYERS)
def test_a_layers_backward_pass_reaches_every_parameter(name):
    with ready(case(name, "causal", "forward + backward"), seed=1) as call:
        gradients = call()
    width = 3 * 4
    assert sum(gradient.numel() for gradient in gradients[1:]) == 4 * width * (width + 1)
    assert gradients[0].shape == (2, 7, width)


@pytest.mark.parametrize("mask", ["full", "causal"])
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_one_is_the_function_of_its_row_under_the_masks_that_it_has(name, mask):
    row = ROWS[name.removeprefix("published: ")]
    has = {"none": ["full"], "causal": ["causal"], "added": ["full", "causal"], "boolean": ["full", "causal"]}[row.mask]
    if mask not in has:
        with pytest.raises(ValueError, match=r"takes no mask|always causal"), ready(case(name, mask), seed=1):
            pass
        return
    torch.manual_seed(0)
    with ready(case(name, mask), seed=1) as call:
        output, weights = call()
    torch.manual_seed(0)
    layer = MultiHeadAttention(12, 3)
    x = rearrange(random_inputs(case(name, mask), seed=1)[0], "b h n d -> b n (h d)")
    seen = torch.ones(2, 7, 7, dtype=torch.bool)
    seen = seen.tril() if mask == "causal" else seen
    expected = reference(row, Problem.of(x, Weights.from_layer(layer), seen))
    torch.testing.assert_close(output, expected.output, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(weights, expected.weights, atol=1e-5, rtol=1e-4)
    assert weights.shape[1] == IMPLEMENTATIONS[name].used(3)[1]


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_one_has_the_gradients_of_its_row_and_all_that_it_learns(name):
    row = ROWS[name.removeprefix("published: ")]
    mask = "causal" if row.mask == "causal" else "full"
    torch.manual_seed(0)
    with ready(case(name, mask, "forward + backward"), seed=1) as call:
        found = call()
        again = call()
    torch.manual_seed(0)
    weights = Weights.from_layer(MultiHeadAttention(12, 3))
    x = rearrange(random_inputs(case(name, mask), seed=1)[0], "b h n d -> b n (h d)").requires_grad_()
    seen = torch.ones(2, 7, 7, dtype=torch.bool)
    output = reference(row, Problem.of(x, weights, seen)).output
    (right,) = torch.autograd.grad(output, x, torch.randn_like(output))
    torch.testing.assert_close(found[0], right, atol=1e-5, rtol=1e-4)
    assert sum(gradient.numel() for gradient in found[1:]) == row.parameters(replace(weights, batch=2, tokens=7))
    for one, other in zip(found, again, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("mask", ["full", "causal"])
def test_flex_attention_is_attention_also_before_it_is_compiled(mask, monkeypatch):
    """What surrounds the kernel; that it compiles is for the next test."""
    monkeypatch.setattr(implementations, "_compiled_attention", lambda: implementations.flex_attention)
    asked = case("flex_attention compiled", mask, length=130)  # more than a block
    with ready(asked, seed=1) as call:
        (output,) = call()
    right = oracle(*random_inputs(asked, seed=1), causal=mask == "causal").output
    torch.testing.assert_close(output.double(), right, atol=1e-6, rtol=1e-5)


@pytest.mark.extended
@pytest.mark.skipif(not shutil.which("g++"), reason="torch compiles for a CPU with a C++ compiler")
def test_flex_attention_compiles_and_says_what_a_cpu_does_not_have():
    asked = case("flex_attention compiled", "full", length=16)
    with ready(asked, seed=1) as call:
        (output,) = call()
    torch.testing.assert_close(
        output.double(), oracle(*random_inputs(asked, 1), causal=False).output, atol=1e-6, rtol=1e-5
    )
    with (
        pytest.raises(NotImplementedError, match="no backward pass on a CPU"),
        ready(case("flex_attention compiled", "full", "forward + backward"), seed=1),
    ):
        pass
    q, k, v = (x.requires_grad_() for x in random_inputs(asked, 1))
    with pytest.raises(NotImplementedError, match="backward on CPU"):  # says torch, which may change
        implementations.flex_attention(q, k, v)


def test_data_are_normal_and_fresh():
    one, other = (random_inputs(case("SDPA", "full", length=2000), seed)[0] for seed in (1, 2))
    assert one.std() == pytest.approx(1, abs=0.02)
    assert not torch.equal(one, other)


def test_each_says_what_it_is_and_which_kernel():
    texts = [how.help for how in IMPLEMENTATIONS.values()]
    assert len(set(texts)) == len(texts)
    assert IMPLEMENTATIONS["SDPA flash"].help.endswith("Only the kernel FLASH_ATTENTION.")


def test_what_says_that_it_skips_the_future_does_not_compute_it(monkeypatch):
    """Skipping halves the operations that are counted, so that it must be true: NaN in the future may not arrive."""
    monkeypatch.setattr("attention.attend.SMALL", 16)
    monkeypatch.setattr("attention.blocks.ROWS", 4)
    q, k, v = random_inputs(case("core with weights", "causal", length=16), seed=1)
    k[..., 4:, :] = float("nan")
    v[..., 4:, :] = float("nan")
    call: Any = IMPLEMENTATIONS["core with weights"].ready(q, k, v, Visible(16, 16, causal=True)).run
    assert not call().output[..., :4, :].isnan().any()
