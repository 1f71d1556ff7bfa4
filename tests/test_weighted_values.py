"""What a head makes of its weights: the lines are those of the row, and come to the output of the trace."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention import Config, trace
from attention.analysis.weighted_values import weighted_values
from tests.samples import examples
from tests.strategies import configs


@given(configs(), st.integers(1, 9))
@settings(deadline=None, max_examples=examples(60))
def test_the_lines_come_to_the_output_and_to_the_whole_weight(config, most):
    found = trace(config)
    row = weighted_values(found, config.head, config.query_index, most)
    scale = found.v.abs().max()
    torch.testing.assert_close(row.weights @ row.values, row.output, atol=1e-5 * float(scale) + 1e-7, rtol=1e-4)
    torch.testing.assert_close(row.output, found.context[config.head, config.query_index])
    output, gate = found.output[config.query_index], row.gate
    assert (gate is None) == (config.gate == "off")
    handed_on = found.context[:, config.query_index].clone()
    for head in range(config.heads):
        own = weighted_values(found, head, config.query_index, most)
        handed_on[head] = own.output
        if config.softmax == "differential":  # before it is gated, as a caption of the page says
            size = (own.output.double().square().mean() + 1e-5).sqrt()
            handed_on[head] = own.output / size * (1 - config.diff_lambda)
        handed_on[head] *= 1 if own.gate is None else own.gate
    torch.testing.assert_close(handed_on.flatten() @ found.projections.output, output, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(row.weights.sum(), found.weights[config.head, config.query_index].sum())
    assert len(row.keys) + row.rest == int(found.mask[config.query_index].sum())
    assert len(row.weights) == len(row.keys) + (row.rest > 0) and row.rest != 1


@given(configs())
@settings(deadline=None, max_examples=examples(30))
def test_the_heaviest_keys_stand_alone_and_first(config):
    found = trace(config)
    row = weighted_values(found, config.head, config.query_index, 3)
    weights = found.weights[config.head, config.query_index]
    assert torch.equal(row.weights[: len(row.keys)], weights[list(row.keys)])
    assert torch.equal(row.values[: len(row.keys)], found.v[config.head, list(row.keys)])
    assert (
        row.weights[: len(row.keys)].tolist()
        == weights[found.mask[config.query_index]].sort(descending=True).values.tolist()[: len(row.keys)]
    )


def test_one_more_has_its_own_line_rather_than_one_for_the_others():
    found = trace(Config(tokens=10, heads=2, d_model=8, mask="full"))
    assert [(len(row.keys), row.rest) for row in (weighted_values(found, 0, 4, most) for most in (8, 9, 10))] == [
        (8, 2),
        (10, 0),
        (10, 0),
    ]


def test_a_row_that_sees_nothing_comes_to_zero():
    found = trace(Config(tokens=6, heads=2, d_model=8, mask="padding", span=6))
    row = weighted_values(found, 1, 3)
    assert (row.keys, row.rest, row.weights.shape, row.values.shape) == ((), 0, (0,), (0, 4))
    assert row.output.tolist() == [0] * 4


def test_keys_of_no_weight_together_have_the_plain_mean():
    found = trace(Config(tokens=12, heads=1, d_model=4, temperature=0.05, scale="none", mask="full", input="noise"))
    row = weighted_values(found, 0, 5, 1)
    assert row.rest == 11 and torch.isfinite(row.values).all()
