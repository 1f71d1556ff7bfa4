"""Matrices as the browser gets them: read back from the bytes, right to three digits, pooled by magnitude."""

from __future__ import annotations

import json
import math
import struct
from decimal import Decimal

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from attention.wire.matrix_cells import LEAST, SIDE, difference, matrix, pack_mask, payload
from tests.digits import three_digits
from tests.samples import examples
from tests.strategies import normal, seeds


def decode_values(drawn) -> torch.Tensor:
    """The values that the codes stand for."""
    return torch.ldexp(drawn.codes.float(), torch.tensor(drawn.exponent))


@settings(deadline=None, max_examples=examples(50))
@given(seeds, st.integers(1, 3), st.integers(1, 9), st.integers(1, 9), st.floats(-60, 60))
def test_values_are_right_to_three_digits(seed, heads, rows, columns, power):
    value = normal(seed, heads, rows, columns) * 2.0**power
    drawn = matrix(value)
    assert drawn.places is None and drawn.tiles == (1, 1)
    assert drawn.most == pytest.approx(value.abs().amax((1, 2)).tolist())
    assert digits(decode_values(drawn)) == digits(value)
    nearest = torch.ldexp(
        torch.ldexp(value, torch.tensor(-drawn.exponent)).half().float(), torch.tensor(drawn.exponent)
    )
    serves = torch.tensor([a == b for a, b in zip(digits(nearest), digits(value), strict=True)]).view_as(value)
    assert_close(decode_values(drawn)[serves], value[serves], rtol=2**-11, atol=0)
    assert_close(decode_values(drawn), value, rtol=2**-10, atol=0)


def digits(values: torch.Tensor) -> list[Decimal]:
    return list(map(three_digits, values.flatten().tolist()))


@pytest.mark.parametrize("exponent", [-100, -20, -9, 0, 3, 60])
def test_three_digits_stay_at_and_beside_every_place_where_the_third_turns(exponent):
    most = 2.0 ** (exponent + 14)
    decade = math.floor(math.log10(most)) - 1
    turns = np.outer(np.arange(100, 1000) + 0.5, 10.0 ** np.array([decade - 5, decade - 2])).astype(np.float32).ravel()
    beside = [np.nextafter(turns, np.float32(end)) for end in (0, most)]
    value = torch.from_numpy(np.concatenate([turns, *beside])).view(3, -1)
    value = torch.cat((value, -value, torch.full_like(value[:1], most))).view(1, -1, 100)  # fewer than SIDE rows
    drawn = matrix(value)
    assert drawn.exponent == exponent
    assert drawn.places is None
    assert digits(decode_values(drawn)) == digits(value)


def test_what_is_hidden_tiny_or_nothing_stays_what_it_is():
    found = matrix(torch.tensor([[[-math.inf, 0.0, 1.0, 1e-30, -1e-30, -0.5]]]))
    assert found.codes[0, 0].isinf().tolist() == [True, False, False, False, False, False]
    assert decode_values(found)[0, 0, [1, 2, 5]].tolist() == [0, 1, -0.5]
    assert found.codes[0, 0, 3:5].tolist() == [LEAST, -LEAST]
    assert matrix(torch.tensor([[[math.nan, math.inf, 1.0]]])).codes.isnan().tolist() == [[[True, False, False]]]
    nothing = matrix(torch.zeros(2, 3, 1))
    assert (nothing.exponent, nothing.most, float(nothing.codes.abs().max())) == (0, (0, 0), 0)
    assert matrix(torch.full((1, 2, 2), -math.inf)).codes.isinf().all()
    assert torch.equal(matrix(torch.eye(3, dtype=torch.bool)[None]).codes.float().count_nonzero(), torch.tensor(3))


@settings(deadline=None, max_examples=examples(25))
@given(seeds, st.integers(1, 400), st.integers(1, 400))
def test_a_cell_of_several_has_the_greatest_magnitude_and_its_place(seed, rows, columns):
    value = normal(seed, 2, rows, columns)
    value[:, :, ::3] = -math.inf
    drawn = matrix(value)
    assert max(drawn.codes.shape[1:]) <= SIDE
    down, across = drawn.tiles
    places = torch.zeros(drawn.codes.shape, dtype=torch.long) if drawn.places is None else drawn.places.long()
    for p, r in {(0, 0), (drawn.codes.shape[1] - 1, drawn.codes.shape[2] - 1), (drawn.codes.shape[1] // 2, 0)}:
        tile = value[1, p * down : (p + 1) * down, r * across : (r + 1) * across]
        finite = tile[tile.isfinite()]
        row, column = divmod(int(places[1, p, r]), across)
        if not len(finite):
            assert drawn.codes[1, p, r].item() == -math.inf
            continue
        assert decode_values(drawn)[1, p, r].item() == pytest.approx(float(tile[row, column]), rel=2**-10)
        assert three_digits(decode_values(drawn)[1, p, r].item()) == three_digits(float(tile[row, column]))
        assert float(tile[row, column].abs()) == float(finite.abs().max())


def test_one_hot_cell_of_the_largest_matrix_is_found():
    value = torch.full((1, 2048, 8192), 0.01)
    value[0, 1234, 7777] = -3.0
    drawn = matrix(value)
    assert drawn.tiles == (16, 64)
    at = drawn.codes.argmin().item()
    p, r = divmod(at, drawn.codes.shape[2])
    row, column = divmod(int(drawn.places[0, p, r]), 64)
    assert (p * 16 + row, r * 64 + column) == (1234, 7777)


def test_the_message_can_be_read_back():
    first, second = matrix(normal(0, 2, 3, 5), first=4), matrix(normal(1, 1, 200, 2))
    mask = torch.ones(3, 11, dtype=torch.bool).tril(1)
    message = payload({"matrices": [{"name": "q"}, {"name": "x"}], "title": "ü"}, [first, second], mask)
    (length,) = struct.unpack("<I", message[:4])
    header = json.loads(message[4 : 4 + length])
    assert header["masked"] and header["title"] == "ü"
    assert [each["name"] for each in header["matrices"]] == ["q", "x"]
    assert [each["places"] for each in header["matrices"]] == [False, True]
    assert header["matrices"][0]["first"] == 4 and header["matrices"][1]["tiles"] == [2, 1]
    rest = message[4 + length + -length % 4 :]
    codes = np.frombuffer(rest, "<f2", first.codes.numel())
    assert codes.tolist() == first.codes.flatten().tolist()
    pooled = np.frombuffer(rest, "<f2", 200, 2 * first.codes.numel())
    assert pooled.tolist() == second.codes.flatten().tolist()
    places = np.frombuffer(rest, "<u2", 200, 2 * (first.codes.numel() + 200))
    assert places.tolist() == second.places.flatten().tolist()
    bits = np.frombuffer(rest, np.uint8, offset=2 * (first.codes.numel() + 400)).reshape(3, -1)
    assert np.array_equal(np.unpackbits(bits, axis=1)[:, :11].astype(bool), mask.numpy())
    assert torch.equal(pack_mask(mask), torch.from_numpy(np.packbits(mask.numpy(), axis=1)))


def test_a_difference_has_both_sides_and_says_what_one_of_them_masks():
    hidden = -math.inf
    a, b = torch.tensor([[[0.25, 0.5, hidden, hidden]]]), torch.tensor([[[0.25, 0.1, 0.0, hidden]]])
    weights, logits = difference(a, b, masked_is_zero=True), difference(a, b)
    assert decode_values(weights)[0, 0].tolist() == pytest.approx([0, -0.4, 0, math.nan], rel=1e-3, nan_ok=True)
    assert decode_values(logits)[0, 0].tolist() == pytest.approx([0, -0.4, math.inf, math.nan], rel=1e-3, nan_ok=True)
    assert weights.most == logits.most == pytest.approx((0.4,))
    for side, values in zip(weights.sides, (a, b), strict=True):
        assert_close(decode_values(side), values, rtol=1e-3, atol=0)


def test_a_cell_of_several_differences_has_both_sides_at_the_place_of_the_largest():
    a, b = normal(0, 2, 300, 260), normal(1, 2, 300, 260)
    a[:, :, 250:], b[:, 290:] = -math.inf, -math.inf
    b[0, 4, 252] = -math.inf  # the only pair of its tile that both sides mask
    drawn = difference(a, b)
    down, across = drawn.tiles
    assert (down, across) == (3, 3)
    for p, r in [(0, 0), (50, 40), (1, 84), (97, 3), (99, 86)]:
        part = (slice(p * down, (p + 1) * down), slice(r * across, (r + 1) * across))
        before, after = a[0][part], b[0][part]
        row, column = divmod(int(drawn.places[0, p, r]), across)
        found = [float(decode_values(each)[0, p, r]) for each in (drawn, *drawn.sides)]
        change = float(after[row, column] - before[row, column])
        wanted = [change, float(before[row, column]), float(after[row, column])]
        assert found == pytest.approx(wanted, rel=1e-3, nan_ok=True)
        visible = (before - after).abs()
        assert math.isnan(change) == bool(visible.isnan().all())
        assert math.isnan(change) or abs(change) == float(visible.nan_to_num(-1.0, math.inf).max())
