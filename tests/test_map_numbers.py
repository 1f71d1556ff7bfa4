"""The numbers of a map against those of all its weights."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from attention import head_maps
from attention.analysis.head_numbers import OF_DISTRIBUTIONS
from attention.analysis.map_numbers import numbers
from attention.heads import METRICS, profile
from attention.maps import zoom
from attention.maps.exact import each_head
from attention.masks import MASKS, Rule
from tests.samples import examples
from tests.softmax_oracle import NO_DISTRIBUTIONS
from tests.strategies import normal
from tests.test_maps import cases, full, near


@settings(deadline=None, max_examples=examples(50))
@given(cases(whole=True))
def test_the_numbers_of_a_map_are_those_of_its_weights(case):
    n, rule = case.query.shape[1], case.mask if isinstance(case.mask, Rule) else MASKS[case.mask]
    want = profile(full(case)[0], rule.square(n, n, case.options["span"]))
    maps = head_maps(case.query, case.key, case.mask, **case.options)
    found = numbers(maps, case.query, case.key)
    distributions = case.options["softmax"] not in NO_DISTRIBUTIONS  # without them there is no entropy
    for name in METRICS:
        if distributions or name not in OF_DISTRIBUTIONS:
            assert near(getattr(found, name), getattr(want, name), 1e-6), name
    assert distributions or found.entropy.isnan().all()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("mask", ["causal", "global", "padding"])
def test_long_heads_one_by_one_agree_with_float64(mask):
    """In float32: to one millionth of what each number can be."""
    query, key = normal(0, 2, 4200, 8), normal(1, 1, 4200, 8)
    exact = numbers(head_maps(query.double(), key.double(), mask, 300), query.double(), key.double())
    for at, maps in enumerate(each_head(query, key, mask, 300)):
        found = numbers(maps, query, key)
        for name in METRICS:
            unit = {"distance": 4200, "entropy": 9}.get(name, 1)
            assert near(getattr(found, name), getattr(exact, name)[at : at + 1], 1e-6 * unit), name


def test_maps_that_lack_something_are_refused():
    q = normal(2, 1, 20, 4)
    for maps, message in [
        (head_maps(q, q, stats=False), "have no statistics: ask head_maps for stats=True"),
        (head_maps(q, q, rows=(2, 9)), "are a window"),
        (zoom.preview(q, q), "have no statistics"),
    ]:
        with pytest.raises(ValueError, match=message):
            numbers(maps, q, q)
