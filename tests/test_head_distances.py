"""Distances of heads against loops in plain Python, and what they are for heads that one can draw."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from attention.analysis import head_distances as far
from tests.samples import examples
from tests.strategies import normal, seeds


def heads(seed: int, many: int, rows: int, keys: int, sharp: float = 2.0) -> Tensor:
    return torch.softmax(sharp * normal(seed, many, rows, keys, dtype=torch.float64), -1)


def bits(one: list[float], two: list[float]) -> float:
    """The Jensen-Shannon divergence as its definition has it: by Kullback and Leibler's, to the middle of both."""
    middle = [(p + q) / 2 for p, q in zip(one, two, strict=True)]
    to = [sum(p * math.log2(p / m) for p, m in zip(row, middle, strict=True) if p > 0) for row in (one, two)]
    return sum(to) / 2


@settings(deadline=None, max_examples=examples(60))
@given(
    seed=seeds,
    many=st.integers(1, 5),
    rows=st.integers(1, 4),
    keys=st.integers(1, 6),
    sharp=st.sampled_from([0.1, 5.0, 60.0]),
)
def test_a_divergence_is_its_loop(seed, many, rows, keys, sharp):
    given_rows = heads(seed, many, rows, keys, sharp)
    found = far.divergences(given_rows)
    for one in range(many):
        for two in range(many):
            pairs = zip(given_rows[one].tolist(), given_rows[two].tolist(), strict=True)
            assert found[one, two].item() == pytest.approx(sum(bits(*pair) for pair in pairs) / rows, abs=1e-9)


def test_the_same_is_at_nothing_and_what_never_meets_is_a_bit_apart():
    rows = torch.eye(4)[torch.tensor([[0, 1], [0, 1], [2, 3], [0, 3]])]
    torch.testing.assert_close(
        far.divergences(rows),
        torch.tensor([[0.0, 0, 1, 0.5], [0, 0, 1, 0.5], [1, 1, 0, 0.5], [0.5, 0.5, 0.5, 0]]),
    )


def average(apart: np.ndarray, one: list[int], two: list[int]) -> float:
    return float(np.mean([apart[a, b] for a in one for b in two]))


@settings(deadline=None, max_examples=examples(40))
@given(seed=seeds, many=st.integers(2, 9))
def test_the_tree_joins_what_is_nearest_in_the_mean(seed, many):
    """Against clusters whose mean distances are computed anew from all pairs at every step."""
    apart = far.divergences(heads(seed, many, 2, 5))
    exact, clusters = apart.numpy(), [[at] for at in range(many)]
    for merge in far.average_linkage(apart):
        pairs = [(a, b) for a in range(len(clusters)) for b in range(a)]
        nearest = min(pairs, key=lambda pair: average(exact, clusters[pair[0]], clusters[pair[1]]))
        one, two = (clusters.pop(at) for at in nearest)
        assert {frozenset(one), frozenset(two)} == {frozenset(merge.first), frozenset(merge.second)}
        assert merge.apart == pytest.approx(average(exact, one, two), abs=1e-9)
        clusters.append(one + two)
    assert sorted(far.distances(heads(seed, many, 2, 5)).order) == list(range(many))


@settings(deadline=None, max_examples=examples(40))
@given(seed=seeds, many=st.integers(3, 8))
def test_divergences_are_squares_of_distances_in_some_space(seed, many):
    """So classical scaling finds no negative direction, and its two axes keep the most that two can."""
    apart = far.divergences(heads(seed, many, 3, 6))
    centre = np.eye(many) - 1 / many
    values = np.linalg.eigvalsh(-centre @ apart.numpy() @ centre / 2)
    assert values.min() > -1e-9
    places, kept = far.classical_scaling(apart)
    assert kept == pytest.approx(np.sort(values)[-2:].sum() / values.sum(), abs=1e-6) and 0 < kept <= 1 + 1e-6
    shown = torch.cdist(places.double(), places.double()) ** 2
    assert (shown <= apart + 1e-5).all(), "a part of a space shows nothing farther than it is"


def test_points_of_a_plane_come_back():
    plane = torch.tensor([[0.0, 0], [0.4, 0.1], [0.2, 0.5], [-0.3, 0.2]])
    places, kept = far.classical_scaling(torch.cdist(plane, plane) ** 2)
    torch.testing.assert_close(torch.cdist(places, places), torch.cdist(plane, plane), atol=1e-5, rtol=1e-5)
    assert kept == pytest.approx(1)
    assert all(float(axis[axis.abs().argmax()]) > 0 for axis in places.T), (
        "a picture is not turned over by its rounding"
    )


def test_nearly_the_same_heads_are_found_in_groups():
    base = heads(0, 3, 4, 6, 5.0)
    near = torch.softmax(base.log() + 0.02 * normal(1, 3, 4, 6, dtype=torch.float64), -1)
    found = far.distances(torch.cat([base, near, near[:1]]))
    assert found.groups == [[0, 3, 6], [1, 4], [2, 5]]
    assert far.distances(base).groups == []
    for group in found.groups:
        at = sorted(found.order.index(head) for head in group)
        assert at == list(range(at[0], at[0] + len(group))), "alike heads stand together"


@pytest.mark.parametrize("many", [1, 2])
def test_of_one_head_and_of_two_there_is_a_picture(many):
    found = far.distances(heads(3, many, 2, 4))
    assert (
        found.places.shape == (many, 2) and sorted(found.order) == list(range(many)) and found.kept == pytest.approx(1)
    )


def test_where_no_query_has_a_choice_all_heads_are_the_same():
    rows = far.sample_rows(torch.eye(3).expand(2, 3, 3), torch.eye(3, dtype=torch.bool), of=2)
    found = far.distances(rows)
    assert rows.shape == (2, 0, 3) and found.apart.tolist() == [[0, 0], [0, 0]] and found.places.isfinite().all()


def test_so_many_rows_are_looked_at_as_the_work_allows():
    mask = torch.ones(300, 300, dtype=torch.bool).tril()
    weights = torch.arange(300.0)[None, :, None].expand(1, 300, 300)
    assert far.sample_rows(weights, mask, of=8)[0, :, 0].tolist() == [*range(1, 300)], "the first query has no choice"
    some = far.sample_rows(weights, mask, of=384)[0, :, 0].tolist()
    assert some[0] == 1 and some[-1] == 299 and 384**2 / 2 * len(some) * 300 <= far.WORK
    assert far.sample_rows(weights, mask, of=10**6).shape == (1, far.FEWEST, 300)
