"""Blocks are classed as the rule itself has it, whatever the rule."""

from __future__ import annotations

from itertools import pairwise, product
from unittest.mock import patch

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings

from attention.maps import quadtree
from attention.maps.blocks import Blocks, along, choices, classify_blocks, count_pairs, differences, visible
from attention.maps.bounds import Interval
from attention.masks import MASKS, Rule, rule
from tests.fresh import ran
from tests.samples import examples

laws = settings(deadline=None, max_examples=examples(150))
named = st.sampled_from(list(MASKS.values()))
combined = st.builds(
    lambda a, b, how: {"and": a & b, "or": a | b, "without": a - b}[how],
    named,
    named,
    st.sampled_from(["and", "or", "without"]),
)


@rule("", users="")
def mirrored_rule(q, k, n, span):
    """Operators that no built-in rule uses, the number on the left, and torch's functions."""
    far = torch.abs(-(2 * q) + 2 * k + 1) // 3 > span
    return torch.logical_xor(far | (n - 1 - q == k), torch.logical_not(1 + k != q % 5)) & (
        span >= torch.remainder(k, 7)
    )


@rule("", users="")
def looked_up(q, k, n, span):
    """A table, which bounds can't follow."""
    kinds = torch.arange(n) % 3
    return kinds[q] == kinds[k]


@rule("", users="")
def branching(q, k, n, span):
    """A branch on the values, which bounds can't follow."""
    return k <= q if bool((q >= 0).all()) else k > q


rules = named | combined | st.sampled_from([mirrored_rule, looked_up, branching])
edges = st.lists(st.integers(1, 39), max_size=6, unique=True).map(sorted)


def blocks(found: Rule, n: int, span: int, rows: list[int], cols: list[int]) -> Blocks:
    rows, cols = ([0, *(at for at in inner if at < n), n] for inner in (rows, cols))
    return classify_blocks(found, n, span, torch.tensor(rows), torch.tensor(cols))


@laws
@given(rules, st.integers(1, 40), st.integers(1, 45), edges, edges)
def test_what_is_called_hidden_or_shown_is_so_for_every_pair(found, n, span, rows, cols):
    square, got = found.square(n, n, span), blocks(found, n, span, rows, cols)
    for r in range(len(got.seen)):
        for c in range(len(got.seen[0])):
            block = square[got.rows[r] : got.rows[r + 1], got.cols[c] : got.cols[c + 1]]
            if not got.seen[r, c]:
                assert not block.any()
            elif not got.cut[r, c]:
                assert block.all()


@laws
@given(rules, st.integers(1, 40), st.integers(1, 45), edges, edges)
def test_a_block_of_a_steady_rule_is_told_by_a_slice_of_its_differences(found, n, span, rows, cols):
    got, square = blocks(found, n, span, rows, cols), found.square(n, n, span)
    if not got.steady:
        return
    for (top, bottom), (left, right) in product(pairwise(got.rows), pairwise(got.cols)):
        line = differences(found, n, span)[left - bottom + n : right - top + n - 1]
        assert torch.equal(along(line, bottom - top), square[top:bottom, left:right])


@laws
@given(rules, st.integers(1, 40), st.integers(1, 45), st.integers(1, 12), st.data())
def test_spans_cover_what_is_seen_once_and_stop_where_they_must(found, n, span, widest, data):
    got = blocks(found, n, span, [n // 2], list(range(1, n)))
    stops = (data.draw(st.integers(0, n)), n)
    for row in range(len(got.seen)):
        spans = list(got.spans(row, widest, stops))
        covered = [at for part in spans for at in range(part.start, part.stop)]
        assert covered == got.seen[row].nonzero()[:, 0].tolist()
        assert all(part.stop - part.start <= widest for part in spans)
        assert not any(part.start < stop < part.stop for part in spans for stop in stops)
        cut = [at for part in spans for left, right in part.cuts for at in range(left, right)]
        assert cut == got.cut[row].nonzero()[:, 0].tolist()


smalls = st.sampled_from([0, quadtree.SMALL])  # up to which size a window is asked at once
windows = st.none() | st.lists(st.integers(0, 70), min_size=2, max_size=2, unique=True).map(sorted).map(tuple)


@laws
@given(rules, st.integers(1, 70), st.integers(1, 75), st.integers(1, 80), windows, windows, smalls)
def test_tiles_are_visible_where_any_pair_is(found, n, span, tile, rows, cols, small):
    n = max([n, *(ends[1] for ends in (rows, cols) if ends)])
    window = found.square(n, n, span)[slice(*(rows or (0, n))), slice(*(cols or (0, n)))]
    want = [[bool(part.any()) for part in strip.split(tile, 1)] for strip in window.split(tile)]
    with patch.object(quadtree, "SMALL", small):
        assert visible(found, n, span, tile, rows, cols).tolist() == want


@laws
@given(rules, st.integers(1, 150), st.integers(1, 160), smalls)
def test_keys_that_a_query_sees_are_counted(found, n, span, small):
    with patch.object(quadtree, "SMALL", small):
        assert torch.equal(choices(found, n, span), found.square(n, n, span).sum(-1))


@laws
@given(rules, st.integers(1, 150), st.integers(1, 160), st.integers(1, 160), smalls)
def test_pairs_that_a_tile_keeps_are_counted(found, n, span, tile, small):
    square = found.square(n, n, span)
    want = [[int(part.sum()) for part in strip.split(tile, 1)] for strip in square.split(tile)]
    with patch.object(quadtree, "SMALL", small):
        tiles, seen = count_pairs(found, n, span, tile)
    assert tiles.tolist() == want
    assert torch.equal(seen, square.sum(-1))


@laws
@given(named | combined, st.integers(1, 150), st.integers(1, 150), st.integers(1, 160), st.integers(1, 160), smalls)
def test_pairs_with_another_sequence_are_counted(found, queries, n, span, tile, small):
    square = found.square(queries, n, span)
    want = [[int(part.sum()) for part in strip.split(tile, 1)] for strip in square.split(tile)]
    with patch.object(quadtree, "SMALL", small):
        tiles, seen = count_pairs(found, n, span, tile, queries)
    assert tiles.tolist() == want
    assert torch.equal(seen, square.sum(-1))


@settings(laws, max_examples=examples(25))
@given(named | combined, st.sampled_from([4, 255, 3000]))
def test_rules_are_asked_about_a_small_part_of_their_pairs(found, span):
    """Of 2 ** 26 pairs at 8,192 tokens, of fewer than 2 ** 22; and whole rows agree."""
    asked, n = 0, 8192

    @rule("", users="")
    def counted(q, k, n, span):
        """The same rule, which counts the pairs that it is asked about."""
        nonlocal asked
        answer = found.allows(q, k, n, span)
        asked += answer.numel() if isinstance(answer, torch.Tensor) else 0
        return answer

    got, some = visible(counted, n, span, 100), torch.tensor([0, 255, 4000, 8191])
    seen = counted(some[:, None], torch.arange(n)[None], n, span).expand(4, n)
    assert not (torch.stack([part.any(-1) for part in seen.split(100, 1)], -1) & ~got[some // 100]).any()
    assert torch.equal(choices(counted, n, span)[some], seen.sum(-1))
    assert asked < 2**22


@pytest.mark.parametrize(
    ("name", "span", "least"),
    [("causal", 4, 0.45), ("window", 8, 0.9), ("local", 8, 0.8), ("documents", 16, 0.85), ("prefix", 8, 0.4),
     ("dilated", 8, 0.85), ("global", 8, 0.75), ("sinks", 8, 0.85), ("padding", 96, 0.7)],
)  # fmt: skip
def test_most_of_what_a_rule_hides_is_hidden_in_whole_blocks(name, span, least):
    at = torch.arange(0, 129, 4)
    assert (~classify_blocks(MASKS[name], 128, span, at, at).seen).float().mean().item() > least


def test_rules_that_bounds_cannot_follow_are_cut_everywhere():
    for found in (looked_up, branching):
        got = blocks(found, 20, 3, [10], [10])
        assert got.cut.all() and not got.steady


def test_causal_in_quarters():
    """Of four blocks of a causal square two are cut by the diagonal, one is shown and one hidden."""
    got = blocks(MASKS["causal"], 8, 1, [4], [4])
    assert got.seen.tolist() == [[True, False], [True, True]]
    assert got.cut.tolist() == [[True, False], [False, True]]
    assert got.steady


@pytest.mark.parametrize(
    "wrong", [lambda q: bool(q), lambda q: q / 2, lambda q: q % 0, lambda q: q < 1.5, lambda q: q == "a"]
)
def test_what_bounds_cannot_answer_raises(wrong):
    with pytest.raises(TypeError):
        wrong(Interval(torch.tensor(0), torch.tensor(3), 1))


@pytest.mark.extended
def test_a_map_imports_no_compiler():
    """Two seconds of a first visitor of a long sequence, in a thread of its own beside others."""
    ran(
        "import sys, torch\n"
        "from attention import head_maps\n"
        "head_maps(torch.randn(1, 300, 4), torch.randn(1, 300, 4), 'window', 7, side=32)\n"
        "assert 'sympy' not in sys.modules\n"
    )
