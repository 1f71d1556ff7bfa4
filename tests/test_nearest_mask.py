"""A mask is recognised as the rule that it is, and otherwise named by the nearest one and the pairs that differ."""

from itertools import product

import pytest
import torch

from attention.imported.nearest_mask import nearest, with_span
from attention.masks import MASKS
from tests.samples import sample

SIZES = [(24, 24), (150, 150), (9, 14)]


@pytest.mark.sampled(10)
@pytest.mark.parametrize(
    ("size", "name"),
    sample(product(SIZES, MASKS), lambda size, name: max(size) < 100 or name in ("window", "documents")),
)
def test_every_rule_is_recognised_at_any_span(name, size):
    for span in (1, 2, 5, 8, size[0] - 2, 200):
        square = MASKS[name].square(size[0], size[1], span)
        found = nearest(square)
        assert found.differing == 0 and found.rule in MASKS, span
        assert torch.equal(MASKS[found.rule].square(size[0], size[1], found.found.span), square)
        if not MASKS[name].span:
            assert found.rule == name and found.name == name
        elif 3 < span < min(size) // 3:
            assert (found.rule, found.found.span) == (name, span), "no other rule is this mask"


@pytest.mark.parametrize("left", [1, 3, 7])
@pytest.mark.parametrize(("name", "span"), [("causal", 1), ("window", 5), ("full", 1)])
def test_padding_at_the_start_is_recognised(name, span, left):
    square = MASKS[name].square(24, 24, span)
    square[:, :left] = False
    found = nearest(square)
    assert (found.differing, found.found.name, found.found.left, found.found.right) == (0, name, left, 0)
    assert found.rule == "", "no rule of the sidebar is this"
    assert f"with {left} masked key{'s' * (left > 1)} at the start (padding)" in found.sentence


def test_padding_at_the_end_of_a_causal_mask_and_packed_documents_are_recognised():
    square = MASKS["causal"].square(20, 20, 1)
    square[:, 17:] = False
    assert nearest(square).sentence == "This is causal, with 3 masked keys at the end (padding)."
    packed = MASKS["causal"].square(20, 20, 1) & MASKS["documents"].square(20, 20, 6)
    assert nearest(packed).sentence.startswith("This is causal and documents, span 6")


def test_what_the_padding_rows_see_instead_is_named():
    """A library lets queries that would see nothing see every key."""
    square = MASKS["causal"].square(24, 24, 1)
    square[:, :2] = False
    square[:2] = True
    found = nearest(square)
    assert found.found[:1] + found.found[2:] == ("causal", 2, 0) and found.differing == 48
    assert found.sentence.endswith(
        "it differs in query 0, which also attends to keys 0 to 23 and in query 1, which also attends to keys 0 to 23."
    )


def test_one_query_that_differs_is_named_with_its_keys():
    square = MASKS["window"].square(64, 64, 8)
    square[11, 2], square[11, 9:11] = True, False
    found = nearest(square)
    assert (found.found.name, found.found.span, found.rule, found.differing) == ("window", 8, "", 3)
    assert found.sentence.endswith(
        "it differs in query 11, which also attends to key 2 and does not attend to keys 9 to 10."
    )


def test_a_span_says_whether_it_counts_the_query_itself():
    """The same mask is sliding_window=4 in transformers and window_size=(3, 0) in flash-attn."""
    assert "each query attends to itself and 3 keys before it" in with_span("window", 4)
    assert "sliding_window=4 in transformers, window_size=(3, 0) in flash-attn" in with_span("window", 4)
    assert with_span("causal", 4) == "causal"
    off = nearest(MASKS["window"].square(32, 32, 9))
    assert off.sentence.startswith("This is window, span 9 (each query attends to itself and 8 keys before it")


def test_many_differences_are_counted():
    square = torch.rand(40, 40, generator=torch.Generator().manual_seed(0)) > 0.5
    found = nearest(square)
    shown, hidden = int(found.extra.sum()), int(found.missing.sum())
    assert found.differing == shown + hidden > 300
    assert f"in {found.differing:,} pairs of 40 queries (0 to 39): {shown:,} that this mask shows" in found.sentence


def test_a_mask_that_hides_everything_and_the_longest_are_named():
    assert nearest(torch.zeros(5, 5, dtype=torch.bool)).differing == 0
    square = MASKS["window"].square(1024, 1024, 300)
    square[500, 0] = True
    found = nearest(square)
    assert (found.found.span, found.differing) == (300, 1)
