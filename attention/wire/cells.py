"""Weights to bytes: what the browser draws the heads from.

A weight travels as a code of 16 bits: a float with 5 bits of exponent and 11 of mantissa, cut from the middle of a
float32, so that coding is a shift and codes are in the order of their weights. It is rounded to the side on which its
first three digits stay what they are. Where a head has more cells than `side` a side, a cell stands for a tile of tokens
and carries the greatest weight in it, and where in the tile that stands.

With the codes goes how many keys the queries see: a weight times that is how many times the even share it is. Of a cell
that is known to be of one query it is exact; of a tile of which only the greatest weight is known it is the mean of
the tile's queries.
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

from attention.runtime.tensor_cache import tensor_lru_cache
from attention.trace import SHARED
from attention.wire.message import frame_message, turns

MASKED, ZERO, LEAST, ONE = 0, 1, 2, 65535  # codes: hidden by the mask, exactly zero, the least weight, a weight of one
BITS = 12  # of the 23 in a mantissa that a code drops; while a tile is pooled they say where its greatest stands
SHIFT = (127 << 23 >> BITS) - ONE  # what lies between the upper bits of a float32 and its code
NOTHING = torch.iinfo(torch.int32).min  # less than the bits of any weight, a zero with a sign included
WIDEST = 16  # tokens a side of the largest tile whose places fit into a byte


@dataclass(frozen=True, eq=False)
class Cells:
    """What the squares of all heads show.

    `codes (h p r)`: one a tile of `tile` x `tile` tokens, `p` over queries, `r` over keys. `places (h p r)`: where in
    its tile the greatest weight stands, row x tile + column; None where tiles are single tokens, or nobody knows.
    `queries`, `keys`: tokens on either side. `seeing (s m)`: keys in sight of each query, or their mean by row of tiles where
    places are not known; one line for all heads (s = 1), or one a head. `most (h)`: the greatest code of each head in rows
    that see more than one key, of all where there are none.
    """

    codes: UInt16[Tensor, "h p r"]
    argmax_in_tile: UInt8[Tensor, "h p r"] | None
    tile: int
    queries: int
    keys: int
    visible_keys: Float[Tensor, "s m"]
    max_code: Int[Tensor, " h"]


def cells(
    weights: Float[Tensor, "h q k"], mask: Bool[Tensor, "*h q k"], side: int, executor: Executor | None = None
) -> Cells:
    """The cells of weights from 0 to 1, at most `side` by `side` a head; exact (one token a cell) up to `side` tokens.

    `mask` is True where a query may see a key. A cell is masked only where its whole tile is. Of weights in a tile that
    are closer together than 1 in 2048, the first stands for both. Threads of an `executor` share the heads of large ones.
    """
    queries, keys = weights.shape[-2:]
    tile = -(-max(queries, keys) // side)
    seeing = mask.sum(-1).reshape(-1, queries)
    if tile == 1:
        return _cells(_codes(weights.float(), mask), None, tile, seeing, keys)
    shared = executor if weights.numel() > SHARED else None
    pooled = list((shared.map if shared else map)(partial(_pool_tiles, tile=tile), weights.float()))
    greatest, places = (torch.stack(parts) for parts in zip(*pooled, strict=True))
    where = places.to(torch.uint8) if tile <= WIDEST else None
    return _cells(_codes(greatest, _any(mask, tile)), where, tile, seeing, keys)


def pixel_cells(
    pixels: Float[Tensor, "h p r"], visible: Bool[Tensor, "*h p r"], tile: int, seeing: Int[Tensor, " q"], keys: int
) -> Cells:
    """The cells of a map that was pooled elsewhere; `visible` is False where a whole tile is masked.

    `seeing`: how many keys each of its queries sees, those beyond its `keys` too.
    """
    return _cells(_codes(pixels.float(), visible), None, tile, seeing[None], keys)


def weights(codes: UInt16[Tensor, "*any"]) -> Float[Tensor, "*any"]:
    """The weights that codes stand for, the same to three digits and within 1 in 2048; masked ones as NaN."""
    whole = codes.to(torch.int32)
    coded = ((whole + SHIFT) << BITS).view(torch.float32)
    return coded.masked_fill(whole == ZERO, 0.0).masked_fill(whole == MASKED, torch.nan)


def payload(header: dict[str, Any], cells: Cells) -> bytes:
    """One message to the browser: a header, which gains what the reader needs to know of the cells; codes, places."""
    heads, rows, columns = cells.codes.shape
    shape = {"heads": heads, "rows": rows, "columns": columns, "tile": cells.tile, "queries": cells.queries}
    shape |= {"keys": cells.keys, "places": cells.argmax_in_tile is not None, "shift": SHIFT, "bits": BITS}
    shape |= {"sights": list(cells.visible_keys.shape), "most": cells.max_code.tolist()}
    tensors = (
        [cells.codes, cells.visible_keys]
        if cells.argmax_in_tile is None
        else [cells.codes, cells.argmax_in_tile, cells.visible_keys]
    )
    return frame_message(header | shape, [tensor.numpy().data for tensor in tensors])


def _cells(
    codes: UInt16[Tensor, "h p r"],
    places: UInt8[Tensor, "h p r"] | None,
    tile: int,
    seeing: Int[Tensor, "s q"],
    keys: int,
) -> Cells:
    """The cells with what follows from how many keys each query sees."""
    queries, known = seeing.shape[1], tile == 1 or places is not None
    sights = seeing.float() if known else _mean(seeing, tile)
    return Cells(codes, places, tile, queries, keys, sights, _most(codes, places, tile, seeing))


def _mean(seeing: Int[Tensor, "s q"], tile: int) -> Float[Tensor, "s p"]:
    """The mean by row of tiles over the queries that see anything."""
    rows = _pad_to_tiles(seeing, tile).unflatten(-1, (-1, tile))
    return rows.sum(-1) / (rows > 0).sum(-1).clamp(min=1)


def _most(
    codes: UInt16[Tensor, "h p r"], places: UInt8[Tensor, "h p r"] | None, tile: int, seeing: Int[Tensor, "s q"]
) -> Int[Tensor, " h"]:
    """The greatest code of each head, cells of queries that see one key aside; what sees only itself gives it all."""
    lone, whole = (seeing == 1).to(torch.uint8), codes.int()
    if places is None:  # a row of tiles with such a query is left out
        aside = reduce(_pad_to_tiles(lone, tile), "s (p i) -> s p 1", "max", i=tile)
    else:
        first = torch.arange(codes.shape[1])[:, None] * tile
        aside = lone.expand(len(codes), -1).gather(1, (first + places.long() // tile).flatten(1)).view(codes.shape)
    found, every = (whole * (1 - aside)).amax((1, 2)), whole.amax((1, 2))
    return torch.where(found > ZERO, found, every)


def _pool_tiles(head: Float[Tensor, "q k"], tile: int) -> tuple[Float[Tensor, "p r"], Int[Tensor, "p r"]]:
    """The greatest of each tile, and where in it that stands, which is known up to 64 tokens a side.

    Bits of weights, rounded to those of a code, with places in those below, counted from the tile's end, make one integer
    maximum find both. Rows first: they are contiguous, columns then few.
    """
    place = torch.arange(head.shape[1], dtype=torch.int32) % tile
    counts = tile <= 1 << BITS // 2  # beyond, places don't fit into the low bits and nobody asks for them
    best = torch.full((-(-head.shape[0] // tile), head.shape[1]), NOTHING, dtype=torch.int32)
    for row in range(min(tile, head.shape[0])):
        marked = _bits(head[row::tile])
        if counts:
            ahead = tile * tile - 1 - row * tile - place
            marked = marked.add(1 << BITS - 1).bitwise_and_(-1 << BITS).bitwise_or_(ahead)
        torch.maximum(best[: len(marked)], marked, out=best[: len(marked)])
    best = reduce(_pad_to_tiles(best, tile, NOTHING), "p (r j) -> p r", "max", j=tile)
    if not counts:
        return best.view(torch.float32), best
    found = tile * tile - 1 - (best & (1 << BITS) - 1)
    down, across = (torch.arange(size) * tile for size in best.shape)
    within = torch.arange(tile)[:, None] * head.shape[1] + torch.arange(tile)
    corner = down[:, None] * head.shape[1] + across
    there = torch.index_select(within.flatten(), 0, found.flatten()).add_(corner.flatten())
    return torch.index_select(head.flatten(), 0, there).view_as(found), found


def _codes(weights: Float[Tensor, "h p r"], visible: Bool[Tensor, "*h p r"]) -> UInt16[Tensor, "h p r"]:
    """Codes of weights from 0 to 1: those too small for a code get the least that is not zero.

    In sums and products, as comparing and filling in takes six times as long; a weight of zero may have a sign.
    """
    bits = _bits(weights)
    below = (bits >> BITS).sub_(SHIFT).clamp_(0, ONE)  # the code below a weight
    upper = torch.index_select(_ups(), 0, below.flatten()).view_as(bits).add_(bits) >> BITS
    some = upper.clamp(0, 1)  # 0 where nothing is
    codes = upper.sub_(SHIFT).clamp_(LEAST, ONE).add_(some, alpha=LEAST - ZERO).sub_(LEAST - ZERO)
    return codes.mul_(visible.to(codes.dtype)).to(torch.uint16)


def _bits(values: Float[Tensor, "*any"]) -> Int[Tensor, "*any"]:
    """Those of float32 values."""
    return values.contiguous().view(torch.int32)


@tensor_lru_cache(1)
def _ups() -> Int[Tensor, " code"]:
    """For each code, what to add to the bits of a weight between it and the next, so that cutting them off rounds right.

    That is to the nearer one, or, where three digits change in between, to the one on the weight's side of that place.
    """
    ups = torch.full((ONE + 1,), 1 << BITS - 1, dtype=torch.int32)
    first = _bits(turns(-11, 0))
    last = first[first > SHIFT + LEAST << BITS] - 1  # the bits right before it
    ups[(last >> BITS) - SHIFT] = (1 << BITS) - 1 - (last & (1 << BITS) - 1)
    return ups


def _any(mask: Bool[Tensor, "*h q k"], tile: int) -> Bool[Tensor, "*h p r"]:
    """Is anything seen in a tile?"""
    rows = _pad_to_tiles(mask.transpose(-1, -2).to(torch.uint8), tile)
    seen = reduce(rows, "... k (p i) -> ... p k", "max", i=tile)
    return reduce(_pad_to_tiles(seen, tile), "... p (r j) -> ... p r", "max", j=tile).bool()


def _pad_to_tiles(values: Tensor, tile: int, fill: int = 0) -> Tensor:
    """Filled at the end of the last axis, up to a whole number of tiles."""
    missing = -values.shape[-1] % tile
    return F.pad(values, (0, missing), value=fill) if missing else values
