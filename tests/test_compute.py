"""What is kept of a pass is shared between settings that have it in common, and comes out as if computed anew."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings

from attention import Config, trace
from attention.sources import generated
from attention.ui import results
from tests.samples import examples
from tests.strategies import configs


def same(config: Config) -> None:
    found, expected = results.heads.trace(config), trace(config)
    assert found.config == config and found.provenance == expected.provenance
    for name in ("x", "q", "k", "v", "mask", "weights", "context"):
        torch.testing.assert_close(getattr(found, name), getattr(expected, name), rtol=0, atol=0, equal_nan=True)


@settings(deadline=None, max_examples=examples(60))
@given(configs())
def test_a_trace_that_is_put_together_is_that_of_its_config(config):
    same(config.truncated)


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("more", [{}, {"temperature": 3.0}, {"mask": "full"}, {"scale": "none", "softmax": "plus one"}])
def test_the_same_of_a_recording(layer, more):
    config = Config.of("recorded:two-layers", layer=layer, **more)
    found, expected = results.heads.trace(config), trace(config)
    assert torch.equal(found.weights, expected.weights) and found.config == config


def test_queries_and_keys_are_made_once_for_all_that_follows_them(monkeypatch):
    made = []
    usual = generated._project_config
    monkeypatch.setattr(generated, "_last", lambda config: made.append(config) or usual(config))
    config = Config(tokens=21, heads=3, d_model=12, seed=4321)
    for more in ({}, {"temperature": 2.0}, {"mask": "window", "span": 3}, {"softcap": 4.0}, {"scale": "none"}):
        results.heads.trace(replace(config, **more))
    assert len(made) == 1


def test_more_than_a_trace_holds_is_refused_before_anything_is_made():
    with pytest.raises(ValueError, match="over the limit of 16,000,000 cells"):
        results.heads.trace(Config(tokens=40_000, heads=2, d_model=2))
