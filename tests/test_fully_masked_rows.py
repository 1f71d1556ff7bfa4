"""The audit says what the paths do: each claim against the path itself, called as a reader would."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from attention import Config, trace
from attention.analysis.fully_masked_rows import BACKENDS, audit, masks
from attention.imported.registry import register
from attention.imported.stack import Stack

SMALL = {"tokens": 9, "heads": 2, "d_model": 8, "input": "noise"}
HOLES = Config(mask="causal", combine="without", second="window", span=3, **SMALL)  # the first three rows see nothing


@pytest.fixture(scope="module")
def findings():
    return audit(trace(HOLES))


def by(findings, path, mask, mode=""):
    (found,) = [f for f in findings if (f.path, f.mask, f.mode) == (path, mask, mode)]
    return found


@pytest.mark.parametrize("mask", ["boolean", "float, -inf"])
def test_ours_gives_zeros_and_finite_gradients(findings, mask):
    for path in ("attention.scaled_dot_product_attention", "attention.MultiHeadAttention"):
        found = by(findings, path, mask)
        assert (found.blind, found.gradient) == ("zeros", "finite")


def test_a_finite_mask_attends_to_what_it_should_hide(findings):
    for found in findings:
        if found.mask == "float, lowest finite" and found.runs:
            assert found.blind == "mean of all values"


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("mask", ["boolean", "float, -inf"])
def test_the_module_is_reported_as_it_behaves(findings, training, mask):
    layer = nn.MultiheadAttention(4, 1, batch_first=True).train(training)
    x, square = torch.randn(1, 9, 4), trace(HOLES).mask
    given = ~square if mask == "boolean" else masks(square)[mask]
    for weights in (True, False):
        output, _ = layer(x, x, x, attn_mask=given, need_weights=weights)
        mode = f"{'train' if training else 'eval'}, need_weights={weights}"
        found = by(findings, "nn.MultiheadAttention", mask, mode)
        assert (found.blind == "NaN") == bool(output[0, :3].isnan().any())
        (grad,) = torch.autograd.grad(output[0, 3:].sum(), layer.in_proj_weight)
        assert (found.gradient == "NaN") == bool(grad.isnan().any())


@pytest.mark.parametrize("mask", ["boolean", "float, -inf", "float, lowest finite"])
def test_the_default_call_agrees_with_one_of_the_backends(findings, mask):
    one = trace(HOLES)
    q, k, v = (x[0][None, None] for x in (one.q, one.k, one.v))
    output = F.scaled_dot_product_attention(q, k, v, masks(one.mask)[mask])[0, 0, :3]
    seen = {f.blind for f in findings if f.path.startswith("F.") and f.mask == mask and f.runs}
    assert seen == {"zeros" if not output.any() else "NaN" if output.isnan().any() else "mean of all values"}


def test_every_backend_is_listed_and_math_runs_everywhere(findings):
    listed = {f.mode: f.runs for f in findings if f.path.startswith("F.")}
    assert tuple(listed) == BACKENDS
    assert listed["MATH"]


def test_rows_that_see_something_are_right_on_every_path(findings):
    for found in findings:
        assert found.apart < 1e-5, found


def test_without_blind_rows_nothing_is_odd():
    for found in audit(trace(Config(mask="causal", **SMALL))):
        assert found.blind == "" and found.apart < 1e-5
        assert found.gradient in ("finite", "")


@pytest.mark.parametrize("other", [9, 5])
def test_cross_attention_is_run_as_that(other):
    """With as many keys as queries, too: the modules take both sequences, and their rows agree with float64."""
    square = torch.ones(9, other, dtype=torch.bool).tril()
    square[2] = False
    q, k, v = (torch.randn(1, 2, size, 4, generator=torch.Generator().manual_seed(size)) for size in (9, other, other))
    words = tuple("abcdefghi")
    holding = register(Stack("Mine", "", words, words[:other][::-1], q, k, v, square=square))
    found = audit(trace(Config.of(holding.source)))
    assert {each.path for each in found if "ulti" in each.path} == {
        "attention.MultiHeadAttention",
        "nn.MultiheadAttention",
    }
    assert max(each.apart for each in found if each.runs) < 1e-5
    layer = nn.MultiheadAttention(4, 1, batch_first=True)
    output, _ = layer(q[:, 0], k[:, 0], k[:, 0], attn_mask=~square)
    assert by(found, "nn.MultiheadAttention", "boolean", "train, need_weights=True").blind == "NaN"
    assert output[0, 2].isnan().all()


def test_every_row_blind():
    found = audit(trace(Config(mask="padding", span=20, **SMALL)))
    assert by(found, "attention.scaled_dot_product_attention", "boolean").blind == "zeros"
    assert by(found, "attention.scaled_dot_product_attention", "boolean").gradient == "finite"


def test_the_choice_of_a_backend_does_not_outlive_the_audit():
    before = [torch.backends.cuda.flash_sdp_enabled(), torch.backends.cuda.mem_efficient_sdp_enabled()]
    audit(trace(HOLES))
    assert [torch.backends.cuda.flash_sdp_enabled(), torch.backends.cuda.mem_efficient_sdp_enabled()] == before
