"""Weights to bytes: what the browser draws the heads from.

A weight travels as a code of 16 bits: a float with 5 bits of exponent and 11 of mantissa, cut from the middle of a
float32, so that coding is a shift and codes are in the order of their weights. Where a head has more cells than `side`
a side, a cell stands for a tile of tokens and carries the greatest weight in it, and where in the tile that stands.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from einops import reduce
from jaxtyping import Bool, Float, Int, UInt8, UInt16
from torch import Tensor
from torch.nn import functional as F

from attention.framing import framed

MASKED, ZERO, LEAST, ONE = 0, 1, 2, 65535  # codes: hidden by the mask, exactly zero, the least weight, a weight of one
BITS = 12  # of the 23 in a mantissa that a code drops; while a tile is pooled they say where its greatest stands
SHIFT = (127 << 23 >> BITS) - ONE  # what lies between the upper bits of a float32 and its code
WIDEST = 16  # tokens a side of the largest tile whose places fit into a byte


@dataclass(frozen=True, eq=False)
class Cells:
    """What the squares of all heads show.

    `codes (h p r)`: one a tile of `tile` x `tile` tokens, `p` over queries, `r` over keys. `places (h p r)`: where in
    its tile the greatest weight stands, row x tile + column; None where tiles are single tokens, or nobody knows.
    `queries`, `keys`: tokens on either side.
    """

    codes: UInt16[Tensor, "h p r"]
    places: UInt8[Tensor, "h p r"] | None
    tile: int
    queries: int
    keys: int


def cells(
    weights: Float[Tensor, "h q k"], mask: Bool[Tensor, "*h q k"], side: int, executor: Executor | None = None
) -> Cells:
    """The cells of weights from 0 to 1, at most `side` by `side` a head; exact (one token a cell) up to `side` tokens.

    `mask` is True where a query may see a key. A cell is masked only where its whole tile is. Greatest and place are
    right to the precision of a code: of weights closer together than 1 in 4096, the first in its tile stands for both.
    Threads of an `executor` share the heads.
    """
    queries, keys = weights.shape[-2:]
    tile = -(-max(queries, keys) // side)
    if tile == 1:
        return Cells(_codes(_rounded(weights.float()) >> BITS, mask), None, tile, queries, keys)
    marked = torch.stack(list((executor.map if executor else map)(partial(_pooled, tile=tile), weights.float())))
    places = (tile * tile - 1 - (marked & (1 << BITS) - 1)).to(torch.uint8) if tile <= WIDEST else None
    return Cells(_codes(marked >> BITS, _any(mask, tile)), places, tile, queries, keys)


def pixel_cells(
    pixels: Float[Tensor, "h p r"], visible: Bool[Tensor, "*h p r"], tile: int, queries: int, keys: int | None = None
) -> Cells:
    """The cells of a map that was pooled elsewhere; `visible` is False where a whole tile is masked.

    As many `keys` as `queries`, unless they are given.
    """
    return Cells(_codes(_rounded(pixels.float()) >> BITS, visible), None, tile, queries, keys or queries)


def weights(codes: UInt16[Tensor, "*any"]) -> Float[Tensor, "*any"]:
    """The weights that codes stand for, within 1 in 4096; masked ones as NaN."""
    whole = codes.to(torch.int32)
    coded = ((whole + SHIFT) << BITS).view(torch.float32)
    return coded.masked_fill(whole == ZERO, 0.0).masked_fill(whole == MASKED, torch.nan)


def payload(header: dict[str, Any], cells: Cells) -> bytes:
    """One message to the browser: a header, which gains what the reader needs to know of the cells; codes, places."""
    heads, rows, columns = cells.codes.shape
    shape = {"heads": heads, "rows": rows, "columns": columns, "tile": cells.tile, "queries": cells.queries}
    shape |= {"keys": cells.keys, "places": cells.places is not None, "shift": SHIFT, "bits": BITS}
    tensors = [cells.codes] if cells.places is None else [cells.codes, cells.places]
    return framed(header | shape, [tensor.numpy().data for tensor in tensors])


def _rounded(values: Float[Tensor, "*any"]) -> Int[Tensor, "*any"]:
    """Bits of float32 values, rounded to those that a code keeps."""
    return values.contiguous().view(torch.int32).add(1 << BITS - 1).bitwise_and_(-1 << BITS)


def _pooled(head: Float[Tensor, "q k"], tile: int) -> Int[Tensor, "p r"]:
    """The greatest of each tile as rounded bits; the bits below say where it stands, counted from the tile's end.

    Places in the low bits make one integer maximum find both. Rows first: they are contiguous, columns then few.
    """
    place = torch.arange(head.shape[1], dtype=torch.int32) % tile
    counts = tile <= 1 << BITS // 2  # beyond, places don't fit into the low bits and nobody asks for them
    best = torch.zeros(-(-head.shape[0] // tile), head.shape[1], dtype=torch.int32)
    for row in range(min(tile, head.shape[0])):
        marked = _rounded(head[row::tile])
        marked = marked.bitwise_or_(tile * tile - 1 - row * tile - place) if counts else marked
        torch.maximum(best[: len(marked)], marked, out=best[: len(marked)])
    return reduce(_padded(best, tile), "p (r j) -> p r", "max", j=tile)


def _codes(upper: Int[Tensor, "h p r"], visible: Bool[Tensor, "*h p r"]) -> UInt16[Tensor, "h p r"]:
    """Codes of the upper bits of weights: those too small for a code get the least that is not zero.

    In sums and products, as comparing and filling in takes six times as long; a weight of zero may have a sign.
    """
    some = upper.clamp(0, 1)  # 0 where nothing is
    codes = (upper - SHIFT).clamp_(LEAST, ONE).add_(some, alpha=LEAST - ZERO).sub_(LEAST - ZERO)
    return codes.mul_(visible.to(codes.dtype)).to(torch.uint16)


def _any(mask: Bool[Tensor, "*h q k"], tile: int) -> Bool[Tensor, "*h p r"]:
    """Is anything seen in a tile?"""
    rows = _padded(mask.transpose(-1, -2).to(torch.uint8), tile)
    seen = reduce(rows, "... k (p i) -> ... p k", "max", i=tile)
    return reduce(_padded(seen, tile), "... p (r j) -> ... p r", "max", j=tile).bool()


def _padded(values: Tensor, tile: int) -> Tensor:
    """With zeros at the end of the last axis, up to a whole number of tiles."""
    missing = -values.shape[-1] % tile
    return F.pad(values, (0, missing)) if missing else values
