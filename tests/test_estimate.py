"""What a map will take: cells by the mask, memory by the tokens, a rate that was measured."""

from __future__ import annotations

import pytest

from attention.maps.estimate import cells, estimate, measured_rate
from attention.masks import MASKS


@pytest.mark.parametrize("name", MASKS)
def test_no_cell_that_a_mask_shows_is_left_out(name):
    shown = int(MASKS[name].square(1500, 1500, 40).sum())
    assert shown <= cells(MASKS[name], 1500, 40) <= 1500**2


def test_masks_that_hide_cost_less():
    full, causal, window = (cells(MASKS[name], 16_384, 64) for name in ("full", "causal", "window"))
    assert full == 16_384**2 and causal < 0.53 * full and window < 0.06 * full


def test_an_estimate_grows_with_the_work():
    one, wider, more = (estimate(8192, heads, d, MASKS["full"], 4, 1e9) for heads, d in ((1, 64), (1, 512), (3, 192)))
    assert one.seconds == pytest.approx((8192**2 + 4 * 8192 * 512) / 1e9)
    assert wider.seconds > 2 * one.seconds and wider.bytes - one.bytes == 3 * 4 * 8192 * (512 - 64)
    assert more.seconds == pytest.approx(3 * one.seconds)
    assert measured_rate() == measured_rate() > 0
