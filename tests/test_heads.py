"""The numbers of a head against loops in float64, and what they are for heads that one can draw."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import assume, given, settings
from torch import Tensor

from attention import Config, heads, trace
from attention.heads import ALL_METRICS, METRICS, Profile, profile, row_entropy
from attention.masks import MASKS
from attention.tables import rows as tables
from tests.samples import examples
from tests.strategies import configs, normal, seeds, sizes
from tests.unchecked import without_checks

Rows = list[list[float]]


@st.composite
def weights(draw: st.DrawFn) -> Tensor:
    """Rows that sum to one; some weights are zero, and in some rows all."""
    h, q, k = (draw(sizes) for _ in "hqk")
    seed = draw(seeds)
    logits = normal(seed, h, q, k, dtype=torch.float64) * draw(st.sampled_from([0.1, 1.0, 20.0]))
    seen = normal(seed + 1, h, q, k) < draw(st.sampled_from([-0.5, 1.0, 9.0]))
    return torch.softmax(logits.masked_fill(~seen, -math.inf), -1).nan_to_num(0)


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def nonzero_rows(rows: Rows) -> list[tuple[int, list[float]]]:
    return [(i, row) for i, row in enumerate(rows) if any(p > 0 for p in row)]


def nats(row: list[float]) -> float:
    return -sum(p * math.log(p) for p in row if p > 0)


def choices(row: list[float]) -> int:
    return sum(p > 0 for p in row)


LOOPS: dict[str, Callable[[Rows], float]] = {
    "entropy": lambda rows: mean([nats(row) for _, row in nonzero_rows(rows)]),
    "entropy_share": lambda rows: mean(
        [nats(row) / math.log(choices(row)) for _, row in nonzero_rows(rows) if choices(row) > 1]
    ),
    "greatest": lambda rows: mean([max(row) for _, row in nonzero_rows(rows)]),
    "distance": lambda rows: mean([sum(p * abs(q - k) for k, p in enumerate(row)) for q, row in nonzero_rows(rows)]),
    "first": lambda rows: mean([row[0] for _, row in nonzero_rows(rows)]),
    "previous": lambda rows: mean([row[q - 1] for q, row in nonzero_rows(rows) if 1 <= q <= len(row)]),
}


@settings(deadline=None, max_examples=examples(150))
@given(weights=weights())
def test_every_number_is_its_loop(weights):
    assert LOOPS.keys() == METRICS.keys(), "write each statistic of METRICS as a loop in plain Python, in LOOPS"
    found = profile(weights)
    for name, loop in LOOPS.items():
        exact = torch.tensor([loop(head) for head in weights.tolist()], dtype=torch.float64)
        torch.testing.assert_close(getattr(found, name), exact, rtol=1e-9, atol=1e-9, msg=name)
        torch.testing.assert_close(METRICS[name].of(heads.rows(weights)), exact, rtol=1e-9, atol=1e-9)


@settings(deadline=None, max_examples=examples(50))
@given(config=configs())
def test_numbers_of_any_config_are_within_their_bounds(config):
    assume(config.softmax != "differential")  # its weights may be negative
    found, n = profile(trace(config).weights), config.tokens
    tops = {"entropy": math.log(n), "entropy_share": 1, "greatest": 1, "distance": n - 1, "first": 1, "previous": 1}
    if config.softmax != "standard":  # what is left for the one adds to no entropy, so that its share has no such bound
        tops["entropy"], tops["entropy_share"] = math.inf, math.inf
        tops["distance"] = math.inf if config.softmax == "sigmoid" else n - 1
    for name, top in tops.items():
        number = getattr(found, name)
        assert number.shape == (config.heads,)
        assert (number >= 0).all(), name
        assert (number <= top + 1e-4).all(), name


@settings(deadline=None, max_examples=examples(50))
@given(weights=weights(), seed=seeds)
def test_heads_do_not_know_each_other(weights, seed):
    order = torch.randperm(len(weights), generator=torch.Generator().manual_seed(seed))
    found, shuffled = profile(weights), profile(weights[order])
    for name in METRICS:
        assert torch.equal(getattr(found, name)[order], getattr(shuffled, name))


DRAWN = {  # three queries and three keys
    "itself": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "the first": [[1, 0, 0], [1, 0, 0], [1, 0, 0]],
    "the previous": [[1, 0, 0], [1, 0, 0], [0, 1, 0]],
    "all alike": [[1 / 3] * 3] * 3,
    "two of three": [[0.5, 0.5, 0]] * 3,
    "nothing": [[0, 0, 0]] * 3,
    "nothing but in one row": [[0, 0, 0], [0, 0, 0], [0.5, 0.5, 0]],
}
BY_HAND = {  # a statistic of each head in DRAWN, computed by hand
    "entropy": (0, 0, 0, math.log(3), math.log(2), 0, math.log(2)),
    "entropy_share": (0, 0, 0, 1, 1, 0, 1),
    "greatest": (1, 1, 1, 1 / 3, 1 / 2, 0, 1 / 2),
    "distance": (0, 1, 2 / 3, 8 / 9, 5 / 6, 0, 3 / 2),
    "first": (1 / 3, 1, 2 / 3, 1 / 3, 1 / 2, 0, 1 / 2),
    "previous": (0, 1 / 2, 1, 1 / 3, 1 / 2, 0, 1 / 2),
}


@pytest.mark.parametrize("name", METRICS)
def test_a_statistic_of_heads_that_are_drawn_is_as_computed_by_hand(name):
    assert name in BY_HAND, f"compute {name!r} of each head in DRAWN by hand, and add it to BY_HAND"
    found = getattr(profile(torch.tensor([*DRAWN.values()], dtype=torch.float64)), name)
    assert dict(zip(DRAWN, found.tolist(), strict=True)) == pytest.approx(dict(zip(DRAWN, BY_HAND[name], strict=True)))


def test_first_and_previous_are_means_over_the_queries_that_see_these_keys():
    """Even rows under a window of 4, and two texts of 6 tokens: key 0 has the mean of 1, 1/2, 1/3, 1/4 where it is seen."""
    rule = MASKS["window"].square(12, 12, 4)
    even = rule / rule.sum(-1, keepdim=True)
    found = profile(even[None], rule)
    assert found.first.item() == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4)
    assert found.previous.item() == pytest.approx((1 / 2 + 1 / 3 + 9 / 4) / 11)
    apart = torch.block_diag(*[torch.ones(6, 6).tril()] * 2).bool()
    found = profile((apart / apart.sum(-1, keepdim=True))[None], apart)
    assert found.first.item() == pytest.approx(sum(1 / k for k in range(1, 7)) / 6)
    assert found.previous.item() == pytest.approx(sum(1 / k for k in range(2, 7)) / 5)


def test_a_single_token_has_no_previous_one():
    found = profile(torch.ones(2, 1, 1))
    assert found.previous.tolist() == [0, 0]
    assert found.first.tolist() == [1, 1]


def test_no_heads_have_no_numbers():
    found = profile(torch.ones(0, 3, 3), tokens=["a", "b", "a"])
    assert all(number.shape == (0,) for number in vars(found).values())


def test_rows_and_their_entropy():
    rows = torch.tensor([[[0.0, 0.0], [0.5, 0.5], [1.0, 0.0]]])
    assert heads.rows(rows).seeing.tolist() == [[False, True, True]]
    torch.testing.assert_close(row_entropy(rows), torch.tensor([[0.0, math.log(2), 0.0]]))
    rounded = torch.tensor([[0.0, 1.0], [0.0, 1.0 + 2**-23]])
    assert not row_entropy(rounded).signbit().any(), "a page would say -0.000 nats"


@pytest.mark.parametrize("shape", [(3, 3), (1, 2, 3, 3)])
def test_weights_without_an_axis_for_heads_are_refused(shape):
    with pytest.raises(ValueError, match=r"weights of shape .* are not \(heads, queries, keys\)"), without_checks():
        profile(torch.ones(shape))


def test_a_profile_has_a_field_a_number_and_each_says_what_it_is():
    numbers = ALL_METRICS
    assert [field.name for field in fields(Profile)] == list(numbers)
    assert len({number.label for number in numbers.values()}) == len(numbers)
    assert all(number.formula.startswith("mean ") for number in numbers.values())
    assert {number.unit for number in numbers.values()} <= {"", "nats", "tokens"}


def test_weights_are_left_as_they_were():
    weights = trace(Config()).weights
    before = weights.clone()
    profile(weights)
    assert torch.equal(weights, before)


def test_heads_whose_queries_see_nothing_have_no_number_in_the_table():
    found = tables.columns(profile(torch.zeros(2, 3, 3), torch.zeros(3, 3, dtype=torch.bool)), seeing=False)
    assert found == {"head": [0, 1]} | {name: [None, None] for name in METRICS}


def test_a_query_that_sees_keys_counts_also_where_it_has_no_weight():
    """As under the softmax that adds one, whose weights may all be too small for a float."""
    weights, mask = torch.tensor([[[0.0, 0.0], [0.4, 0.0]]]), torch.ones(2, 2, dtype=torch.bool)
    assert profile(weights, mask).greatest.tolist() == pytest.approx([0.2])
    assert profile(weights, mask & torch.tensor([[False], [True]])).greatest.tolist() == pytest.approx([0.4])
    assert tables.columns(profile(0 * weights, mask), seeing=True)["greatest"] == [0.0]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_weights_of_half_precision_are_counted_in_float32(dtype):
    """The sum of 512 distances is more than a float16 can be."""
    weights = torch.full((1, 512, 512), 1 / 512)
    for name in METRICS:
        assert torch.equal(getattr(profile(weights.to(dtype)), name), getattr(profile(weights), name)), name


def on_pairs(head: Rows, words: list[str], sees: Callable[[int, int], bool], after: int) -> float:
    """Weight on keys so many places after a copy of the query's word (0: on it), over the queries that see such a key."""
    shares = []
    for q, row in enumerate(head):
        copies = [k + after for k in range(len(words)) if words[k] == words[q] and (k < q or not after)]
        keys = [k for k in copies if sees(q, k)]
        shares += [sum(row[k] for k in keys)] if keys else []
    return mean(shares)


@settings(deadline=None, max_examples=examples(100))
@given(seed=seeds, words=st.lists(st.sampled_from("aAbcd"), min_size=1, max_size=9), hides=st.booleans())
def test_same_and_induction_are_their_loops(seed, words, hides):
    n = len(words)
    mask = torch.ones(n, n, dtype=torch.bool).tril() if hides else torch.ones(n, n, dtype=torch.bool)
    weights = torch.softmax(normal(seed, 2, n, n, dtype=torch.float64).masked_fill(~mask, -math.inf), -1)
    known = [word.casefold() for word in words]
    for given_mask in (mask, None):
        found = profile(weights, given_mask, words)
        for name, after in (("same", 0), ("induction", 1)):
            exact = [on_pairs(head, known, lambda q, k: bool(mask[q, k]), after) for head in weights.tolist()]
            torch.testing.assert_close(getattr(found, name), torch.tensor(exact, dtype=torch.float64), msg=name)


def test_without_tokens_there_are_no_numbers_of_them():
    found = profile(torch.ones(2, 1, 1))
    assert found.same is None and found.induction is None
    with pytest.raises(ValueError, match="3 tokens don't fit"):
        profile(torch.ones(2, 1, 1), tokens=["a", "b", "c"])
