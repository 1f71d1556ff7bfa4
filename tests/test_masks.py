"""Every mask, drawn: a query a row, a key a column, x where it looks."""

from __future__ import annotations

import re

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings

from attention.masks import MASKS, Rule, causal, documents, full, local, padding, window
from tests.samples import examples

DRAWN = {
    "full": (3, "xxxxxxxx xxxxxxxx xxxxxxxx xxxxxxxx xxxxxxxx xxxxxxxx xxxxxxxx xxxxxxxx"),
    "causal": (3, "x....... xx...... xxx..... xxxx.... xxxxx... xxxxxx.. xxxxxxx. xxxxxxxx"),
    "window": (3, "x....... xx...... xxx..... .xxx.... ..xxx... ...xxx.. ....xxx. .....xxx"),
    "local": (3, "xxx..... xxxx.... xxxxx... .xxxxx.. ..xxxxx. ...xxxxx ....xxxx .....xxx"),
    "prefix": (3, "xxx..... xxx..... xxx..... xxxx.... xxxxx... xxxxxx.. xxxxxxx. xxxxxxxx"),
    "documents": (3, "xxx..... xxx..... xxx..... ...xxx.. ...xxx.. ...xxx.. ......xx ......xx"),
    "dilated": (3, "x....... .x...... x.x..... .x.x.... x.x.x... .x.x.x.. ..x.x.x. ...x.x.x"),
    "strided": (3, "x....... xx...... xxx..... xxxx.... .xxxx... ..xxxx.. x..xxxx. .x..xxxx"),
    "global": (2, "xxxxxxxx xxx..... xxxx.... x.xxx... x..xxx.. x...xxx. x....xxx x.....xx"),
    "sinks": (2, "x....... xx...... xxx..... xxxx.... xxxxx... xxxxxx.. xxxx.xx. xxxx..xx"),
    "padding": (3, "xxxxx... xxxxx... xxxxx... xxxxx... xxxxx... xxxxx... xxxxx... xxxxx..."),
}


def drawing(rule: Rule, queries: int, keys: int, span: int) -> list[str]:
    return ["".join(".x"[seen] for seen in row) for row in rule.square(queries, keys, span).tolist()]


@pytest.mark.parametrize("name", MASKS)
def test_a_mask_is_its_drawing(name):
    assert name in DRAWN, f"draw {name!r} in DRAWN: eight tokens, a query a row, x where it looks"
    span, rows = DRAWN[name]
    assert drawing(MASKS[name], 8, 8, span) == rows.split()


def test_rules_combine():
    span = 3
    assert drawing(causal & documents, 6, 6, span) == ["x.....", "xx....", "xxx...", "...x..", "...xx.", "...xxx"]
    assert drawing(window | documents, 6, 6, span) == ["xxx...", "xxx...", "xxx...", ".xxxxx", "..xxxx", "...xxx"]
    assert drawing(full - causal, 4, 4, span) == [".xxx", "..xx", "...x", "...."]
    assert drawing(full - (causal | padding), 5, 5, span) == ["..xxx", "..xxx", "...xx", "....x", "....."]


def test_a_combination_says_what_it_is():
    both = causal & documents
    assert both.help == (
        "A pair is kept if both masks keep it: a query attends to itself and all earlier tokens, and a query attends to the "
        "tokens of its own document only."
    )
    assert both.source == f"{causal.source}; {documents.source}"
    assert both.span == documents.span == "length of a document"
    assert (full | causal).span == ""
    assert "keeps it: a query attends to every key, or a query attends to itself" in (full | causal).help
    assert ", except where a query attends to itself" in (full - causal).help


@pytest.mark.parametrize("name", MASKS)
def test_a_mask_names_its_source_and_what_it_does(name):
    rule = MASKS[name]
    assert rule.help.endswith(".")
    assert len(rule.help.split()) > 3
    dated = re.search(r"\b(19|20)\d\d\b|\b\d+\.\d+ documentation\b", rule.source)
    assert dated, "a paper with its year, or documentation with its version"
    moves = not torch.equal(rule.square(12, 12, 2), rule.square(12, 12, 5))
    assert moves == bool(rule.span), "a span that changes the mask is explained, and only such a one"


@settings(deadline=None, max_examples=examples(100))
@given(name=st.sampled_from(list(MASKS)), queries=st.integers(1, 9), keys=st.integers(1, 9), span=st.integers(1, 12))
def test_the_square_is_the_rule_for_every_pair(name, queries, keys, span):
    rule = MASKS[name]
    square = rule.square(queries, keys, span)
    assert square.dtype == torch.bool
    assert square.shape == (queries, keys)
    pairs = [[bool(rule(torch.tensor(q), torch.tensor(k), keys, span)) for k in range(keys)] for q in range(queries)]
    assert square.tolist() == pairs


@settings(deadline=None, max_examples=examples(60))
@given(
    one=st.sampled_from(list(MASKS)),
    other=st.sampled_from(list(MASKS)),
    n=st.integers(1, 9),
    span=st.integers(1, 9),
)
def test_combinations_are_those_of_sets(one, other, n, span):
    a, b = MASKS[one], MASKS[other]
    mine, theirs = a.square(n, n, span), b.square(n, n, span)
    assert torch.equal((a & b).square(n, n, span), mine & theirs)
    assert torch.equal((a | b).square(n, n, span), mine | theirs)
    assert torch.equal((a - b).square(n, n, span), mine & ~theirs)


@settings(deadline=None, max_examples=examples(40))
@given(n=st.integers(1, 9), span=st.integers(1, 12))
def test_masks_are_related_as_their_names_say(n, span):
    def square(rule: Rule) -> torch.Tensor:
        return rule.square(n, n, span)

    assert torch.equal(square(window), square(local & causal))
    assert torch.equal(square(MASKS["window"] | MASKS["global"]), square(MASKS["global"]))
    assert (square(MASKS["strided"]) | ~square(window)).all()
    assert (square(MASKS["sinks"]) | ~square(window)).all()
    assert torch.equal(window.square(n, n, n), causal.square(n, n, span))
    assert not padding.square(n, n, n).any()


@pytest.mark.parametrize("name", MASKS)
def test_a_span_beyond_the_sequence_acts_as_its_length(name):
    """What the sidebar says of such a span."""
    for tokens in (2, 5, 13):
        for more in (1, 2, 40):
            longer = MASKS[name].square(tokens, tokens, tokens + more)
            assert torch.equal(longer, MASKS[name].square(tokens, tokens, tokens)), (tokens, more)
