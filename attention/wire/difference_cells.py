"""Encodes the differences of the weights of two sides, A and B, as 16 bits each.

A code has a sign, two bits that say on which of two sides the key is visible, and 13 bits of size: the first three digits
from 0.0001 to 9.99, and whole millionths below, so that only an exact zero has the size 0. A code of 0 is masked on both
sides. The weights of one side are coded in the same way.
"""

from __future__ import annotations

import struct
from typing import Any

import torch
from jaxtyping import Bool, Float, Int32, UInt16
from torch import Tensor

from attention.comparison.pooling import WITHOUT_SIGN, Differences
from attention.runtime.tensor_cache import tensor_lru_cache
from attention.wire.cells import BITS, SHIFT, WIDEST
from attention.wire.kept_bytes import Kept, frame_kept
from attention.wire.message import turns

SIGN, IN_B, IN_A, SIZE = 1 << 15, 1 << 14, 1 << 13, (1 << 13) - 1  # parts of a code
FINE, STEP, DECADE, DECADES = (
    100,
    1e-6,
    900,
    5,
)  # sizes below 0.0001 and their step; sizes per power of ten from there on
MASKED_ONCE = "stripes: masked on one side"  # what the picture says below its scale
LARGEST = FINE + DECADE * DECADES - 1  # the size of 9.99, which larger numbers have too
(TOP,) = struct.unpack("<i", struct.pack("<f", 9.99))  # its bits as a float32
LOW, LOW_BITS = 12, (1 << 12) - 1  # bits of a float32 below those that `_borders` is indexed by


def difference_codes(
    values: Float[Tensor, "*any"], in_a: Bool[Tensor, "*any"], in_b: Bool[Tensor, "*any"]
) -> UInt16[Tensor, "*any"]:
    """Returns the codes of numbers; those that are visible on neither side are masked."""
    bits = (values.float() + 0.0).view(torch.int32)  # a zero with a sign loses it
    size = (bits & WITHOUT_SIGN).clamp_(max=TOP)
    borders = _borders().index_select(0, (size >> LOW).flatten()).view_as(size)
    code = ((borders + (size & LOW_BITS)) >> LOW).to(torch.int16)
    code |= (bits >> 16).to(torch.int16) & -SIGN
    code |= in_a.to(torch.int16) * IN_A + in_b.to(torch.int16) * IN_B
    return code.mul_(in_a | in_b).view(torch.uint16)


def difference_values(codes: UInt16[Tensor, "*any"]) -> Float[Tensor, "*any"]:
    """Returns the numbers of codes in float64; masked ones are NaN."""
    whole = codes.to(torch.int32)
    size = whole & SIZE
    digits, power = FINE + (size - FINE) % DECADE, torch.div(size - FINE, DECADE, rounding_mode="floor") - 6
    number = torch.where(size < FINE, size.double() * STEP, digits.double() * 10.0 ** power.double())
    return torch.where(whole & SIGN > 0, -number, number).masked_fill(whole == 0, torch.nan)


def difference_payload(header: dict[str, Any], found: Differences, kept: Kept | None = None) -> bytes:
    """Returns a message of the grid of heads: codes of the differences and their places, and of B and A at these places.

    `kept`: whether the browser keeps the codes of A. They are the same for any B if a cell is one pair of tokens; a tile has
    A at the place of the largest difference, which depends on B.
    """
    codes = difference_codes(found.change, found.in_a, found.in_b)
    before = difference_codes(found.a, found.in_a, found.in_a)
    after = difference_codes(found.b, found.in_b, found.in_b)
    heads, rows, columns = codes.shape
    places = found.place.to(torch.uint8) if 1 < found.tile <= WIDEST else None
    sights = torch.zeros(1, found.queries if found.tile == 1 or places is not None else rows)
    most = (codes.view(torch.int16) & SIZE).amax((1, 2)).tolist()
    shape = {"heads": heads, "rows": rows, "columns": columns, "tile": found.tile, "queries": found.queries}
    shape |= {"keys": found.keys, "places": places is not None, "shift": SHIFT, "bits": BITS, "most": most}
    shape |= {"sights": list(sights.shape), "sums": False, "sides": True}
    tensors = [each for each in (codes, places, sights, after, before) if each is not None]
    *parts, last = [each.contiguous().numpy().data for each in tensors]
    return frame_kept(header | shape, parts, [last], kept if found.tile == 1 else None)


@tensor_lru_cache(1)
def _borders() -> Int32[Tensor, " bin"]:
    """Returns what, added to the lower bits of a float32, has its size in the upper bits, by the upper bits of the float32.

    Sizes are further apart than numbers with the same upper bits, so that at most one size begins among them: adding carries
    from there on.
    """
    first = _thresholds().view(torch.int32)
    bins = torch.arange((TOP >> LOW) + 1, dtype=torch.int32)
    found = torch.bucketize(bins << LOW, first, out_int32=True) << LOW
    found[first >> LOW] += LOW_BITS + 1 - (first & LOW_BITS)
    return found


def _thresholds() -> Float[Tensor, " code"]:
    """Returns the smallest float32 of each size from 1 on."""
    fine = (torch.arange(2, FINE + 1, dtype=torch.float64) - 0.5) * STEP
    tiny = torch.tensor([torch.finfo(torch.float32).smallest_normal * 2.0**-23], dtype=torch.float64)
    return torch.cat([tiny.float(), fine.float(), turns(-4, DECADES - 4)[:-1]])
