"""Encodes matrices of any sign and size as bytes, from which the browser draws the steps.

A value is sent as a float of 16 bits after a power of two was factored out of the whole matrix, so that its largest
magnitude is near the top of what 16 bits hold. Rounding preserves the first three significant digits, down to 10^-9 of
the largest; minus infinity is preserved. If a side is longer than `SIDE`, a cell represents several values and has the
one of the largest magnitude, and its place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Bool, Float, Float16, Int16, UInt8
from torch import Tensor

from attention.config import Config
from attention.operations.differential import FIRST, SECOND
from attention.runtime.tensor_cache import tensor_lru_cache
from attention.steps.plan import by_name
from attention.steps.step import Step
from attention.wire.message import frame_message, turns

SIDE = 128  # maximum number of cells per side
CELLS = 2**16  # maximum number of cells of a matrix with all its heads; of a larger one, one head is sent
TOP = 15  # exponent of the largest value of a matrix: float16 ends at 2 ** 16
LIMIT = 100  # of a negative exponent: a float32 must hold the power of two
LEAST = 2.0**-24  # smallest positive float16, which represents all smaller positive numbers
NORMAL = -14  # exponent of the smallest float16 with all its digits
INFINITE = 0x7C00  # bits of infinity as a float16


@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix, or one per head, as it is sent: `codes (h p r)`, `places (h p r)` in a tile, None if tiles are cells.

    `first` is the number of the first head that is included; `tiles`: rows and columns of a cell; `exponent`: a value
    is its code times 2 to this; `most`: the largest magnitude of each head, excluding infinities.
    """

    codes: Float16[Tensor, "h p r"]
    places: Int16[Tensor, "h p r"] | None
    first: int
    tiles: tuple[int, int]
    exponent: int
    most: tuple[float, ...]


def matrix(value: Float[Tensor, "h r c"] | Bool[Tensor, "h r c"], first: int = 0) -> Matrix:
    """Returns the matrix of some heads, ready to be sent; booleans become ones and zeros."""
    value = value.float()
    rows, columns = value.shape[1:]
    tiles = -(-rows // SIDE), -(-columns // SIDE)
    cells, places = (value, None) if tiles == (1, 1) else _pool_signed(value, tiles)
    size = cells.abs()
    most = tuple(size.nan_to_num(0.0, 0.0, 0.0).amax((1, 2)).tolist())
    exponent = max(math.frexp(max(most))[1] - TOP, -LIMIT) if any(most) else 0
    return Matrix(_codes(cells, size, exponent), places, first, tiles, exponent, most)


def _codes(cells: Float[Tensor, "h p r"], size: Float[Tensor, "h p r"], exponent: int) -> Float16[Tensor, "h p r"]:
    """Returns float16 numbers that represent values, of magnitude `size`, divided by 2 ** exponent."""
    scaled = torch.ldexp(cells, torch.tensor(-exponent))
    signed = scaled.half()
    nearest = signed.abs()
    below = nearest.view(torch.int16).int().sub_((nearest > scaled.abs_()).int())
    up = size >= torch.index_select(_ups(exponent), 0, below.clamp(max=INFINITE).flatten()).view_as(size)
    codes = below.add_(up.int()).to(torch.int16).view(torch.float16)
    return codes.masked_fill_((codes == 0) & (size > 0), LEAST).copysign_(signed)


@tensor_lru_cache(64)
def _ups(exponent: int) -> Float[Tensor, " code"]:
    """Returns for each float16, by its bits, the smallest magnitude that the next one represents.

    That is the middle between both, or the number at which the third digit changes between them.
    """
    values = torch.arange(INFINITE + 1, dtype=torch.int16).view(torch.float16).double() * 2.0**exponent
    lowest, highest = (math.log10(2) * (exponent + power) for power in (NORMAL, TOP + 1))
    found = turns(math.floor(lowest), math.ceil(highest))
    before = torch.searchsorted(values, found.double()) - 1  # the last float16 before each change
    normal = before >= 1 << 10
    ups = torch.cat(((values[:-1] + values[1:]) / 2, torch.tensor([math.nan]))).float()
    ups[before[normal]] = found[normal]
    return ups


def _pool_signed(value: Float[Tensor, "h n m"], tiles: tuple[int, int]) -> tuple[Tensor, Int16[Tensor, "h p r"]]:
    """Returns the value of largest magnitude of every tile, and its place; minus infinity only if there is nothing else."""
    down, across = tiles
    missing = (0, -value.shape[2] % across, 0, -value.shape[1] % down)
    padded = F.pad(value, missing, value=math.nan)
    flat = rearrange(padded, "h (p i) (r j) -> h p r (i j)", i=down, j=across)
    size = flat.abs().nan_to_num(-2.0, -1.0, -1.0)  # padding is below masked values, and these below every number
    at = size.argmax(-1, keepdim=True)
    return flat.gather(-1, at)[..., 0].contiguous(), at[..., 0].to(torch.int16)


def payload(header: dict[str, Any], drawn: Sequence[Matrix], mask: Bool[Tensor, "q k"] | None) -> bytes:
    """Returns a message: a header, codes and places of each matrix as u16, and the mask as bits.

    The first bit of a byte is the highest; rows are padded to bytes.
    """
    header = header | {"matrices": [_matrix_header(header["matrices"][i], each) for i, each in enumerate(drawn)]}
    header["masked"] = mask is not None
    tensors = [tensor for each in drawn for tensor in (each.codes, each.places) if tensor is not None]
    bits = [] if mask is None else [pack_mask(mask).numpy().tobytes()]
    return frame_message(header, [*(tensor.contiguous().numpy().data for tensor in tensors), *bits])


def _matrix_header(words: dict[str, Any], drawn: Matrix) -> dict[str, Any]:
    heads, rows, columns = drawn.codes.shape
    shape = {"sent": heads, "first": drawn.first, "high": rows, "broad": columns, "tiles": drawn.tiles}
    return words | shape | {"exponent": drawn.exponent, "most": drawn.most, "places": drawn.places is not None}


def pack_mask(mask: Bool[Tensor, "q k"]) -> UInt8[Tensor, "q b"]:
    """Returns one bit per pair, eight to a byte, the first one highest."""
    padded = F.pad(mask, (0, -mask.shape[1] % 8)).to(torch.uint8)
    bits = rearrange(padded, "q (b i) -> q b i", i=8)
    return (bits << torch.arange(7, -1, -1, dtype=torch.uint8)).sum(-1, dtype=torch.uint8)


def encode_steps(config: Config, found: dict[str, Tensor], names: Sequence[str]) -> list[Matrix]:
    """Returns the matrices of these steps, masked weights as minus infinity.

    Of a matrix that is too large with all its heads, only that of the selected head is included. `found` is the result
    of `steps.values.values` for the config, of all heads, or with the squares of the selected head alone.
    """
    plan, shown = by_name(config), dict(found)
    if "mask" in found:  # masked is not the same as zero
        for name in {"weights", FIRST, SECOND} & found.keys():
            shown[name] = found[name].masked_fill(~found["mask"], -math.inf)
    return [_of_heads(config, plan[name], shown[name]) for name in names]


def _of_heads(config: Config, step: Step, value: Tensor) -> Matrix:
    if not step.by_head:
        return matrix(value[None])
    heads, rows, columns = step.shape
    focus = config.head * heads // config.heads
    if len(value) < heads:
        return matrix(value, focus)
    if heads * min(rows, SIDE) * min(columns, SIDE) > CELLS:
        return matrix(value[focus : focus + 1], focus)
    return matrix(value)
