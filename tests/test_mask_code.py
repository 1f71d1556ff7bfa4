"""The code for a mask, run: flex_attention's square, the dense square and the rule's own are one."""

import pytest
import torch
from torch.nn.attention.flex_attention import create_mask

from attention import Config, scaled_dot_product_attention, trace
from attention.masks import COMBINATIONS, MASKS
from attention.steps import mask_table, program
from tests import example_uploads
from tests.server import ROOT
from tests.test_upload_pages import page_text

SEVERAL = [Config(mask=name, tokens=n, span=span) for name in MASKS for n, span in ((2, 1), (11, 3), (7, 9))] + [
    Config(mask=first, combine=how, second=second, tokens=10, span=3)
    for how in COMBINATIONS
    for first, second in (("causal", "documents"), ("sinks", "padding"), ("global", "dilated"))
]


def run(program):
    names = {}
    exec(program, names)
    return names


@pytest.mark.parametrize("config", SEVERAL, ids=lambda c: f"{c.rule_name}-{c.tokens}")
def test_both_give_the_square_on_the_screen(config):
    n = config.tokens
    square = config.rule.square(n, n, config.span)
    assert torch.equal(create_mask(run(program.mask_mod(config))["mask_mod"], 1, 1, n, n, device="cpu")[0, 0], square)
    assert torch.equal(run(program.dense(config))["mask"], square)


@pytest.mark.parametrize("mask", ["full", "causal", "window", "padding", "documents"])
def test_of_a_sequence_that_looks_at_another_both_give_its_square(mask):
    holding = example_uploads.holding("crossing")
    config = Config.of(holding.source, mask=mask, span=3)
    queries, keys = config.tokens, config.n_keys
    assert (queries, keys) == (6, 8)
    square = trace(config).mask
    assert square.shape == (6, 8)
    flex, tensor = run(program.mask_mod(config)), run(program.dense(config))
    assert torch.equal(create_mask(flex["mask_mod"], 1, 1, queries, keys, device="cpu")[0, 0], square)
    assert torch.equal(tensor["mask"], square)
    q, k, v = (torch.randn(1, 2, n, 16) for n in (queries, keys, keys))
    ours = scaled_dot_product_attention(q, k, v, square).output
    torch.testing.assert_close(tensor["attention"](q, k, v), ours, atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", example_uploads.STACKS)
def test_a_rule_that_is_not_in_use_is_not_given_away(name):
    holding = example_uploads.holding(name)
    app = example_uploads.open_page(ROOT / "pages/masks.py", holding, {"mask_detail": "code"})
    assert not app.exception
    acts = {"q", "k"} <= holding.shape.has or holding.shape.square
    assert bool(app.code) == acts
    assert acts or "The mask as code" in page_text(app)


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_both_programs_attend_as_ours():
    config = Config(mask="sinks", combine="and", second="documents", tokens=12, span=5)
    q, k, v = torch.randn(3, 1, 2, 12, 16)
    ours = scaled_dot_product_attention(q, k, v, config.rule.square(12, 12, 5)).output
    torch.testing.assert_close(run(program.mask_mod(config))["attention"](q, k, v), ours, atol=1e-5, rtol=0)
    torch.testing.assert_close(run(program.dense(config))["attention"](q, k, v), ours, atol=1e-5, rtol=0)


def test_the_rule_reads_as_one_would_write_it():
    text = program.mask_mod(Config(mask="causal", combine="and", second="documents", tokens=8, span=4))
    assert "return (kv_idx <= q_idx) & (torch.div(q_idx, span, rounding_mode='floor')" in text


@pytest.mark.parametrize("size", [(6, 6), (5, 9), (150, 150)], ids=str)
def test_the_code_of_a_mask_that_is_no_rule_gives_it(size):
    mask = torch.rand(size, generator=torch.Generator().manual_seed(2)) > 0.1
    mask = mask.tril() if size[0] > 100 else mask
    mask[2:4] = False
    if size[0] > 100:
        mask[40:] = mask[39]
    flex, tensor = run(mask_table.mask_mod(mask)), run(mask_table.dense(mask))
    assert torch.equal(create_mask(flex["mask_mod"], 1, 1, *size, device="cpu")[0, 0], mask)
    assert torch.equal(tensor["mask"], mask)
    many = torch.rand(200, 200) > 0.5
    assert 'np.load("attention.npz")["mask"]' in mask_table.dense(many) and len(mask_table.dense(many)) < 1000


def test_the_page_gives_the_code_of_a_files_own_mask():
    holding = example_uploads.holding("squared")
    app = example_uploads.open_page(ROOT / "pages/masks.py", holding, {"mask_detail": "code"})
    assert torch.equal(run(app.code[1].value)["mask"], holding.stack.square)
