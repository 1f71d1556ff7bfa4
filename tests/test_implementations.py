"""Every timed implementation computes attention, gives weights where it says so, and gradients that are right."""

from __future__ import annotations

import shutil
from dataclasses import replace

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

HERE = [
    name
    for name, how in IMPLEMENTATIONS.items()
    if not how.asked and name not in ("SDPA memory-efficient", "SDPA cuDNN")
]
PUBLISHED = [name for name in IMPLEMENTATIONS if name.startswith("published: ")]
ALONE = [name for name in HERE if not IMPLEMENTATIONS[name].layer]
LAYERS = [name for name in HERE if IMPLEMENTATIONS[name].layer]


def case(name: str, mask: str, passes: str = "forward", length: int = 7) -> Case:
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
    )


def oracle(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> Attention:
    """In float64, with the unit matrix beside the values to see the weights."""
    q, k, v = (x.double() for x in (q, k, v))
    eye = torch.eye(k.shape[-2], dtype=torch.float64).expand(*k.shape[:-1], -1)
    both = F.scaled_dot_product_attention(q, k, torch.cat([v, eye], -1), is_causal=causal)
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


@pytest.mark.parametrize("mask", ["full", "causal"])
@pytest.mark.parametrize("name", [name for name in ALONE if name != "core into a reused buffer"])
def test_its_gradients_are_those_of_attention(name, mask):
    torch.manual_seed(0)
    with ready(case(name, mask, "forward + backward"), seed=1) as call:
        found = call()
    leaves = [x.double().requires_grad_() for x in random_inputs(case(name, mask), seed=1)]
    torch.manual_seed(0)
    upstream = torch.randn_like(leaves[0].float()).double()
    right = torch.autograd.grad(oracle(*leaves, mask == "causal").output, leaves, upstream)
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


@pytest.mark.parametrize("mask", ["full", "causal"])
def test_flex_attention_is_attention_also_before_it_is_compiled(mask, monkeypatch):
    """What surrounds the kernel; that it compiles is for the next test."""
    monkeypatch.setattr(implementations, "_compiled_attention", lambda: implementations.flex_attention)
    asked = case("flex_attention compiled", mask, length=130)  # more than a block
    with ready(asked, seed=1) as call:
        (output,) = call()
    right = oracle(*random_inputs(asked, seed=1), mask == "causal").output
    torch.testing.assert_close(output.double(), right, atol=1e-6, rtol=1e-5)


@pytest.mark.extended
@pytest.mark.skipif(not shutil.which("g++"), reason="torch compiles for a CPU with a C++ compiler")
def test_flex_attention_compiles_and_says_what_a_cpu_does_not_have():
    asked = case("flex_attention compiled", "full", length=16)
    with ready(asked, seed=1) as call:
        (output,) = call()
    torch.testing.assert_close(output.double(), oracle(*random_inputs(asked, 1), False).output, atol=1e-6, rtol=1e-5)
    with (
        pytest.raises(NotImplementedError, match="no backward pass on a CPU"),
        ready(case("flex_attention compiled", "full", "forward + backward"), seed=1),
    ):
        pass
    with pytest.raises(NotImplementedError, match="backward on CPU"):  # says torch, which may change
        implementations.flex_attention(*(x.requires_grad_() for x in random_inputs(asked, 1)))


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
    call = IMPLEMENTATIONS["core with weights"].ready(q, k, v, True).run
    assert not call().output[..., :4, :].isnan().any()
