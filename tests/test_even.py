"""Times even: a weight over its even share, 1 / keys in sight, is one wherever a head attends evenly; own maximum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from attention import Config, trace
from attention.charts import heatmap, row, theme
from attention.codec import from_query, to_query
from attention.components.heads_grid import header
from attention.knobs import KNOBS, LINEAR_MAX_TOKENS
from attention.maps.blocks import choices, visible
from attention.tables import rows as tables
from attention.wire.cells import MASKED, ONE, ZERO, Cells, cells, payload, pixel_cells, weights
from tests.samples import examples
from tests.strategies import configs
from tests.test_cells import decode_message

laws = settings(deadline=None, max_examples=examples(50))
sides = st.integers(1, 24)


def even(mask: Tensor) -> Tensor:
    """A head that spreads its weight evenly over what it sees."""
    return (mask / mask.sum(-1, keepdim=True).clamp(min=1))[None]


def sights(found: Cells) -> Tensor:
    """The keys in sight of the query of each cell, as a browser finds them: h p r."""
    heads, rows, _ = found.codes.shape
    if found.argmax_in_tile is None:
        return found.visible_keys.expand(heads, -1)[:, :, None].expand(found.codes.shape)
    query = torch.arange(rows)[:, None] * found.tile + found.argmax_in_tile.long() // found.tile
    return found.visible_keys.expand(heads, -1).gather(1, query.flatten(1)).view(found.codes.shape)


@laws
@given(config=configs(), side=sides)
def test_an_even_head_is_one_times_even_wherever_anything_is_seen(config, side):
    mask = trace(config).mask
    found = cells(even(mask), mask, side)
    times = weights(found.codes) * sights(found)
    seen = found.codes.int() > ZERO
    known = found.tile == 1 or found.argmax_in_tile is not None
    if known:
        torch.testing.assert_close(times[seen], torch.ones_like(times[seen]), rtol=2.0**-11, atol=0)
    else:  # the greatest weight is of the query of its tile that sees the fewest keys
        assert (times[seen] >= 1 - 2.0**-11).all()
    assert torch.equal(found.codes.int() == MASKED, weights(found.codes).isnan())


@laws
@given(config=configs(), side=sides, pool=st.sampled_from(["max", "mean"]))
def test_a_map_has_the_mean_of_what_the_queries_of_its_tiles_see(config, side, pool):
    mask = trace(config).mask
    n, tile = config.tokens, -(-config.tokens // side)
    counted = choices(config.rule, n, config.span)
    assert torch.equal(counted, mask.sum(-1))
    tiles = visible(config.rule, n, config.span, tile)
    found = pixel_cells(torch.rand(1, *tiles.shape), tiles, tile, counted, n)
    assert found.visible_keys.shape == (1, len(tiles))
    for at, mean in enumerate(found.visible_keys[0].tolist()):
        some = [seen for seen in counted[at * tile : (at + 1) * tile].tolist() if seen]
        assert mean == pytest.approx(sum(some) / max(1, len(some)))


def test_heads_that_see_otherwise_have_lines_of_their_own():
    mask = torch.ones(2, 4, 4, dtype=torch.bool).tril()
    mask[1] = True
    found = cells(torch.rand(2, 4, 4), mask, 9)
    assert found.visible_keys.tolist() == [[1, 2, 3, 4], [4, 4, 4, 4]]
    _, got = decode_message(payload({}, found))
    assert torch.equal(got.visible_keys, found.visible_keys)


@laws
@given(config=configs(), side=sides)
def test_a_head_that_sees_only_itself_does_not_spoil_its_own_maximum(config, side):
    passed = trace(config)
    found = cells(passed.weights, passed.mask, side)
    counted, greatest = passed.mask.sum(-1), found.codes.int().amax((1, 2))
    several = passed.weights[:, counted > 1]
    assert (found.max_code <= greatest).all()
    if several.numel() and bool((several > 0).any((1, 2)).all()) and found.tile == 1:
        torch.testing.assert_close(
            weights(found.max_code.to(torch.uint16)), several.amax((1, 2)), rtol=2.0**-11, atol=0
        )
    if not several.numel():
        assert torch.equal(found.max_code, greatest)


@pytest.mark.parametrize("side", [64, 8, 2], ids=["tokens", "places", "map"])
def test_the_first_query_of_a_causal_mask_is_aside(side):
    """64 tokens: one a cell, eight a cell with their places, and 32 of which only the greatest is known."""
    mask = torch.ones(64, 64, dtype=torch.bool).tril()
    found = cells(even(mask), mask, side)
    assert int(found.codes.int().max()) == ONE
    wanted = {64: 1 / 2, 8: 1 / 9, 2: 1 / 33}[side]
    assert weights(found.max_code.to(torch.uint16)).item() == pytest.approx(wanted, rel=1e-3)


@laws
@given(config=configs(), side=sides)
def test_the_large_head_has_the_same_numbers_under_the_pointer(config, side):
    """Of each cell the weight itself and how many times even that is, for the query that has it."""
    passed = trace(config)
    shown, tile, seeing = tables.focus(passed, side)
    figure: Any = heatmap.weights(shown, tile, "times even", [], seeing=seeing).data[0]
    weight, times = torch.from_numpy(figure.customdata).unbind(-1)
    (top, bottom), (left, right) = config.window
    part, counted = passed.weights[config.head, top:bottom, left:right], passed.mask[top:bottom].sum(-1)
    hidden = ~passed.mask[top:bottom, left:right]
    for q in range(len(shown)):
        for k in range(shown.shape[1]):
            tiles = slice(q * tile, (q + 1) * tile), slice(k * tile, (k + 1) * tile)
            if hidden[tiles].all():
                assert weight[q, k].isnan() and times[q, k].isnan()
                continue
            most = part[tiles].masked_fill(hidden[tiles], -1).amax(-1)
            assert weight[q, k] == most.max()
            allowed = (most * counted[tiles[0]])[most == most.max()]
            assert float(times[q, k]) in [pytest.approx(each) for each in allowed.tolist()]
            assert float(figure.z[q, k]) == pytest.approx(
                float(times[q, k].clamp(1 / theme.TIMES, theme.TIMES).log10()), abs=1e-6
            )


def test_the_large_heads_own_maximum_leaves_out_who_sees_one_key():
    mask = torch.ones(9, 9, dtype=torch.bool).tril()
    shown, seeing = tables.pool_row(even(mask)[0], mask, mask.sum(-1), 1)
    found = heatmap.weights(shown, 1, "own maximum", [], seeing=seeing).to_dict()["data"][0]
    assert found["zmax"] == 0.5
    alone, seeing = tables.pool_row(torch.eye(9), torch.eye(9, dtype=torch.bool), torch.ones(9, dtype=torch.int64), 1)
    assert heatmap.weights(alone, 1, "own maximum", [], seeing=seeing).to_dict()["data"][0]["zmax"] == 1


def test_a_scale_that_nobody_chose_follows_the_length_and_says_so():
    short, long = Config(tokens=LINEAR_MAX_TOKENS), Config(tokens=LINEAR_MAX_TOKENS + 1)
    assert (short.color_scale, long.color_scale) == ("linear", "times even")
    assert header(short, 1, "")["why"] == "", "the colour bar itself says that it is linear"
    assert header(long, 1, "")["why"] == f"auto: × uniform beyond {LINEAR_MAX_TOKENS} tokens"
    assert f"linear up to {LINEAR_MAX_TOKENS} tokens, × uniform beyond" in KNOBS["colors"].help
    assert f"1/{theme.TIMES} to {theme.TIMES}" in KNOBS["colors"].help


@pytest.mark.parametrize("scale", [name for name in KNOBS["colors"].choices if name != "auto"])
@pytest.mark.parametrize("tokens", [2, 65536])
def test_a_link_that_names_a_scale_keeps_it_at_any_length(scale, tokens):
    for version in ({}, {"v": "1"}, {"v": "2"}):
        config, notes = from_query({"tokens": f"{tokens}", "colors": scale} | version)
        assert config.color_scale == scale and not notes and header(config, 1, "")["why"] == ""
    assert from_query(to_query(config))[0].color_scale == scale


def test_a_link_from_before_there_was_a_choice_is_linear_at_any_length():
    assert from_query({"tokens": "65536"})[0].color_scale == "linear"
    assert from_query({"tokens": "65536", "v": "2"})[0].color_scale == "times even"


BARS: dict[str, Callable[[int], float]] = {"times even": lambda n: 1 / (100 * n), "log": lambda n: min(1e-4, 0.1 / n)}


@pytest.mark.parametrize("scale", BARS)
@pytest.mark.parametrize("keys", [1, 18, 1024, 65536])
def test_the_even_share_is_on_every_logarithmic_axis_of_a_row(scale, keys):
    """Whatever the length, with room for a tenth of it."""
    spec = row.weights((), keys, scale, keys if scale == "times even" else 0)
    bars = spec["layer"][0] if "layer" in spec else spec
    low = bars["encoding"]["y"]["scale"]["domain"][0]
    assert low == pytest.approx(BARS[scale](keys)) and low <= 0.1 / keys
    assert bars["transform"][1]["calculate"] == f"{low}"


@pytest.mark.parametrize("seeing", [1, 5, 64, 65536])
def test_the_axis_of_times_even_names_what_it_can_show(seeing):
    axis: Any = row.axis("top", "weight", "times even", 65536, seeing).to_dict()
    axis = axis["axis"]
    wanted = [times / seeing for times in (0.01, 0.1, 1, 10, 100) if times <= seeing]
    assert axis["values"] == pytest.approx(wanted)
