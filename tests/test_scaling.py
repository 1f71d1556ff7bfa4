"""Why scores are divided: the sweep against autograd, float64 loops and the theory within its error."""

from __future__ import annotations

import math
from statistics import stdev

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention.analysis.scaling import WIDTHS, dots, jacobian_norm, point, sweep
from tests.samples import examples
from tests.strategies import normal, seeds


@given(seeds, st.integers(1, 9), st.sampled_from([0.0, 0.3, 3.0, 30.0, 300.0]))
@settings(deadline=None, max_examples=examples(60))
def test_the_norm_is_that_of_autograds_jacobian(seed, keys, spread):
    logits = normal(seed, keys, dtype=torch.float64) * spread
    jacobian = torch.autograd.functional.jacobian(lambda x: torch.softmax(x, -1), logits)
    weights = torch.softmax(logits, -1)
    assert float(jacobian_norm(weights)) == pytest.approx(float(jacobian.norm()), rel=1e-6, abs=1e-14)
    assert float(jacobian_norm(weights)) <= 0.5 + 1e-12
    written = (weights**2).sum() - 2 * (weights**3).sum() + (weights**2).sum() ** 2
    assert float(jacobian_norm(weights)) ** 2 == pytest.approx(float(written), abs=1e-14)


@pytest.mark.parametrize("keys", [2, 18, 1024])
def test_an_even_row_has_a_small_jacobian(keys):
    even = torch.full((keys,), 1 / keys, dtype=torch.float64)
    assert float(jacobian_norm(even)) == pytest.approx(math.sqrt(keys - 1) / keys)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("keys", [2, 18, 64])
@pytest.mark.parametrize("width", WIDTHS)
def test_variance_is_d_head_within_its_error(keys, width):
    raw, divided = sweep(keys, width)
    assert abs(raw.variance - width) < 4 * raw.error
    assert abs(divided.variance - 1) < 4 * divided.error
    assert raw.error < 0.1 * width


def test_the_error_is_what_other_seeds_say():
    found = [point(dots(24, 16, seed), 16, 1.0) for seed in range(30)]
    assert stdev(each.variance for each in found) == pytest.approx(found[0].error, rel=0.5)


def test_a_point_is_what_its_rows_say():
    products = dots(5, 3)
    found = point(products, 3, 0.7)
    rows = [torch.softmax(row, -1) for row in products.flatten(0, 1) * 0.7]
    norms = sorted(float((torch.diag(p) - torch.outer(p, p)).norm()) for p in rows)
    entropies = [-sum(float(x) * math.log(float(x)) for x in p) for p in rows]
    assert found.entropy == pytest.approx(sum(entropies) / len(rows))
    assert found.greatest == pytest.approx(sum(float(p.max()) for p in rows) / len(rows))
    assert found.jacobian == pytest.approx(sum(norms) / len(norms))
    assert found.median == pytest.approx(norms[(len(norms) - 1) // 2])
    assert found.variance == pytest.approx(0.49 * float(products.square().mean()))


def test_the_mean_norm_rises_before_it_vanishes_and_the_median_falls_sooner():
    raw, divided = zip(*(sweep(64, width) for width in WIDTHS), strict=True)
    peak = max(raw, key=lambda each: each.jacobian)
    assert peak.d_head in (8, 16, 32)
    assert peak.jacobian == pytest.approx(0.29, abs=0.02)
    assert raw[0].jacobian == pytest.approx(0.173, abs=0.02)
    assert raw[-1].jacobian == pytest.approx(0.062, abs=0.02)
    assert raw[-1].median < 1e-3
    assert all(each.jacobian == pytest.approx(0.184, abs=0.015) for each in divided)
    assert [each.entropy for each in raw] == sorted((each.entropy for each in raw), reverse=True)


def test_a_temperature_is_another_scale():
    products = dots(18, 64)
    warm = point(products, 64, 1 / 8 / 4.0)
    assert warm.variance == pytest.approx(point(products, 64, 1 / 8).variance / 16)
    assert warm.entropy > point(products, 64, 1 / 8).entropy
