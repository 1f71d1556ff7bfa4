"""Rotary positions and their scalings, ALiBi and T5's buckets: against formulas in float64 and the code of transformers."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings

from attention import Config, trace
from attention.analysis.position_curves import constant_score, untrained_pairs, wavelengths
from attention.codec import from_query, to_query
from attention.operations.distance_bias import t5_bucket
from attention.operations.positions import POSITIONS, turn
from attention.operations.rotary import SCALINGS, Rotation, rotary, rotation_of
from attention.steps.plan import by_name
from attention.steps.program import source
from attention.steps.values import values
from attention.ui.controls.picture import shows
from tests import position_oracle
from tests.position_references import FILE
from tests.strategies import normal, seeds, sizes

REFERENCES = json.loads(FILE.read_text())
BIASES = {name: rule.to_scores for name, rule in POSITIONS.items() if rule.to_scores}
NEAR = {"rtol": 0, "atol": 1e-9}


@st.composite
def rotary_configs(draw: st.DrawFn) -> Config:
    return Config(
        positions="rotary",
        rotary_base=draw(st.floats(100, 1e7)),
        rotary_fraction=draw(st.floats(0.05, 1)),
        rotary_scaling=draw(st.sampled_from(list(SCALINGS))),
        rotary_factor=draw(st.floats(1, 64)),
        rotary_length=draw(st.integers(8, 2**17)),
    )


@settings(deadline=None, max_examples=50)
@given(config=rotary_configs(), seed=seeds, heads=sizes, n=st.integers(1, 60), d=st.integers(1, 130))
def test_a_turn_is_the_formula_in_float64(config, seed, heads, n, d):
    x = normal(seed, heads, n, d, dtype=torch.float64)
    torch.testing.assert_close(turn(x, config), position_oracle.turn(x, config), **NEAR)


@settings(deadline=None, max_examples=50)
@given(
    name=st.sampled_from(list(BIASES)),
    heads=st.integers(1, 32),
    queries=st.integers(1, 40),
    keys=st.integers(1, 40),
)
def test_what_distances_add_is_the_formula(name, heads, queries, keys):
    at = torch.arange(queries)[:, None], torch.arange(keys)[None], torch.arange(heads)[:, None, None]
    exact, found = position_oracle.bias(name, heads, queries, keys), BIASES[name]
    torch.testing.assert_close(found(*at[:2], at[2].double(), heads), exact, **NEAR)
    torch.testing.assert_close(found(*at, heads), exact.float())


@pytest.mark.parametrize("given", REFERENCES["rotary"], ids=lambda each: f"{each['scaling']} {each['d']}")
def test_frequencies_are_those_of_transformers(given):
    names = ("base", "scaling", "factor", "length")
    found = rotation_of(
        Config(
            positions="rotary", rotary_fraction=given["fraction"], **{f"rotary_{name}": given[name] for name in names}
        ),
        given["d"],
    )
    theirs = torch.tensor(given["inverse_frequencies"], dtype=torch.float64)
    torch.testing.assert_close(1 / found.periods(torch.float64), theirs, rtol=2e-6, atol=0)
    assert found.gain == pytest.approx(given["gain"], abs=1e-12)


@pytest.mark.parametrize("heads", REFERENCES["alibi bloom"])
def test_slopes_are_those_of_bloom_and_of_the_paper_for_a_power_of_two(heads):
    slopes = -BIASES["alibi bloom"](*torch.tensor([[0], [1]]), torch.arange(int(heads)), int(heads))
    torch.testing.assert_close(slopes, torch.tensor(REFERENCES["alibi bloom"][heads]))
    paper = -BIASES["alibi"](*torch.tensor([[0], [1]]), torch.arange(int(heads)), int(heads))
    assert torch.allclose(slopes, paper) == (heads == "8")


@pytest.mark.parametrize("causal", [False, True])
def test_buckets_are_those_of_t5(causal):
    keys = torch.tensor(REFERENCES["key minus query"])
    found = t5_bucket(torch.zeros_like(keys), keys, causal)
    assert found.tolist() == REFERENCES["buckets"]["t5 causal" if causal else "t5"]


def test_pictures_of_rotary_positions_keep_their_bits():
    x = normal(0, 2, 300, 65)
    assert torch.equal(turn(x, Config(positions="rotary")), rotary(x))
    half = 10_000 ** (torch.arange(32, dtype=torch.float32) / 32)
    assert torch.equal(Rotation(32, 10_000.0, "none", 4.0, 4096).periods(), half)
    assert torch.equal(turn(x, Config(positions="none", rotary_scaling="yarn")), x)


def test_yarn_at_factor_four_by_hand():
    """Qwen2.5 with YaRN: 64 pairs, a ramp from pair 23 to pair 40, all that is turned times 0.1 ln 4 + 1."""
    found = Rotation(64, 1_000_000.0, "yarn", 4.0, 32_768)
    kept = found.kept_shares(torch.float64)
    assert (kept == 1).sum() == 24 and (kept == 0).sum() == 24
    assert kept[30].item() == pytest.approx(10 / 17)
    assert found.gain == pytest.approx(1.138629436)
    plain = 1_000_000 ** (torch.arange(64, dtype=torch.float64) / 64)
    torch.testing.assert_close(found.periods(torch.float64)[40:], 4 * plain[40:])


def test_a_gain_acts_on_turned_channels_alone():
    config = Config(positions="rotary", rotary_scaling="yarn", rotary_fraction=0.5, projections="tied", input="noise")
    t, plain = trace(config), trace(replace(config, positions="none"))
    gain = 0.1 * math.log(4) + 1
    turned, other = t.q.split(32, -1), plain.q.split(32, -1)
    torch.testing.assert_close(turned[0].norm(dim=-1), gain * other[0].norm(dim=-1))
    assert torch.equal(turned[1], other[1])
    step = by_name(config)["turned q"]
    assert "1.1386" in step.formula and step.flops == 8 * 18 * 16 * 6
    assert torch.equal(values(config)["turned q"], t.q)


@pytest.mark.parametrize("scaling", SCALINGS)
def test_settings_of_a_scaling_are_shown_where_they_act(scaling):
    config, off = (Config(positions=name, rotary_scaling=scaling, projections="tied") for name in ("rotary", "none"))
    names = ("rotary_base", "rotary_fraction", "rotary_scaling", "rotary_factor", "rotary_length")
    assert [name for name in names if shows(off, name)] == []
    assert [name for name in names if shows(config, name)] == [
        *names[:3],
        *(["rotary_factor"] if scaling != "none" else []),
        *(["rotary_length"] if scaling in ("yarn", "yarn (not rounded)", "llama3") else []),
    ]
    plain, length = replace(config, rotary_factor=1.0), replace(config, rotary_length=100)
    x = normal(0, 1, 50, 64)
    assert torch.equal(turn(x, config), turn(x, plain)) == (scaling == "none")
    assert torch.equal(turn(x, config), turn(x, length)) == (not shows(config, "rotary_length"))
    assert from_query(to_query(config)) == (config, [])
    assert ("math." in source(config)) == scaling.startswith("yarn")


def test_a_bias_can_be_added_to_recorded_scores_but_nothing_turned():
    name = "recorded:smollm2-street"
    plain, biased = trace(Config.of(name)), trace(Config.of(name, positions="alibi bloom"))
    assert torch.equal(plain.q, biased.q) and torch.equal(plain.scores, biased.scores)
    far = position_oracle.bias("alibi bloom", biased.config.heads, biased.config.tokens, biased.config.tokens)
    torch.testing.assert_close(biased.bias.double(), far)
    config, notes = from_query({"source": name, "positions": "rotary", "v": "3"})
    assert config == Config.of(name)
    assert notes == [
        f"queries and keys of {name} came as they are, so only scores can be changed: positions moved to none."
    ]


@settings(deadline=None, max_examples=50)
@given(config=rotary_configs(), distance=st.integers(0, 2**20), d=st.integers(2, 64).map(lambda half: 2 * half))
def test_the_curve_by_distance_is_the_score_of_ones_that_are_turned(config, distance, d):
    rotation = rotation_of(config, d)
    ones = torch.ones(1, 1, d, dtype=torch.float64)
    periods = rotation.periods(torch.float64)
    query, key = (rotary(ones, torch.tensor([at]), periods, rotation.gain) for at in (distance, 0))
    found = constant_score(rotation, d, torch.tensor([float(distance)], dtype=torch.float64))
    torch.testing.assert_close(found, (query * key).sum((1, 2)) / d, **NEAR)


def test_pairs_at_new_angles_by_hand():
    """Base 100, 4 pairs of 6.3, 20, 63 and 199 tokens: of 100 tokens the last has half a turn."""
    plain = Rotation(4, 100.0, "none", 4.0, 100)
    assert wavelengths(plain).tolist() == pytest.approx([6.283, 19.87, 62.83, 198.7], rel=1e-3)
    assert [untrained_pairs(plain, distance) for distance in (100, 101, 400)] == [0, 1, 1]
    assert [untrained_pairs(replace(plain, scaling="linear"), distance) for distance in (400, 401)] == [0, 1]
