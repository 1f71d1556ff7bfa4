"""What a token is called on the screen: something can be seen of it, whatever it is made of."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from attention import Config
from attention.codec import from_query, to_query
from attention.inputs import CLUSTER
from attention.sources.layer_inputs import LONGEST, VISIBLE, display_token
from attention.tables.rows import labels, row
from attention.trace import trace

FAMILY = "👩‍👩‍👧"


@pytest.mark.parametrize(
    ("token", "name"),
    [
        ("bank", "bank"),
        (" ", "␣"),
        ("\n", "↵"),
        ("\r\n", "↵"),
        (FAMILY, FAMILY),
        ("\u200d", "U+200D"),
        ("\u200b", "U+200B"),
        ("\u00ad", "U+00AD"),
        ("\ufe0f", "U+FE0F"),
        ("\u2800", "U+2800"),
        ("\u3164", "U+3164"),
        ("\u200d\ufe0f", "U+200D U+FE0F"),
        (" \u200d", "␣ U+200D"),
        ("\u0301", "◌\u0301"),
        ("x" * LONGEST, "x" * LONGEST),
        ("x" * (LONGEST + 1), "x" * (LONGEST - 1) + "…"),
        ("x" * (LONGEST - 2) + FAMILY, "x" * (LONGEST - 2) + "…"),
        ("e" + "\u0301" * LONGEST, "e" + "\u0301" * (LONGEST - 2) + "…"),
    ],
)
def test_a_token_is_shown(token, name):
    assert display_token(token) == name


@settings(deadline=None)
@given(st.text(min_size=1).map(CLUSTER.findall).map(lambda found: found[0]))
def test_no_label_is_blank_or_too_long(token):
    label = display_token(token)
    assert VISIBLE.search(label) and len(label) <= LONGEST


@pytest.mark.parametrize("name", ["words", "characters"])
def test_a_link_carries_joined_characters(name):
    config = Config(tokens=4, d_model=8, heads=2, input=name, text=f"{FAMILY}\u200b🇩🇪é")
    assert from_query(to_query(config)) == (config, [])
    assert labels(config) == [FAMILY, "U+200B", "🇩🇪", "é"]


def test_the_row_in_focus_counts_the_keys_that_its_query_sees():
    assert row(trace(Config(tokens=6, query=2))).seeing == 3
    assert row(trace(Config(tokens=6, query=2, mask="full"))).seeing == 6
