"""Maps against the full matrix in float64, over all masks, shapes, tiles and windows."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

import attention.maps
from attention import head_maps, trace
from attention.heads import row_entropy
from attention.maps import POOLS
from attention.masks import MASKS, Rule
from attention.scores import SCALES, SOFTMAXES
from tests.strategies import configs, normal, seeds

laws = settings(deadline=None, max_examples=120)


class Case(NamedTuple):
    """What goes into a map."""

    query: Tensor
    key: Tensor
    mask: str | Rule
    options: dict[str, Any]


@st.composite
def cases(draw: st.DrawFn, whole: bool = False) -> Case:
    """Any inputs of small size, masks alone and combined, all options; `whole`: no windows."""
    n, heads = draw(st.integers(1, 60)), draw(st.sampled_from([1, 2, 4]))
    groups = draw(st.sampled_from([size for size in (1, 2, 4) if heads % size == 0]))
    d, seed = draw(st.integers(1, 6)), draw(seeds)
    mask = draw(st.sampled_from(list(MASKS)))
    rule = MASKS[mask] & MASKS[draw(st.sampled_from(list(MASKS)))] if draw(st.booleans()) else mask
    options = {
        "span": draw(st.integers(1, n + 3)),
        "scale": draw(st.sampled_from([None, 1.0, 20.0])),
        "side": draw(st.integers(1, n + 5)),
        "pool": draw(st.sampled_from(list(POOLS))),
        "positions": draw(st.sampled_from(["none", "alibi"])),
        "softcap": draw(st.sampled_from([None, 3.0])),
        "softmax": draw(st.sampled_from(list(SOFTMAXES))),
    }
    for name in () if whole or not draw(st.booleans()) else ("rows", "cols"):
        ends = sorted(draw(st.lists(st.integers(0, n), min_size=2, max_size=2, unique=True)))
        options |= {name: tuple(ends), "tile": draw(st.sampled_from([None, 3]))}
    return Case(normal(seed, heads, n, d), normal(seed + 1, groups, n, d), rule, options)


def full(case: Case) -> tuple[Tensor, Tensor]:
    """All weights in float64 and the logarithms of their denominators, straight from the formula."""
    q, k, options = case.query.double(), case.key.double(), case.options
    heads, n = q.shape[:2]
    scores = q @ k.repeat_interleave(heads // len(k), 0).mT * (options["scale"] or 1 / math.sqrt(q.shape[2]))
    if options["softcap"]:
        scores = options["softcap"] * torch.tanh(scores / options["softcap"])
    if options["positions"] == "alibi":
        apart = (torch.arange(n)[:, None] - torch.arange(n)).abs()
        scores = scores - 2.0 ** (-8 * torch.arange(1.0, heads + 1, dtype=torch.float64) / heads)[:, None, None] * apart
    rule = case.mask if isinstance(case.mask, Rule) else MASKS[case.mask]
    scores = scores.masked_fill(~rule.square(n, n, options["span"]), -math.inf)
    lse = scores.logsumexp(-1)
    lse = torch.log1p(lse.exp()) if options["softmax"] == "plus one" else lse
    return (scores - lse[..., None]).exp().nan_to_num(0), lse


def pooled(weights: Tensor, tile: int, pool: str) -> Tensor:
    """Tile by tile, as the definition has it."""
    reduce = torch.mean if pool == "mean" else torch.amax
    rows = [[reduce(part, (1, 2)) for part in strip.split(tile, 2)] for strip in weights.split(tile, 1)]
    return torch.stack([torch.stack(row, -1) for row in rows], 1)


def near(got: Tensor, want: Tensor, within: float) -> bool:
    return got.shape == want.shape and torch.allclose(got.double(), want.double(), rtol=0, atol=within)


def check(case: Case, within: float = 1e-6, stretched: float = 1e-6) -> None:
    """Pixels within an absolute error, statistics within one that is `stretched` for lengths and large logarithms."""
    weights, lse = full(case)
    maps = head_maps(case.query, case.key, case.mask, **case.options)
    n = case.query.shape[1]
    rows, cols = case.options.get("rows") or (0, n), case.options.get("cols") or (0, n)
    shown = weights[:, slice(*rows)]
    assert maps.tile == (case.options.get("tile") or (1 if "rows" in case.options else -(-n // case.options["side"])))
    for pool in POOLS:
        assert near(maps.pooled_by(pool).pixels, pooled(shown[:, :, slice(*cols)], maps.tile, pool), within)
    assert maps.pixels.dtype == torch.float32 and maps.pool == case.options["pool"]
    assert near(maps.lse, lse[:, slice(*rows)], stretched)
    assert near(maps.entropy, row_entropy(shown), stretched)
    assert near(maps.greatest, shown.amax(-1), within)
    apart = (torch.arange(*rows)[:, None] - torch.arange(n)).abs()
    assert near(maps.distance, (shown * apart).sum(-1), stretched)


@laws
@given(cases())
def test_every_pixel_and_number_is_that_of_the_full_matrix(case):
    check(case)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks, pieces and jobs so small that small squares have many of each, in float32 as long ones are."""
    for name, value in {"PRECISE": 0, "HEIGHT": 7, "STEP": 5, "WIDTH": 7 * 11, "BAND": 400}.items():
        monkeypatch.setattr(attention.maps, name, value)


@pytest.mark.usefixtures("small_blocks")
@settings(laws, suppress_health_check=[])
@given(case=cases())
def test_blocks_and_float32_change_nothing_but_the_rounding(case):
    sharp = case.options["scale"] == 20
    check(case, 2e-5 if sharp else 2e-6, 1e-3 if sharp else 2e-4)


@laws
@given(configs())
def test_below_the_side_a_map_is_the_trace(config):
    found = trace(config)
    maps = head_maps(
        found.q, found.k, config.mask, config.span, SCALES[config.scale](config.d_head) / config.temperature,
        positions=config.positions, softcap=config.softcap or None, softmax=config.softmax,
    )  # fmt: skip
    assert maps.tile == 1 and near(maps.pixels, found.weights, 1e-5 if config.scale == "none" else 1e-6)
