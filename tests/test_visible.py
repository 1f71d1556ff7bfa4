"""Pairs of a query and a key that a timed case computes, counted one by one."""

from __future__ import annotations

import itertools

from attention.timing.visible import Visible


def test_counts_are_those_of_the_matrix():
    for keys, causal, window in itertools.product(range(1, 9), (False, True), range(11)):
        for queries in range(1, keys + 1):
            visible = Visible(queries, keys, causal, window)
            apart = [[i + keys - queries - j for j in range(keys)] for i in range(queries)]
            seen = [[not (causal and d < 0) and not (window and abs(d) >= window) for d in row] for row in apart]
            matrix = visible.matrix("cpu")
            assert (matrix.tolist() if matrix is not None else [[True] * keys] * queries) == seen, visible
            assert visible.pairs == sum(map(sum, seen)), visible
            assert visible.keys_read == sum(map(any, zip(*seen, strict=True))), visible
            assert visible.all_pairs is all(map(all, seen)), visible
            assert not visible.is_causal or (queries == keys and seen == [[d >= 0 for d in row] for row in apart])


def test_a_decoded_token_sees_every_key_under_a_causal_mask():
    assert Visible(1, 8, causal=True).all_pairs and not Visible(1, 8, causal=True).is_causal
