"""Encodes matrices of any sign and size as bytes, from which the browser draws the steps.

A value is sent as a float of 16 bits after a power of two was factored out of the whole matrix, so that its largest
magnitude is near the top of what 16 bits hold. Rounding preserves the first three significant digits, down to 10^-9 of
the largest; minus infinity is preserved. If a side is longer than `SIDE`, a cell represents several values and has the
one of the largest magnitude, and its place.

A difference of two sides, A and B, is a matrix with two more: what both have at the places of its cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Bool, Float, Float16, Int16, UInt8
from torch import Tensor

from attention.config import Config
from attention.operations.differential import FIRST, SECOND
from attention.runtime.tensor_cache import tensor_lru_cache
from attention.steps.compared import Configs, Found, comparable, own_head, plans, value_of_a
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
WEIGHTS = frozenset({"weights", FIRST, SECOND})
ZERO_IF_MASKED = WEIGHTS | {"mask"}  # steps in which a masked pair counts as zero


@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix, or one per head, as it is sent: `codes (h p r)`, `places (h p r)` in a tile, None if tiles are cells.

    `first` is the number of the first head that is included; `tiles`: rows and columns of a cell; `exponent`: a value
    is its code times 2 to this; `most`: the largest magnitude of each head, excluding infinities. `sides`: of a difference,
    the numbers of A and of B in the same cells, minus infinity where a pair is masked.
    """

    codes: Float16[Tensor, "h p r"]
    places: Int16[Tensor, "h p r"] | None
    first: int
    tiles: tuple[int, int]
    exponent: int
    most: tuple[float, ...]
    sides: tuple[Matrix, Matrix] | None = None


def matrix(value: Float[Tensor, "h r c"] | Bool[Tensor, "h r c"], first: int = 0) -> Matrix:
    """Returns the matrix of some heads, ready to be sent; booleans become ones and zeros."""
    value = value.float()
    rows, columns = value.shape[1:]
    tiles = -(-rows // SIDE), -(-columns // SIDE)
    places = None if tiles == (1, 1) else _largest_places(value.abs().nan_to_num(-2.0, -1.0, -1.0), tiles)
    return _encode(value, places, tiles, first)


def difference(
    a: Float[Tensor, "h r c"], b: Float[Tensor, "h r c"], first: int = 0, masked_is_zero: bool = False
) -> Matrix:
    """Returns B minus A of some heads, ready to be sent; what is masked is minus infinity on either side.

    NaN if both sides mask a pair. If one does, its number counts as zero where `masked_is_zero`, as weights are; otherwise
    the difference is infinite. Such pairs come before others with differences of the same size.
    """
    hidden = [each == -math.inf for each in (a, b)]
    before, after = (
        each.masked_fill(masked, 0.0) if masked_is_zero else each for each, masked in zip((a, b), hidden, strict=True)
    )
    change = (after - before).masked_fill_(hidden[0] & hidden[1], math.nan)
    order = change.abs().masked_fill_(hidden[0] & hidden[1], -1.0)
    order = torch.where(hidden[0] ^ hidden[1], order.clamp_(min=torch.finfo(order.dtype).tiny), order)
    tiles = -(-change.shape[1] // SIDE), -(-change.shape[2] // SIDE)
    places = None if tiles == (1, 1) else _largest_places(order, tiles)
    made, *sides = (_encode(each, places, tiles, first) for each in (change, a, b))
    return replace(made, sides=(sides[0], sides[1]))


def _encode(
    value: Float[Tensor, "h n m"], places: Int16[Tensor, "h p r"] | None, tiles: tuple[int, int], first: int
) -> Matrix:
    """Returns the numbers at the places of every tile, or all of them."""
    cells = (
        value if places is None else _tiles_of(value, tiles).gather(-1, places.long()[..., None])[..., 0].contiguous()
    )
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


def _tiles_of(value: Float[Tensor, "h n m"], tiles: tuple[int, int]) -> Float[Tensor, "h p r i"]:
    """Returns the numbers of every tile; minus infinity fills those at the ends."""
    down, across = tiles
    missing = (0, -value.shape[2] % across, 0, -value.shape[1] % down)
    return rearrange(F.pad(value, missing, value=-math.inf), "h (p i) (r j) -> h p r (i j)", i=down, j=across)


def _largest_places(order: Float[Tensor, "h n m"], tiles: tuple[int, int]) -> Int16[Tensor, "h p r"]:
    """Returns the place of the largest number of every tile."""
    return _tiles_of(order, tiles).argmax(-1).to(torch.int16)


def payload(header: dict[str, Any], drawn: Sequence[Matrix], mask: Bool[Tensor, "q k"] | None) -> bytes:
    """Returns a message: a header, codes and places of each matrix as u16, and the mask as bits.

    The first bit of a byte is the highest; rows are padded to bytes.
    """
    header = header | {"matrices": [_matrix_header(header["matrices"][i], each) for i, each in enumerate(drawn)]}
    header["masked"] = mask is not None
    tensors = [
        tensor
        for each in drawn
        for tensor in (each.codes, each.places, *(side.codes for side in each.sides or ()))
        if tensor is not None
    ]
    bits = [] if mask is None else [pack_mask(mask).numpy().tobytes()]
    return frame_message(header, [*(tensor.contiguous().numpy().data for tensor in tensors), *bits])


def _matrix_header(words: dict[str, Any], drawn: Matrix) -> dict[str, Any]:
    heads, rows, columns = drawn.codes.shape
    shape = {"sent": heads, "first": drawn.first, "high": rows, "broad": columns, "tiles": drawn.tiles}
    numbers = {"exponent": drawn.exponent, "most": drawn.most, "places": drawn.places is not None}
    if drawn.sides is None:
        return words | shape | numbers
    sides = [side.exponent for side in drawn.sides]
    return words | shape | numbers | {"sides": sides, "of": words["scale"], "scale": "difference"}


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
    plan, shown = by_name(config), _with_masked(found)
    return [matrix(*_heads_to_send(config, plan[name], shown[name])) for name in names]


def encode_differences(configs: Configs, found: Found, names: Sequence[str], alone: bool) -> list[Matrix]:
    """Returns B minus A of these steps, and of those that can't be subtracted the matrix of B.

    `alone`: whether the selected head of A is compared with that of B, and no other head.
    """
    before, after = plans(configs)
    a, b = map(_with_masked, found)
    same, made = comparable(configs, alone), []
    for name in names:
        if name not in same:
            made.append(matrix(*_heads_to_send(configs[1], after[name], b[name])))
            continue
        one, _ = _heads_to_send(configs[0], before[name], value_of_a(configs[0], before, a, name), alone)
        two, first = _heads_to_send(configs[1], after[name], b[name], alone)
        made.append(difference(_numbers(one), _numbers(two), first, name in ZERO_IF_MASKED))
    return made


def _numbers(value: Tensor) -> Tensor:
    """Returns a matrix in float32; of a mask, a masked pair is minus infinity."""
    return value.float().masked_fill(~value, -math.inf) if value.dtype == torch.bool else value.float()


def _with_masked(found: dict[str, Tensor]) -> dict[str, Tensor]:
    """Returns the tensors with masked weights as minus infinity: masked is not the same as zero."""
    if "mask" not in found:
        return found
    mask = found["mask"]
    return found | {name: found[name].masked_fill(~mask, -math.inf) for name in WEIGHTS & found.keys()}


def _heads_to_send(config: Config, step: Step, value: Tensor, alone: bool = False) -> tuple[Tensor, int]:
    """Returns the heads of a matrix that are sent, and the number of the first; `alone`: only the selected one."""
    if not step.by_head:
        return value[None], 0
    heads, rows, columns = step.shape
    focus = own_head(config, step)
    if len(value) < heads:
        return value, focus
    if alone or heads * min(rows, SIDE) * min(columns, SIDE) > CELLS:
        return value[focus : focus + 1], focus
    return value, 0
