"""Queries and keys of some tokens at a time: the same as of all at once, in less memory."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from attention.config import Config
from attention.inputs import BEFORE, INPUTS
from attention.operations.positions import POSITIONS
from attention.sources.chunks import made_of, queries_and_keys, stretches, turn
from attention.sources.generated import embed, project

LONG = 2500  # tokens: three stretches, and many turns of a text


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("kind", ["constructed", "independent", "tied"])
def test_they_are_those_of_all_tokens_at_once(name, kind):
    config = Config(tokens=LONG, heads=4, kv_heads=2, d_model=48, input=name, projections=kind, text="a b c a d")
    want = project(config)
    with ThreadPoolExecutor(2) as threads:
        for executor in (None, threads):
            q, k = queries_and_keys(config, executor)
            torch.testing.assert_close(q, want.q, rtol=0, atol=1e-5)
            torch.testing.assert_close(k, want.k[::2], rtol=0, atol=1e-5)
            q, k = queries_and_keys(config, executor, range(2, 4))
            torch.testing.assert_close(q, want.q[2:], rtol=0, atol=1e-5)
            torch.testing.assert_close(k, want.k[2:3], rtol=0, atol=1e-5)


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("text", ["", "one", "to be or not to be"])
def test_tokens_from_any_to_any_are_those_of_the_whole(positions, text):
    config = Config(tokens=LONG, heads=4, d_model=32, input=BEFORE, positions=positions, text=text or "·")
    whole, some = embed(config), stretches(config)
    for first, last in ((0, 1), (0, 7), (5, 6), (1023, 1025), (LONG - 3, LONG), (0, LONG)):
        torch.testing.assert_close(some(first, last), whole[first:last], rtol=0, atol=0)


def test_of_a_text_one_turn_is_held_and_of_other_inputs_the_channels_that_are_drawn():
    text = Config(tokens=65_536, heads=32, d_model=512, text="to be or not to be")
    assert turn(text) == 7 and made_of(text) == 4 * 7 * 256
    assert made_of(Config(tokens=65_536, heads=8, d_model=512, input="noise")) == 4 * 65_536 * 256
    assert made_of(Config(tokens=65_536, d_model=512, input="noise", projections="tied")) == 4 * 65_536 * 512
