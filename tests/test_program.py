"""The program beside a picture is run, and computes what the picture shows."""

from __future__ import annotations

import pytest
import torch

from attention import Config, head_maps, trace
from attention.inputs import INPUTS
from attention.sources.chunks import queries_and_keys
from attention.steps import program


def ran(text: str) -> dict:
    names: dict = {}
    exec(text, names)
    return names


@pytest.mark.parametrize("name", INPUTS)
def test_every_input_has_its_lines(name):
    config = Config(input=name, tokens=70, d_model=32, text="one two one")
    assert torch.allclose(ran(program.source(config))["x"], trace(config).x, atol=1e-5)


def test_the_call_of_a_long_picture_draws_it():
    options = {"positions": "alibi", "softcap": 9.0, "softmax": "plus one", "temperature": 0.5, "scale": "1/d_head"}
    config = Config(tokens=1100, heads=2, d_model=16, mask="window", span=300, combine="or", input="sink", **options)
    maps = ran(program.long_source(config, 64))["maps"]
    query, key = queries_and_keys(config)
    given = {"softcap": 9.0, "softmax": "plus one", "positions": "alibi", "side": 64, "pool": "max"}
    assert torch.equal(maps.pixels, head_maps(query, key, config.rule, 300, config.logit_scale, **given).pixels)
