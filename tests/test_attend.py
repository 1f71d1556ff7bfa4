"""Attention with weights is torch's own function, to rounding, plus its softmax."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import hypothesis.strategies as st
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from torch import Tensor
from torch.nn.attention import SDPBackend, bias, sdpa_kernel
from torch.testing._internal.two_tensor import TwoTensor

from attention import arguments, scaled_dot_product_attention
from attention import attend as core
from attention.operations.softmax import SOFTMAXES, softmaxes_of_logits
from tests.samples import examples
from tests.strategies import broadcast, masks, normal, seeds, sizes
from tests.unchecked import without_checks

TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-12}
ODD = {
    "attend.SMALL": 0,
    "attend.WHOLE": 0,
    "blocks.ROWS": 3,
    "blocks.BLOCK": 23,
}  # blocks of one to three rows, for any shape


@dataclass
class Call:
    """Arguments that torch's function accepts."""

    query: Tensor
    key: Tensor
    value: Tensor
    options: dict[str, Any]

    @property
    def tensors(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.query, self.key, self.value

    @property
    def blind(self) -> Tensor:
        """Which rows see no key, as far as the mask says."""
        mask = self.options.get("attn_mask")
        rows = torch.zeros(*self.query.shape[:-1], 1, dtype=torch.bool)
        if mask is None:
            return rows
        seen = mask if mask.dtype == torch.bool else mask != -torch.inf
        return rows | ~seen.any(-1, keepdim=True)


@st.composite
def calls(draw: st.DrawFn, dtype: torch.dtype = torch.float64, grouped: bool = True) -> Call:
    batch = tuple(draw(st.lists(st.integers(1, 3), max_size=3)))
    q, k, d, e = (draw(sizes) for _ in "qkde")
    options: dict[str, Any] = {"scale": draw(st.none() | st.sampled_from([0.0, -1.0]) | st.floats(0.1, 2))}
    shared = draw(broadcast(batch)), draw(broadcast(batch))
    if grouped and batch and draw(st.booleans()):
        groups, times = draw(st.integers(1, 3)), draw(st.integers(1, 3))
        options["enable_gqa"] = True
        shared = ((*batch[:-1], groups),) * 2
        batch = (*batch[:-1], groups * times)
    query = normal(draw(seeds), *batch, q, d, dtype=dtype)
    key, value = (normal(draw(seeds), *lead, k, width, dtype=dtype) for lead, width in zip(shared, (d, e), strict=True))
    if draw(st.booleans()):
        options["is_causal"] = True
    else:
        options["attn_mask"] = draw(masks((*batch, q, k), dtype))
    return Call(query, key, value, options)


def by_hand(call: Call, softcap: float | None = None) -> SimpleNamespace:
    """The formula in float64, one step a line."""
    query, key, value = (x.double() for x in call.tensors)
    if call.options.get("enable_gqa"):
        key, value = (x.repeat_interleave(query.shape[-3] // x.shape[-3], -3) for x in (key, value))
    scale = call.options["scale"]
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    logits = torch.einsum("...qd,...kd->...qk", query, key) * scale
    logits = softcap * torch.tanh(logits / softcap) if softcap else logits
    greatest = float(logits.detach().abs().max())
    mask = call.options.get("attn_mask")
    if call.options.get("is_causal"):
        mask = torch.ones(logits.shape[-2:], dtype=torch.bool).tril()
    if mask is not None:
        logits = torch.where(mask, logits, -torch.inf) if mask.dtype == torch.bool else logits + mask
    powers = torch.exp(logits - logits.amax(-1, keepdim=True).clamp(min=-1e300))
    weights = powers / powers.sum(-1, keepdim=True).where(powers.sum(-1, keepdim=True) > 0, 1)
    output = torch.einsum("...qk,...ke->...qe", weights, value)
    return SimpleNamespace(weights=weights, output=output, greatest=greatest)


def close(ours: Tensor, theirs: Tensor, tolerance: float) -> None:
    torch.testing.assert_close(ours, theirs.to(ours.dtype), rtol=tolerance, atol=tolerance)


def backends(call: Call) -> list[SDPBackend]:
    """Torch's kernels that take this call.

    The fused one fails on a mask of one axis, and multiplies what it hides by the scale: -inf * 0 is no number.
    """
    mask, scale = call.options.get("attn_mask"), call.options["scale"]
    astray = call.options.get("is_causal") and scale is not None and scale <= 0
    fused = [] if astray or (mask is not None and mask.ndim < 2) else [SDPBackend.FLASH_ATTENTION]
    return [*fused, SDPBackend.MATH]


def agrees_with_torch(call: Call) -> None:
    ours = scaled_dot_product_attention(*call.tensors, **call.options)
    with sdpa_kernel(backends(call)):
        theirs = F.scaled_dot_product_attention(*call.tensors, **call.options)
    tolerance, exact = TOLERANCE[call.query.dtype], by_hand(call)
    rounding = torch.finfo(call.query.dtype).eps * exact.greatest * float(call.value.abs().max())  # of a large score
    close(ours.output, torch.where(call.blind, 0, theirs), max(tolerance, rounding))
    close(ours.weights, exact.weights.expand_as(ours.weights), tolerance)
    assert not ours.weights.isnan().any()


@settings(deadline=None, max_examples=examples(150))
@given(call=calls() | calls(torch.float32))
def test_at_once_it_is_torchs_function(call):
    agrees_with_torch(call)


@settings(deadline=None, max_examples=examples(150))
@given(call=calls() | calls(torch.float32))
def test_by_blocks_it_is_torchs_function(call):
    with pytest.MonkeyPatch.context() as patch:
        for name, size in ODD.items():
            patch.setattr(f"attention.{name}", size)
        agrees_with_torch(call)


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"attn_mask": torch.ones(700, 611).bool().tril(-5)}])
def test_blocks_of_the_real_size_are_torchs_function(monkeypatch, options):
    monkeypatch.setattr(core, "WHOLE", 0)
    query, key, value = normal(0, 2, 700, 16), normal(1, 2, 611, 16), normal(2, 2, 611, 8)
    assert core.SMALL < 700 * 611
    agrees_with_torch(Call(query, key, value, {"scale": None, **options}))


@pytest.mark.parametrize("softmax", softmaxes_of_logits())
@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"mask": torch.ones(600, 600).bool()}], ids=str)
def test_heads_share_a_product_where_nothing_is_skipped(monkeypatch, options, softmax):
    """Threads that share a product wait for each other at its end: once for all heads, instead of for each of them."""
    asked, products = [], torch.baddbmm
    monkeypatch.setattr(
        torch, "baddbmm", lambda *given, **named: asked.append(len(given[1])) or products(*given, **named)
    )
    query, key, value = (normal(seed, 4, 600, 8) for seed in range(3))
    found = core.attend(query, key, value, **options, normalise=SOFTMAXES[softmax].normalise)
    assert asked == ([4] if not options and softmax == "standard" else [])
    scores = query @ key.mT / 8**0.5
    if "is_causal" in options:
        scores.masked_fill_(torch.ones(600, 600).bool().triu(1), -torch.inf)
    close(found.weights, SOFTMAXES[softmax].normalise(scores.clone()), 1e-6)
    torch.testing.assert_close(found.output, found.weights @ value)


@settings(deadline=None, max_examples=examples(60))
@given(call=calls(), softcap=st.floats(0.1, 10))
def test_the_softcap_is_its_formula(call, softcap):
    ours = scaled_dot_product_attention(*call.tensors, **call.options, softcap=softcap)
    exact = by_hand(call, softcap)
    close(ours.weights, exact.weights.expand_as(ours.weights), 1e-12)
    close(ours.output, exact.output.expand_as(ours.output), 1e-12)


@settings(deadline=None, max_examples=examples(60))
@given(call=calls(grouped=False))
def test_rows_that_see_nothing_are_zero_and_stay_so_in_blocks(call):
    with pytest.MonkeyPatch.context() as patch:
        for sizes_of_blocks in ({}, ODD):
            for name, size in sizes_of_blocks.items():
                patch.setattr(f"attention.{name}", size)
            output, weights = scaled_dot_product_attention(*call.tensors, **call.options)
            assert (weights.masked_select(call.blind) == 0).all()
            assert (output.masked_select(call.blind) == 0).all()
            sums = weights.sum(-1, keepdim=True)
            torch.testing.assert_close(sums, (~call.blind).to(sums).expand_as(sums))


@settings(deadline=None, max_examples=examples(80))
@given(call=calls(), softcap=st.none() | st.floats(0.5, 5), seed=seeds)
def test_gradients_are_torchs(call, softcap, seed):
    """Where torch has no softcap, those of the formula. Rows that see nothing push nothing back."""
    leaves = [x.clone().requires_grad_() for x in call.tensors]
    others = [x.clone().requires_grad_() for x in call.tensors]
    ours = scaled_dot_product_attention(*leaves, **call.options, softcap=softcap).output
    opened = Call(*others, options=options_with_sight(call))
    with sdpa_kernel(backends(opened)):
        plain = F.scaled_dot_product_attention(*others, **opened.options)
    theirs = by_hand(opened, softcap).output if softcap else plain
    push = normal(seed, *ours.shape, dtype=ours.dtype)
    found = torch.autograd.grad(ours, leaves, push)
    expected = torch.autograd.grad(theirs.expand_as(ours), others, torch.where(call.blind, 0, push))
    for mine, other in zip(found, expected, strict=True):
        close(mine, other, 1e-10)


def options_with_sight(call: Call) -> dict[str, Any]:
    """The same options, but rows that saw nothing see everything."""
    mask = call.options.get("attn_mask")
    if mask is None:
        return call.options
    wide = mask.expand(*call.blind.shape[:-1], call.key.shape[-2])
    return call.options | {"attn_mask": wide.masked_fill(call.blind, True if mask.dtype == torch.bool else 0.0)}


@pytest.mark.parametrize("softcap", [None, 2.0])
@pytest.mark.parametrize("kind", ["bool", "float"])
def test_a_row_that_sees_nothing_pushes_nothing_back(kind, softcap):
    seen = torch.tensor([[True, True], [False, False]])
    mask = seen if kind == "bool" else torch.zeros(2, 2).masked_fill(~seen, -torch.inf)
    leaves = [normal(i, 2, 3).requires_grad_() for i in range(3)]
    found = scaled_dot_product_attention(*leaves, attn_mask=mask, softcap=softcap)
    grads = torch.autograd.grad(found.output.square().sum() + found.weights.square().sum(), leaves)
    assert all(grad.isfinite().all() for grad in grads)
    assert torch.equal(grads[0][1], torch.zeros(3))
    assert grads[0][0].count_nonzero() == 3


def test_weights_have_gradients_too():
    query, key = normal(0, 2, 3, 4, dtype=torch.float64).requires_grad_(), normal(1, 2, 3, 4, dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda q: scaled_dot_product_attention(q, key, key, is_causal=True).weights, query)


def test_a_learned_mask_gets_its_gradient():
    query, mask = normal(0, 2, 3, 4), normal(1, 3, 3).requires_grad_()
    found = scaled_dot_product_attention(query, query, query, mask)
    theirs = F.scaled_dot_product_attention(query, query, query, mask)
    pairs = (torch.autograd.grad(x.square().sum(), mask)[0] for x in (found.output, theirs))
    torch.testing.assert_close(*pairs)


@settings(deadline=None, max_examples=examples(40))
@given(call=calls(), seed=seeds, dropout=st.sampled_from([0.1, 0.5, 1.0]))
def test_dropout_drops_what_torch_drops_and_weights_are_those_before(call, seed, dropout):
    sure = scaled_dot_product_attention(*call.tensors, **call.options)
    torch.manual_seed(seed)
    output, weights = scaled_dot_product_attention(*call.tensors, **call.options, dropout_p=dropout)
    torch.manual_seed(seed)
    theirs = F.scaled_dot_product_attention(*call.tensors, **call.options, dropout_p=dropout)
    close(weights, sure.weights, 1e-12)
    close(output, torch.where(call.blind, 0, theirs), 1e-12)


def test_dropout_keeps_the_mean():
    query, value = torch.zeros(40_000, 1, 4), torch.ones(40_000, 10, 1)
    torch.manual_seed(0)
    output, _ = scaled_dot_product_attention(query, torch.zeros(40_000, 10, 4), value, dropout_p=0.5)
    # each output is the mean of ten independent 0 or 2: its standard deviation is 1 / sqrt(10)
    torch.testing.assert_close(output.mean(), torch.tensor(1.0), atol=6 / (10 * 40_000) ** 0.5, rtol=0)
    torch.testing.assert_close(output.std(), torch.tensor(10**-0.5), atol=0.005, rtol=0)


@pytest.mark.parametrize("path", ["at once", "by blocks"])
@pytest.mark.parametrize("dtype", arguments.FLOATS)
def test_without_scores_every_weight_is_the_same(path, dtype, monkeypatch):
    if path == "by blocks":
        for name, size in ODD.items():
            monkeypatch.setattr(f"attention.{name}", size)
    query, key, value = (normal(i, 4, 64, 7, dtype=dtype) for i in range(3))
    torch.full((4, 64, 64), torch.nan, dtype=dtype)  # memory that is used again holds anything
    for mask in (None, torch.ones(64, 64, dtype=torch.bool)):
        assert (scaled_dot_product_attention(query, key, value, mask, scale=0).weights == 1 / 64).all()


@pytest.mark.parametrize("path", ["at once", "by blocks"])
@pytest.mark.parametrize("poisoned", [0, 1, 2])
def test_nan_goes_in_and_nan_comes_out(path, poisoned, monkeypatch):
    """A NaN in query 2 shows in row 2, one in key 2 in every row, one in value 2 in every row that sees it."""
    if path == "by blocks":
        for name, size in ODD.items():
            monkeypatch.setattr(f"attention.{name}", size)
    tensors = [normal(i, 5, 4) for i in range(3)]
    tensors[poisoned][2, 1] = torch.nan
    output, weights = scaled_dot_product_attention(*tensors)
    hit = torch.tensor([False, False, True, False, False]) if poisoned == 0 else torch.ones(5, dtype=torch.bool)
    assert torch.equal(output.isnan().any(-1), hit)
    assert torch.equal(weights.isnan().any(-1), hit & (poisoned != 2))


@pytest.mark.parametrize("path", ["at once", "by blocks"])
@pytest.mark.parametrize("poison", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("heads", [1, 3], ids=["a mask", "masks of their own"])
@pytest.mark.parametrize("kind", ["causal", "boolean", "blind"])
def test_no_weight_is_lost_to_what_is_hidden(path, poison, heads, kind, monkeypatch):
    """A key that is no number reaches the weights of the rows that see it, and no other."""
    if path == "by blocks":
        for name, size in ODD.items():
            monkeypatch.setattr(f"attention.{name}", size)
    query, key, value = normal(0, 3, 5, 4), normal(1, 3, 5, 4), normal(2, 3, 5, 4)
    seen = torch.ones(heads, 5, 5).bool().tril(-1 if kind == "blind" else 0)
    options = {"is_causal": True} if kind == "causal" else {"attn_mask": seen}
    sound = scaled_dot_product_attention(query, key, value, **options).weights
    key[:, 3] = poison
    weights = scaled_dot_product_attention(query, key, value, **options).weights
    unaware = ~seen[:, :, 3].expand(3, -1)
    assert unaware.sum(-1).tolist() == [4 if kind == "blind" else 3] * 3
    close(weights[unaware], sound[unaware], 1e-6)
    assert poison in (torch.inf, -torch.inf) or weights[~unaware].isnan().any(-1).all()


@pytest.mark.parametrize("limits", [{}, ODD], ids=["at once", "by blocks"])
@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"attn_mask": torch.ones(5, 6).bool().tril(-1)}])
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "strided"])
def test_out_is_filled_and_returned(limits, options, layout, monkeypatch):
    for name, size in limits.items():
        monkeypatch.setattr(f"attention.{name}", size)
    query, key, value = normal(0, 2, 3, 5, 4), normal(1, 2, 3, 6, 4), normal(2, 2, 3, 6, 7)
    out = {
        "contiguous": torch.full((2, 3, 5, 6), torch.nan),
        "transposed": torch.full((2, 3, 6, 5), torch.nan).mT,
        "strided": torch.full((2, 3, 5, 12), torch.nan)[..., ::2],
    }[layout]
    fresh = scaled_dot_product_attention(query, key, value, **options)
    found = scaled_dot_product_attention(query, key, value, **options, out=out)
    assert found.weights is out
    close(out, fresh.weights, 1e-6)
    close(found.output, fresh.output, 1e-6)


def test_out_is_filled_when_dropout_takes_the_other_path():
    x, out = normal(0, 2, 3, 4), torch.full((2, 3, 3), torch.nan)
    found = scaled_dot_product_attention(x, x, x, dropout_p=0.5, out=out)
    assert found.weights is out
    close(out, scaled_dot_product_attention(x, x, x).weights, 1e-6)


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (torch.empty(2, 3, 4), r"out is \(2, 3, 4\) of torch.float32 on cpu; the weights are \(2, 3, 3\) of"),
        (torch.empty(2, 3, 3).double(), r"out is \(2, 3, 3\) of torch.float64 on cpu; .* of torch.float32 on cpu"),
        (torch.empty(2, 3, 3, device="meta"), r"on meta; the weights are \(2, 3, 3\) of torch.float32 on cpu"),
    ],
    ids=["shape", "dtype", "device"],
)
def test_an_out_that_cannot_hold_the_weights_is_refused(out, message):
    x = normal(0, 2, 3, 4)
    with pytest.raises(RuntimeError, match=message):
        scaled_dot_product_attention(x, x, x, out=out)


def test_out_and_gradients_are_refused_together():
    x = normal(0, 2, 3, 4).requires_grad_()
    with pytest.raises(RuntimeError, match="does not support automatic differentiation"):
        scaled_dot_product_attention(x, x, x, out=torch.empty(2, 3, 3))
    with torch.no_grad():
        assert scaled_dot_product_attention(x, x, x, out=torch.empty(2, 3, 3)).weights.shape == (2, 3, 3)


@pytest.mark.parametrize("softcap", [0.0, -1.0, float("nan")])
def test_a_softcap_that_is_not_positive_is_refused(softcap):
    x = normal(0, 3, 4)
    with pytest.raises(ValueError, match=f"softcap={softcap} is not a positive number; None leaves the scores"):
        scaled_dot_product_attention(x, x, x, softcap=softcap)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"attn_mask": torch.eye(9).bool()}])
def test_half_precision_is_right_to_its_precision(dtype, options):
    tensors = [normal(i, 2, 9, 16).to(dtype) for i in range(3)]
    ours = scaled_dot_product_attention(*tensors, **options)
    exact = by_hand(Call(*tensors, options={"scale": None, **options}))
    assert ours.output.dtype == ours.weights.dtype == dtype
    step = torch.finfo(dtype).eps
    torch.testing.assert_close(ours.weights.double(), exact.weights, rtol=8 * step, atol=step)
    torch.testing.assert_close(ours.output.double(), exact.output, rtol=8 * step, atol=8 * step)


@pytest.mark.parametrize("n", [8, 600])
@pytest.mark.parametrize("grad", [False, True])
def test_the_least_float16_may_be_what_a_mask_adds(n, grad):
    """Of what it hides it leaves finite scores, also in a row where it hides all: those of the row without a mask."""
    least = torch.finfo(torch.float16).min
    q, k, v = (3 * normal(i, 2, n, 16).half() for i in range(3))
    mask = torch.zeros(n, n).half().masked_fill(torch.ones(n, n).bool().triu(1), least)
    mask[3] = least
    exact = by_hand(Call(q, k, v, {"scale": None, "attn_mask": mask}))
    found = scaled_dot_product_attention(q.requires_grad_(grad), k, v, mask)
    assert found.output.dtype == found.weights.dtype == torch.float16
    torch.testing.assert_close(found.weights.double(), exact.weights, rtol=1e-2, atol=1e-3)
    torch.testing.assert_close(found.output.double(), exact.output, rtol=1e-2, atol=1e-2)
    if not grad:
        out = torch.empty(2, n, n).half()
        assert scaled_dot_product_attention(q, k, v, mask, out=out).weights is out and torch.equal(out, found.weights)
        with pytest.raises(RuntimeError, match=r"out is \(2, 3\) of torch.float16 on cpu; the weights are"):
            scaled_dot_product_attention(q, k, v, mask, out=torch.empty(2, 3).half())


def test_products_of_float16_may_be_larger_than_any_before_they_are_scaled():
    q, v = torch.full((1, 4, 64), 50.0).half(), normal(0, 1, 4, 8).half()
    expected = scaled_dot_product_attention(q, q, v)
    assert expected.output.isfinite().all()
    torch.testing.assert_close(scaled_dot_product_attention(q.clone().requires_grad_(), q, v), expected)


LARGE_SCORES: dict[str, dict[str, Any]] = {
    "no mask": {},
    "causal": {"is_causal": True},
    "boolean mask": {"attn_mask": torch.ones(700, 700).bool().tril(3)},
    "added mask": {"attn_mask": torch.zeros(700, 700).half()},
    "own masks": {"attn_mask": torch.ones(2, 700, 700).bool().tril(3)},
}


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("n", [6, 700])
@pytest.mark.parametrize("name", LARGE_SCORES)
def test_scores_of_float16_may_be_larger_than_any_float16(name, n, grad):
    """Scaled scores reach 90,000, whose softmax is finite."""
    options = {key: x[..., :n, :n] if isinstance(x, Tensor) else x for key, x in LARGE_SCORES[name].items()}
    q, k, v = (normal(i, 1, 2, n, 2).half() for i in range(3))
    q[..., ::2, :], k[..., ::3, :] = 300, 300
    call = Call(q.requires_grad_(grad), k.requires_grad_(grad), v.requires_grad_(grad), {"scale": 0.5, **options})
    exact = by_hand(call)
    assert exact.greatest == 90_000 > torch.finfo(torch.float16).max
    found = scaled_dot_product_attention(*call.tensors, **call.options)
    assert found.output.dtype == found.weights.dtype == torch.float16
    torch.testing.assert_close(found.weights.double(), exact.weights.expand_as(found.weights), rtol=1e-3, atol=1e-6)
    torch.testing.assert_close(found.output.double(), exact.output, rtol=1e-3, atol=1e-3)
    if grad:
        push = normal(3, 1, 2, n, 2).half()
        ours = torch.autograd.grad(found.output, call.tensors, push)
        expected = torch.autograd.grad(exact.output, call.tensors, push.double())
        for mine, other in zip(ours, expected, strict=True):
            assert mine.dtype == torch.float16
            torch.testing.assert_close(mine, other, rtol=5e-3, atol=1e-3 * float(other.abs().max()))


@pytest.mark.parametrize("dtype", core.HALVES)
def test_the_weights_of_16_bits_need_no_float32_square_beside_them(dtype, monkeypatch):
    made, room = [], core.empty_hugepages
    monkeypatch.setattr(
        core, "empty_hugepages", lambda shape, like: made.append((shape, like.dtype)) or room(shape, like)
    )
    x = normal(0, 2, 700, 8).to(dtype)
    for options in ({}, {"is_causal": True}, {"attn_mask": torch.zeros(700, 700).to(dtype)}):
        assert scaled_dot_product_attention(x, x, x, **options).weights.dtype == dtype
    assert made == [((2, 700, 700), dtype)] * 3


@pytest.mark.parametrize("dtype", core.HALVES)
@pytest.mark.parametrize("given", [None, torch.zeros(700, 700)], ids=["no mask", "added mask"])
def test_blocks_of_16_bits_are_no_larger_than_a_head(given, dtype, monkeypatch):
    """What is held beside inputs, output and weights is one float32 square of a head, whatever the number of heads."""
    x, squares = normal(0, 8, 700, 8).to(dtype), []
    empty = torch.Tensor.new_empty
    monkeypatch.setattr(
        torch.Tensor,
        "new_empty",
        lambda x, *size: squares.append(torch.Size(size).numel() if isinstance(size[0], int) else 0) or empty(x, *size),
    )
    found = scaled_dot_product_attention(x, x, x, None if given is None else given.to(dtype))
    assert squares and 0 < max(squares) <= 700 * 700
    wanted = F.scaled_dot_product_attention(x, x, x)
    torch.testing.assert_close(found.output, wanted, rtol=0.02, atol=0.01)


@pytest.mark.parametrize("dtype", core.HALVES)
@pytest.mark.parametrize("size", [1, 40], ids=["small", "large"])
def test_16_bits_without_a_mask_are_those_of_float32_rounded(size, dtype):
    """Large: scores up to tens of thousands, which float16 does not hold."""
    q, k, v = (
        each.to(dtype) for each in (size * normal(0, 3, 600, 16), size * normal(1, 3, 600, 16), normal(2, 3, 600, 16))
    )
    found = scaled_dot_product_attention(q, k, v)
    exact = scaled_dot_product_attention(q.float(), k.float(), v.float())
    for ours, theirs in zip(found, exact, strict=True):
        torch.testing.assert_close(ours, theirs.to(dtype), rtol=0.01, atol=1e-4)
    torch.testing.assert_close(found.output, F.scaled_dot_product_attention(q, k, v), rtol=0.02, atol=0.01)


@pytest.mark.parametrize("dtype", core.HALVES)
def test_a_float32_mask_on_16_bits_keeps_its_numbers(dtype):
    """-1e9 is no float16: a row that is hidden by it everywhere has the weights that it has without it."""
    q, k, v = (normal(i, 5, 4).to(dtype) for i in range(3))
    mask = torch.zeros(5, 5)
    mask[2], mask[3, :4] = -1e9, -1e9
    found = scaled_dot_product_attention(q, k, v, mask)
    torch.testing.assert_close(found.output, F.scaled_dot_product_attention(q, k, v, mask), rtol=0.02, atol=0.01)
    torch.testing.assert_close(found.weights[2], torch.full((5,), 0.2, dtype=dtype))


@pytest.mark.parametrize("dtype", core.HALVES)
@pytest.mark.parametrize("mask", [None, torch.zeros(600, 600)], ids=["no mask", "added mask"])
@pytest.mark.parametrize("n", [8, 600])
def test_autocast_casts_what_torch_casts(n, mask, dtype):
    q, k, v = (20 * normal(i, 2, n, 16) for i in range(3))
    mask = None if mask is None else mask[:n, :n]
    for kept in (torch.float32, dtype):
        given = [x.to(kept) for x in (q, k, v)]
        with torch.autocast("cpu", dtype):
            found = scaled_dot_product_attention(*given, attn_mask=mask)
            learned = scaled_dot_product_attention(given[0].requires_grad_(), *given[1:], attn_mask=mask)
        exact = scaled_dot_product_attention(*(x.detach().to(dtype) for x in given), attn_mask=mask)
        for other in (found, learned):
            assert other.output.dtype == other.weights.dtype == dtype
            torch.testing.assert_close(other.weights, exact.weights, rtol=2e-2, atol=1e-3)
    with torch.autocast("cpu", dtype):
        assert scaled_dot_product_attention(q.double(), k.double(), v.double()).output.dtype == torch.float64


@pytest.mark.parametrize("shape", [(2, 0, 4), (0, 3, 4), (2, 3, 0)], ids=["no tokens", "no batch", "no channels"])
def test_nothing_attends_to_nothing(shape):
    x, value = torch.ones(shape), torch.ones(*shape[:-1], 5)
    output, weights = scaled_dot_product_attention(x, x, value)
    torch.testing.assert_close(output, F.scaled_dot_product_attention(x, x, value))
    assert weights.shape == (*shape[:-1], shape[-2])


def test_no_keys_give_a_zero_output():
    output, weights = scaled_dot_product_attention(torch.ones(2, 3, 4), torch.ones(2, 0, 4), torch.ones(2, 0, 5))
    assert torch.equal(output, torch.zeros(2, 3, 5))
    assert weights.shape == (2, 3, 0)


def test_inputs_are_left_as_they_were():
    tensors = [normal(i, 2, 5, 4) for i in range(3)]
    mask = normal(3, 5, 5)
    before = [x.clone() for x in (*tensors, mask)]
    scaled_dot_product_attention(*tensors, attn_mask=mask, softcap=2.0)
    assert all(torch.equal(a, b) for a, b in zip(before, (*tensors, mask), strict=True))


X = torch.ones(2, 4, 3, 4)
MISUSE: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "one axis": ((torch.ones(4),) * 3, {}),
    "one axis in the query": ((torch.ones(4), torch.ones(3, 4), torch.ones(3, 4)), {}),
    "channels differ": ((X, torch.ones(2, 4, 3, 5), X), {}),
    "lengths of key and value differ": ((X, X, torch.ones(2, 4, 5, 4)), {}),
    "batches differ": ((X, torch.ones(3, 4, 3, 4), X), {}),
    "dtypes differ": ((X.double(), X, X), {}),
    "devices differ": ((X, X.to("meta"), X), {}),
    "integers": ((X.int(),) * 3, {}),
    "booleans": ((X.bool(),) * 3, {}),
    "complex numbers": ((X + 0j,) * 3, {}),
    "no tensor": (([1.0], X, X), {}),
    "no value": ((X, X, None), {}),
    "mask and causal": ((X, X, X, torch.ones(3, 3).bool()), {"is_causal": True}),
    "mask of integers": ((X, X, X, torch.ones(3, 3).int()), {}),
    "mask of another precision": ((X, X, X, torch.ones(3, 3).double()), {}),
    "mask of another size": ((X, X, X, torch.ones(2, 3).bool()), {}),
    "mask of another batch": ((X, X, X, torch.ones(3, 4, 3, 3).bool()), {}),
    "mask of more axes": ((X, X, X, torch.ones(2, 2, 4, 3, 3).bool()), {}),
    "mask wider than the batch": ((X[:1], X[:1], X[:1], torch.ones(2, 1, 3, 3).bool()), {}),
    "mask is a list": ((X, X, X, [[True]]), {}),
    "heads do not divide": ((X, X[:, :3], X[:, :3]), {"enable_gqa": True}),
    "more heads in the key": ((X[:, :2], X, X), {"enable_gqa": True}),
    "groups without heads": ((X[0, 0],) * 3, {"enable_gqa": True}),
    "groups without the flag": ((X, X[:, :2], X[:, :2]), {}),
    "dropout above one": ((X, X, X), {"dropout_p": 1.5}),
    "dropout is text": ((X, X, X, None, "0.5"), {}),
    "causal is a number": ((X, X, X, None, 0.0, 1), {}),
    "groups is text": ((X, X, X), {"enable_gqa": "yes"}),
    "scale is text": ((X, X, X), {"scale": "1/8"}),
}


@pytest.mark.parametrize("limits", [{}, ODD], ids=["at once", "by blocks"])
@pytest.mark.parametrize("name", MISUSE)
def test_misuse_raises_what_torch_raises(name, limits, monkeypatch):
    for limit, size in limits.items():
        monkeypatch.setattr(f"attention.{limit}", size)
    args, options = MISUSE[name]
    with sdpa_kernel(SDPBackend.MATH):  # the fused kernels overlook some misuse
        theirs = failure(F.scaled_dot_product_attention, *args, **options)
    with without_checks():
        ours = failure(scaled_dot_product_attention, *args, **options)
    assert type(ours) is type(theirs)
    assert str(ours).split("\n")[0] == str(theirs).split("\n")[0]


def failure(function: Callable[..., object], *args: Any, **options: Any) -> Exception:
    """What a call raises; it must raise something."""
    try:
        function(*args, **options)
    except Exception as error:
        return error
    pytest.fail(f"{function.__name__} took it")


UNUSUAL: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "float32 mask on float64": ((X.double(),) * 3 + (torch.randn(3, 3),), {}),
    "float32 mask on bfloat16": ((X.bfloat16(),) * 3 + (torch.zeros(3, 3),), {}),
    "negative dropout": ((X, X, X), {"dropout_p": -0.5}),
    "whole scale": ((X, X, X), {"scale": 2}),
    "scale as a tensor": ((X, X, X), {"scale": torch.tensor(0.5)}),
    "mask of no axes": ((X, X, X, torch.tensor(True)), {}),
    "shared keys of other groups than values": ((X, X[:, :2], X[:, :1]), {"enable_gqa": True}),
    "value with a batch of its own": ((X[:1], X[:1], X), {}),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_what_torch_takes_is_taken(name):
    args, options = UNUSUAL[name]
    with without_checks():
        ours = scaled_dot_product_attention(*args, **options)
    with sdpa_kernel(SDPBackend.MATH):
        theirs = F.scaled_dot_product_attention(*args, **options)
    torch.testing.assert_close(ours.output, theirs)


BIASES = {"upper left": bias.causal_upper_left, "lower right": bias.causal_lower_right}


@pytest.mark.parametrize("name", BIASES)
@pytest.mark.parametrize(("queries", "keys"), [(2, 5), (4, 4), (600, 700)])
@pytest.mark.parametrize("grad", [False, True])
def test_torchs_causal_bias_is_the_mask_that_it_stands_for(name, queries, keys, grad):
    """Its memory is uninitialised: it only has sizes."""
    x = normal(0, 1, 2, queries, 8).requires_grad_(grad)
    key, value = normal(1, 1, 2, keys, 8), normal(2, 1, 2, keys, 8)
    mask = BIASES[name](queries, keys)
    found = scaled_dot_product_attention(x, key, value, mask)
    seen = torch.ones(queries, keys).bool().tril(keys - queries if name == "lower right" else 0)
    assert type(found.output) is type(found.weights) is Tensor
    assert torch.equal(found.weights, scaled_dot_product_attention(x, key, value, seen).weights)
    close(found.output, F.scaled_dot_product_attention(x, key, value, mask), 1e-5)


def test_a_causal_bias_of_other_sizes_or_beside_is_causal_is_refused():
    with without_checks(), pytest.raises(RuntimeError, match="must match the size of tensor b"):
        scaled_dot_product_attention(X, X, X, bias.causal_upper_left(2, 5))
    with (
        without_checks(),
        pytest.raises(RuntimeError, match="Explicit attn_mask should not be set when is_causal=True"),
    ):
        scaled_dot_product_attention(X, X, X, bias.causal_lower_right(3, 3), is_causal=True)


class Named(Tensor):
    """A subclass with torch's own operations."""


class Lazy(Tensor):
    """A mask that is known to some functions only, as torch's CausalBias."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})


def test_of_mask_classes_the_memory_is_read_or_they_are_refused():
    mask, expected = normal(3, 3, 3), scaled_dot_product_attention(X, X, X, normal(3, 3, 3))
    close(
        scaled_dot_product_attention(X, X, X, mask.as_subclass(Named)).output.as_subclass(Tensor), expected.output, 1e-6
    )
    message = r"attn_mask is a Lazy, which replaces functions of torch: .* that is mask.as_subclass\(torch.Tensor\)"
    with pytest.raises(TypeError, match=message):
        scaled_dot_product_attention(X, X, X, mask.as_subclass(Lazy))
    close(
        scaled_dot_product_attention(X, X, X, mask.as_subclass(Lazy).as_subclass(Tensor)).output, expected.output, 1e-6
    )


@pytest.mark.parametrize("n", [3, 600], ids=["small", "large"])
@pytest.mark.parametrize("at", range(4), ids=["query", "key", "value", "attn_mask"])
def test_tensors_of_tensors_are_never_written_past(at, n):
    """Whichever argument keeps its numbers elsewhere, an operation in place on fresh memory would not reach them."""
    given = [normal(i, 2, n, 4) for i in range(3)] + [normal(3, n, n)]
    exact = scaled_dot_product_attention(*given)
    given[at] = TwoTensor(given[at], given[at].clone())
    found = scaled_dot_product_attention(*given)
    close(getattr(found.output, "a", found.output), exact.output, 1e-5)
    close(getattr(found.weights, "a", found.weights), exact.weights, 1e-5)


@pytest.mark.parametrize("at", ["query", "key", "value", "attn_mask"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda x: torch.nested.nested_tensor([*x[0]], layout=torch.jagged),
            "is a nested tensor. .* a mask that hides the padding",
        ),
        (lambda x: torch.nested.nested_tensor([*x[0]]), "is a nested tensor. .*to_padded_tensor"),
        (Tensor.to_sparse, r"has the layout torch.sparse_coo. Give .*to_dense\(\)"),
        (Tensor.to_mkldnn, r"has the layout torch._mkldnn. Give .*to_dense\(\)"),
    ],
    ids=["jagged", "nested", "sparse", "mkldnn"],
)
def test_what_is_not_dense_is_refused_by_its_name(at, change, message):
    given = {name: normal(i, 2, 4, 3, 3) for i, name in enumerate(["query", "key", "value", "attn_mask"])}
    given[at] = change(given[at])
    with without_checks(), pytest.raises(ValueError, match=f"{at} {message}"):
        scaled_dot_product_attention(**given)
