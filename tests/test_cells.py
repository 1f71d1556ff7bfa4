"""Cells: nothing great is lost in pooling, places point at it, codes are right to three digits, bytes come back."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
import torch
from einops import rearrange
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from attention.masks import MASKS
from attention.wire import cells as cells_
from attention.wire.cells import MASKED, ONE, ZERO, Cells, cells, payload, pixel_cells, weights
from tests.digits import three_digits
from tests.samples import examples

PRECISION = 2.0**-11
law = settings(deadline=None, max_examples=examples(60))
sizes = st.tuples(st.integers(1, 3), st.integers(1, 40), st.integers(1, 40), st.integers(1, 24), st.integers(0, 10**6))


def some_weights(heads: int, queries: int, keys: int, seed: int) -> torch.Tensor:
    """Weights over many magnitudes, with exact zeros and ones among them."""
    random = torch.Generator().manual_seed(seed)
    w = 10 ** (-9 * torch.rand(heads, queries, keys, generator=random))
    kind = torch.randint(8, w.shape, generator=random)
    return w.masked_fill(kind == 0, 0.0).masked_fill(kind == 1, 1.0)


def tiles(values: torch.Tensor, tile: int, fill: float) -> torch.Tensor:
    """Every tile as a row of its own, the tokens that are missing at the end filled: h p r (tile tile)."""
    q, k = values.shape[-2:]
    full = F.pad(values, (0, -k % tile, 0, -q % tile), value=fill)
    return rearrange(full, "h (p i) (r j) -> h p r (i j)", i=tile, j=tile)


@law
@given(sizes)
def test_a_cell_has_the_greatest_weight_of_its_tile(size):
    heads, queries, keys, side, seed = size
    w = some_weights(heads, queries, keys, seed)
    found = cells(w, torch.ones(queries, keys, dtype=torch.bool), side)
    assert found.tile == -(-max(queries, keys) // side)
    assert max(found.codes.shape[1:]) <= side
    greatest = tiles(w, found.tile, 0).amax(-1)
    torch.testing.assert_close(weights(found.codes), greatest, rtol=2 * PRECISION, atol=0)


@law
@given(sizes)
def test_a_place_points_at_a_weight_that_is_as_great(size):
    heads, queries, keys, side, seed = size
    w = some_weights(heads, queries, keys, seed)
    found = cells(w, torch.ones(queries, keys, dtype=torch.bool), side)
    if found.tile == 1 or found.tile > cells_.WIDEST:
        assert found.argmax_in_tile is None
        return
    there = tiles(w, found.tile, -1).gather(-1, found.argmax_in_tile.long()[..., None])[..., 0]
    torch.testing.assert_close(there, weights(found.codes), rtol=PRECISION, atol=0)
    assert (there >= 0).all(), "a place is outside of the tokens"


@law
@given(sizes, st.sampled_from(sorted(MASKS)), st.integers(1, 9))
def test_a_cell_is_masked_only_where_all_of_its_tile_is(size, name, span):
    heads, queries, keys, side, seed = size
    mask = MASKS[name].square(queries, keys, span)
    w = some_weights(heads, queries, keys, seed) * mask
    found = cells(w, mask, side)
    seen = tiles(mask[None].float(), found.tile, 0).amax(-1).bool().expand(found.codes.shape)
    greatest = tiles(w, found.tile, 0).amax(-1)
    assert torch.equal(found.codes.int() == MASKED, ~seen)
    assert torch.equal(found.codes.int() == ZERO, seen & (greatest == 0))


@law
@given(st.floats(2.0**-31, 1.0, width=32))
def test_a_code_is_right_to_three_digits(weight):
    code = cells(torch.full((1, 1, 1), weight), torch.ones(1, 1, dtype=torch.bool), 4).codes
    assert abs(weights(code).item() - weight) <= weight * PRECISION
    assert three_digits(weights(code).item()) == three_digits(weight)
    bits = np.float32(weight).view(np.int32)
    nearest = ((bits + (1 << cells_.BITS - 1)) & (-1 << cells_.BITS)).astype(np.int32).view(np.float32).item()
    if three_digits(nearest) == three_digits(weight):  # the code that is nearest serves, and is taken: within 1 in 4096
        assert abs(weights(code).item() - weight) <= weight * PRECISION / 2


def test_every_number_under_the_pointer_is_right_to_three_digits():
    """Those just beside a change of the third digit too, where the nearest code may be on its other side."""
    turns = np.outer(np.arange(100, 1000) + 0.5, 10.0 ** np.arange(-11, -2)).astype(np.float32).ravel()
    beside = [np.nextafter(turns, np.float32(end)) for end in (0, 1)]
    spread = np.float32(10) ** -np.random.default_rng(0).uniform(0, 9, 20_000).astype(np.float32)
    given = torch.from_numpy(np.concatenate([turns, *beside, spread]))[None, None]
    for side in (given.shape[-1], given.shape[-1] // 8):
        found = cells(given, torch.ones(given.shape[1:], dtype=torch.bool), side)
        places = 0 if found.argmax_in_tile is None else found.argmax_in_tile.long()
        meant = given[0, 0, torch.arange(found.codes.shape[-1]) * found.tile + places].flatten()
        shown = weights(found.codes).flatten()
        assert found.tile in (1, 9) and len(shown) == len(meant)
        assert list(map(three_digits, shown.tolist())) == list(map(three_digits, meant.tolist()))


def test_codes_keep_the_order_and_the_ends():
    w = torch.tensor([0.0, 1e-20, 2.0**-31, 1e-9, 0.1, 0.5, 1.0]).reshape(1, 1, 7)
    codes = cells(w, torch.ones(1, 7, dtype=torch.bool), 8).codes.int().flatten()
    assert (codes.diff() > 0).all()
    assert codes[0] == ZERO and codes[-1] == ONE
    assert weights(codes.to(torch.uint16))[[0, -2, -1]].tolist() == [0.0, 0.5, 1.0]
    nearly = torch.tensor([0.9999, 1 - 2**-24]).reshape(1, 1, 2)
    for signed in (False, True):  # a browser shows 100% for a weight of one alone
        found = cells(nearly, torch.ones(1, 2, dtype=torch.bool), 8, signed=signed)
        assert (weights(found.codes, signed) < 1).all()


def test_half_precision_and_views_are_taken():
    w = torch.rand(2, 6, 10).transpose(1, 2)
    everything = torch.ones(10, 6, dtype=torch.bool)
    expected = cells(w.contiguous(), everything, 4)
    assert torch.equal(cells(w, everything, 4).codes.int(), expected.codes.int())
    assert torch.equal(cells(w.double(), everything, 4).codes.int(), expected.codes.int())
    quarters = torch.full((1, 10, 6), 0.25, dtype=torch.bfloat16)
    assert weights(cells(quarters, everything, 4).codes).unique() == 0.25


def test_a_drawing_small_enough_to_check_by_eye():
    w = torch.zeros(1, 4, 4)
    w[0, 1, 0], w[0, 3, 1], w[0, 2, 2], w[0, 2, 3] = 0.5, 0.25, 0.125, 0.125
    found = cells(w, torch.ones(4, 4, dtype=torch.bool).tril(), 2)
    assert found.codes[0].int()[0, 1] == MASKED
    assert weights(found.codes)[0][[0, 1, 1], [0, 0, 1]].tolist() == [0.5, 0.25, 0.125]
    assert found.argmax_in_tile[0][[0, 1, 1], [0, 0, 1]].tolist() == [2, 3, 0]  # of two equal ones the first


@pytest.mark.parametrize("side", [9, 4, 2])
def test_a_zero_with_a_sign_is_a_zero_and_its_place_a_token(side):
    found = cells(torch.full((1, 9, 9), -0.0), torch.ones(9, 9, dtype=torch.bool), side)
    assert (found.codes.int() == ZERO).all()
    assert found.argmax_in_tile is None or (found.argmax_in_tile == 0).all()


def test_a_map_made_elsewhere():
    pixels = torch.tensor([[[0.5, 0.0], [0.25, 1.0]]])
    found = pixel_cells(pixels, torch.tensor([[True, False], [True, True]]), 128, torch.arange(1, 257), 256)
    assert found.argmax_in_tile is None and found.tile == 128
    assert torch.equal(weights(found.codes).nan_to_num(-1), torch.tensor([[[0.5, -1.0], [0.25, 1.0]]]))


@law
@given(sizes, st.text(max_size=20))
def test_bytes_come_back(size, text):
    heads, queries, keys, side, seed = size
    sent = cells(some_weights(heads, queries, keys, seed), torch.ones(queries, keys, dtype=torch.bool), side)
    header, got = decode_message(payload({"painted": text}, sent))
    assert header["painted"] == text
    assert (got.tile, got.queries, got.keys) == (sent.tile, queries, keys)
    assert torch.equal(got.codes.int(), sent.codes.int())
    assert (got.argmax_in_tile is None and sent.argmax_in_tile is None) or torch.equal(
        got.argmax_in_tile, sent.argmax_in_tile
    )
    assert torch.equal(got.visible_keys, sent.visible_keys) and torch.equal(got.max_code, sent.max_code)


def decode_message(message: bytes) -> tuple[dict, Cells]:
    """What the browser reads, read with NumPy."""
    (length,) = struct.unpack_from("<I", message)
    header, start = json.loads(message[4 : 4 + length]), 4 + length + -length % 4
    shape = header["heads"], header["rows"], header["columns"]
    codes = np.frombuffer(message, "<u2", np.prod(shape), start).reshape(shape)
    count = codes.size if header["places"] else 0
    rest = np.frombuffer(message, np.uint8, count, start + codes.nbytes)
    places = torch.from_numpy(rest.reshape(shape).copy()) if header["places"] else None
    sights = np.frombuffer(message[start + codes.nbytes + count :], "<f4").reshape(header["sights"])
    sides = header["tile"], header["queries"], header["keys"]
    most = torch.tensor(header["most"], dtype=torch.int32)
    return header, Cells(torch.from_numpy(codes.copy()), places, *sides, torch.from_numpy(sights.copy()), most)


def test_a_grid_of_65536_tokens_is_no_larger_than_one_of_512():
    """Eight heads as the page sends them: two bytes a pixel, and one more where a pixel says where its greatest is."""
    side = 192
    short = payload({}, cells(torch.rand(8, 512, 512), MASKS["full"].square(512, 512, 1), side))
    tile = -(-65536 // side)
    shown = torch.rand(8, -(-65536 // tile), -(-65536 // tile))
    seen, everything = torch.ones_like(shown[0], dtype=torch.bool), torch.full((65536,), 65536)
    long = payload({}, pixel_cells(shown, seen, tile, everything, 65536))
    assert len(long) <= len(short)
    rest = len(long) - 2 * shown.numel() - 4 * shown.shape[1]
    assert rest < 400, "beside the pixels, and a number a row of them, there is but a header"
