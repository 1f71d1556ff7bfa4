"""Every number of a head against loops in plain Python, and what it is for heads that were made to have it."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from attention import heads
from attention.analysis import head_numbers
from attention.analysis.head_numbers import EVERY, MARKS, MOST, numbers, separates
from tests.samples import examples
from tests.strategies import normal, seeds

WORDS = ("a", "A", "b", ".", "[SEP]", "\n", "c")
Rows = list[list[float]]
Sees = Callable[[int, int], bool]
Takes = Callable[[int, int], bool]


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def on(head: Rows, sees: Sees, takes: Takes) -> float:
    """Weight on the keys that a query takes and sees, over the queries that have such a key."""
    found = []
    for q, row in enumerate(head):
        keys = [k for k in range(len(row)) if sees(q, k) and takes(q, k)]
        found += [sum(row[k] for k in keys)] if keys else []
    return mean(found)


def keys_alike(head: Rows, sees: Sees) -> float:
    rows = [row for q, row in enumerate(head) if any(sees(q, k) for k in range(len(row)))]
    return mean([math.prod(p**-p for p in row if p > 0) for row in rows])


def even(head: Rows, sees: Sees) -> float:
    shares = []
    for q, row in enumerate(head):
        keys = [k for k in range(len(row)) if sees(q, k)]
        far = sum(abs(row[k] - 1 / len(keys)) for k in keys) / 2 if keys else 0
        shares += [sum(row) - far - (sum(row) - 1) / 2] if len(keys) > 1 else []
    return mean(shares)


def rank(head: Rows) -> float:
    values = np.linalg.svd(np.array(head), compute_uv=False)
    shares = [value / values.sum() for value in values if value > 1e-13]
    return math.exp(-sum(share * math.log(share) for share in shares)) if shares else 0.0


def loops(head: Rows, words: list[str], sees: Sees) -> dict[str, float]:
    """The further numbers, each by itself."""
    known = [word.lower() for word in words]
    marks = {at for at, word in enumerate(words) if at and word in (".", "[SEP]", "\n")}
    return {
        "effective_keys": keys_alike(head, sees),
        "even": even(head, sees),
        "effective_rank": rank(head),
        "next": on(head, sees, lambda q, k: k == q + 1),
        "duplicate": on(head, sees, lambda q, k: k < q and known[k] == known[q]),
        "preceding": on(head, sees, lambda q, k: 0 < k < q - 1 and known[k + 1] == known[q]),
        "separators": on(head, sees, lambda q, k: k in marks),
    }


@settings(deadline=None, max_examples=examples(120))
@given(
    seed=seeds,
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=9),
    causal=st.booleans(),
    sharp=st.sampled_from([0.1, 1.0, 9.0]),
)
def test_every_further_number_is_its_loop(seed, words, causal, sharp):
    n = len(words)
    mask = torch.ones(n, n, dtype=torch.bool).tril() if causal else torch.ones(n, n, dtype=torch.bool)
    weights = torch.softmax(sharp * normal(seed, 2, n, n, dtype=torch.float64).masked_fill(~mask, -math.inf), -1)
    found = numbers(weights, mask, words)
    assert tuple(found) == tuple(EVERY) and EVERY.keys() == heads.ALL_METRICS.keys() | loops(
        [[1.0]], ["a"], lambda q, k: True
    )
    for at, head in enumerate(weights.tolist()):
        for name, exact in loops(head, words, lambda q, k: bool(mask[q, k])).items():
            assert found[name][at].item() == pytest.approx(exact, rel=1e-4, abs=1e-5), name
    for name in heads.ALL_METRICS:
        torch.testing.assert_close(found[name], getattr(heads.profile(weights, mask, words), name))


def square(keys: list[int]) -> Tensor:
    """A head whose query q has all its weight on one key."""
    return torch.eye(len(keys))[keys]


TEXT = ["[CLS]", "the", "cat", ".", "The", "dog", "."]
FULL = torch.ones(7, 7, dtype=torch.bool)
CONSTRUCTED = {  # heads that do one thing, and some of the numbers that they must have
    "itself": (square([0, 1, 2, 3, 4, 5, 6]), {"effective_keys": 1, "effective_rank": 7, "even": 1 / 7, "next": 0, "same": 1}),
    "next": (square([1, 2, 3, 4, 5, 6, 0]), {"next": 1, "distance": 12 / 7, "effective_rank": 7}),
    "previous": (square([0, 0, 1, 2, 3, 4, 5]), {"previous": 1, "next": 0, "first": 2 / 7, "distance": 6 / 7}),
    "even": (torch.full((7, 7), 1 / 7), {"effective_keys": 7, "effective_rank": 1, "even": 1, "entropy_share": 1}),
    "rests": (square([0] * 7), {"first": 1, "effective_rank": 1, "separators": 0, "effective_keys": 1}),
    "stops": (square([3] * 7), {"separators": 1, "duplicate": 1 / 2, "first": 0}),
    "repeats": (square([0, 4, 2, 6, 1, 5, 3]), {"duplicate": 1, "same": 1, "induction": 0}),
    "continues": (square([0, 0, 0, 0, 2, 0, 4]), {"induction": 1, "duplicate": 0}),
    "two": ((square([0] * 7) + square([1] * 7)) / 2, {"effective_keys": 2, "greatest": 0.5, "even": 2 / 7, "effective_rank": 1}),
}  # fmt: skip


@pytest.mark.parametrize("name", CONSTRUCTED)
def test_a_head_that_does_one_thing_has_the_numbers_of_it(name):
    head, wanted = CONSTRUCTED[name]
    found = numbers(head[None], FULL, TEXT)
    for number, exact in wanted.items():
        assert found[number].item() == pytest.approx(exact, abs=1e-5), number


def test_a_causal_even_head_is_even_though_its_rows_differ():
    mask = FULL.tril()
    found = numbers((mask / mask.sum(-1, keepdim=True))[None], mask)
    assert found["even"].item() == pytest.approx(1) and found["effective_keys"].item() == pytest.approx(4)
    assert "duplicate" not in found and "same" not in found


def test_of_many_queries_the_rank_is_that_of_some():
    head = torch.eye(3 * MOST)
    found = numbers(head[None], torch.ones(head.shape, dtype=torch.bool))
    assert found["effective_rank"].item() == pytest.approx(MOST)


def test_heads_that_see_nothing_and_no_heads_have_numbers_that_are_nothing():
    nothing = numbers(torch.zeros(2, 3, 3), torch.zeros(3, 3, dtype=torch.bool), ["a", "b", "a"])
    assert all(number.tolist() == [0, 0] for number in nothing.values())
    none = numbers(torch.zeros(0, 3, 3), FULL[:3, :3], ["a", "b", "a"])
    assert all(number.shape == (0,) for number in none.values())


@pytest.mark.parametrize("text", ["[SEP]", "</s>", "<|im_end|>", ".", " ,", "\n", "…", "?!", "\n\n", "[end]"])
def test_what_separates(text):
    assert separates(text)


@pytest.mark.parametrize("text", ["", " ", "a", "a.", "[", "()", "<=", "[]", "<a b>", "=", "3.5", "'"])
def test_what_does_not_separate(text):
    assert not separates(text)


def test_the_formula_names_every_mark_that_separates():
    """Those of ASCII and the ellipsis one by one, their forms in Chinese and Japanese together."""
    said, foreign = EVERY["separators"].formula, {each for each in MARKS if not each.isascii() and each != "…"}
    assert set(said.partition("line ends, ")[2].partition(" and ")[0].split()) == MARKS - foreign
    assert "and CJK forms" in said and {unicodedata.name(each).split()[0] for each in foreign} == {
        "FULLWIDTH",
        "IDEOGRAPHIC",
    }


def test_a_number_without_a_place_in_the_order_is_refused():
    """It would be missing on every page."""
    with pytest.raises(KeyError, match=r"made_up: every head statistic needs exactly one place in head_numbers\.ORDER"):
        head_numbers.in_order(EVERY | {"made_up": EVERY["entropy"]})
    with pytest.raises(KeyError, match="induction: every head statistic needs"):
        head_numbers.in_order({name: number for name, number in EVERY.items() if name != "induction"})


def test_every_number_says_what_it_is_and_whose():
    assert len({number.label for number in EVERY.values()}) == len(EVERY)
    for name, number in EVERY.items():
        assert number.formula and number.source, name
        assert number.unit in ("", "nats", "tokens", "keys", "dimensions")
