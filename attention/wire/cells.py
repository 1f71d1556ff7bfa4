"""Encodes weights as bytes, from which the browser draws the heads.

A weight is sent as a code of 16 bits: a float with 5 bits of exponent and 11 of mantissa, cut from the middle of a
float32, so that encoding is a shift and codes have the order of their weights. Rounding preserves the first three
significant digits. If a head has more than `side` cells per side, a cell represents a tile of tokens and has the
largest weight in it, and its place in the tile.

If weights may be negative, a code has a sign in its highest bit and one bit of the mantissa less, which still gives three
digits. The largest weight of a tile is then the one of the largest magnitude.

The number of visible keys of the queries is sent with the codes: a weight times that number is the weight relative to
the uniform weight. It is exact for a cell that is known to be of one query; for a tile of which only the largest weight
is known, it is the mean of the tile's queries.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import torch
from einops import reduce
from jaxtyping import Bool, Float, Int, UInt8, UInt16
from torch import Tensor
from torch.nn import functional as F

from attention.runtime.tensor_cache import tensor_lru_cache
from attention.trace import SHARED
from attention.wire.kept_bytes import Kept, frame_kept
from attention.wire.message import turns

MASKED, ZERO, LEAST = 0, 1, 2  # codes: masked, exactly zero, the smallest other weight


class Coding(NamedTuple):
    """How magnitudes become codes: `one` is the code of one, `bits` are dropped from the 23 of a mantissa."""

    one: int
    bits: int

    @property
    def shift(self) -> int:
        """The difference of the upper bits of a float32 and its code."""
        return (127 << 23 >> self.bits) - self.one


PLAIN, WITH_SIGN = Coding(65535, 12), Coding(32767, 13)  # of weights that are all positive, and of others
SIGN = 1 << 15  # the bit of a code with a sign that negative weights have
ONE, SHIFT = PLAIN.one, PLAIN.shift
BITS = PLAIN.bits  # in pooling, the bits that a code drops hold the place of the largest weight
NOTHING = torch.iinfo(torch.int32).min  # less than the bits of any weight, including a zero with a sign
WIDEST = 16  # tokens per side of the largest tile whose places fit into a byte


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of the squares of all heads.

    `codes (h p r)`: one per tile of `tile` x `tile` tokens, `p` over queries, `r` over keys. `argmax_in_tile (h p r)`:
    the place of the largest weight in its tile, row x tile + column; None if tiles are single tokens, or if it is not
    known. `queries`, `keys`: tokens per side. `visible_keys (s m)`: visible keys of each query, or their mean per row
    of tiles if places are not known; one row for all heads (s = 1), or one per head. `max_code (h)`: the largest code
    of each head, ignoring rows with a single visible key unless all rows are such; without its sign if codes are `signed`.
    `sums`: those of all rows, if shown. `pool`: "max" if a tile has its largest weight, "mean" if it has their mean.
    """

    codes: UInt16[Tensor, "h p r"]
    argmax_in_tile: UInt8[Tensor, "h p r"] | None
    tile: int
    queries: int
    keys: int
    visible_keys: Float[Tensor, "s m"]
    max_code: Int[Tensor, " h"]
    sums: Float[Tensor, "h q"] | None = None
    signed: bool = False
    pool: str = "max"


def cells(
    weights: Float[Tensor, "h q k"],
    mask: Bool[Tensor, "*h q k"],
    side: int,
    executor: Executor | None = None,
    with_sums: bool = False,
    signed: bool = False,
    seeing: Int[Tensor, "*h q"] | None = None,
) -> Cells:
    """Returns the cells of weights, at most `side` by `side` per head; exact (one token each) up to `side` tokens.

    Weights are from 0 to 1, or from -1 to 1 if `signed`. `mask` is True for visible keys. A cell is masked only if its whole
    tile is. Of weights in a tile that are closer together than 1 in 2048, the first represents both. Threads of an
    `executor` share the heads if these are large. The cells are given the sums of the rows if `with_sums`, and if a cell is
    one token. `seeing`: the number of visible keys of each query, if weights are only a part of its row.
    """
    queries, keys = weights.shape[-2:]
    tile = -(-max(queries, keys) // side)
    seeing = (mask.sum(-1) if seeing is None else seeing).reshape(-1, queries)
    if tile == 1:
        found = _cells(_codes(weights.float(), mask, signed), None, tile, seeing, keys, signed)
        return replace(found, sums=weights.sum(-1).float().contiguous()) if with_sums else found
    shared = executor if weights.numel() > SHARED else None
    pool = partial(_pool_signed if signed else _pool_tiles, tile=tile)
    pooled = list((shared.map if shared else map)(pool, weights.float()))
    greatest, places = (torch.stack(parts) for parts in zip(*pooled, strict=True))
    where = places.to(torch.uint8) if tile <= WIDEST else None
    return _cells(_codes(greatest, _any(mask, tile), signed), where, tile, seeing, keys, signed)


def mean_cells(weights: Float[Tensor, "h q k"], mask: Bool[Tensor, "q k"], side: int) -> Cells:
    """Returns the cells of weights, at most `side` by `side` per head, each the mean of its tile; masked pairs count as 0."""
    queries, keys = weights.shape[-2:]
    tile = -(-max(queries, keys) // side)
    pixels = F.avg_pool2d(weights.float(), tile, ceil_mode=True)
    return replace(pixel_cells(pixels, _any(mask, tile), tile, mask.sum(-1), keys), pool="mean")


def pixel_cells(
    pixels: Float[Tensor, "h p r"],
    visible: Bool[Tensor, "*h p r"],
    tile: int,
    seeing: Int[Tensor, " q"],
    keys: int,
    signed: bool = False,
) -> Cells:
    """Returns the cells of a map that was pooled elsewhere; `visible` is False for a tile that is masked as a whole.

    `seeing`: the number of visible keys of each query, including those beyond `keys`.
    """
    return _cells(_codes(pixels.float(), visible, signed), None, tile, seeing[None], keys, signed)


def weights(codes: UInt16[Tensor, "*any"], signed: bool = False) -> Float[Tensor, "*any"]:
    """Returns the weights of codes, exact to three digits and within 1 in 2048, 1024 if signed; masked ones are NaN."""
    coding, whole = WITH_SIGN if signed else PLAIN, codes.to(torch.int32)
    size = whole & ~SIGN if signed else whole
    coded = ((size + coding.shift) << coding.bits).view(torch.float32)
    coded = torch.where(size < whole, -coded, coded)
    return coded.masked_fill(size == ZERO, 0.0).masked_fill(size == MASKED, torch.nan)


def payload(header: dict[str, Any], cells: Cells, kept: Kept | None = None) -> bytes:
    """Returns a message to the browser: the header with the shape of the cells added, codes, places, and visible keys.

    `kept`: whether the browser keeps all but the header.
    """
    heads, rows, columns = cells.codes.shape
    shape = {"heads": heads, "rows": rows, "columns": columns, "tile": cells.tile, "queries": cells.queries}
    coding = WITH_SIGN if cells.signed else PLAIN
    shape |= {"keys": cells.keys, "places": cells.argmax_in_tile is not None}
    shape |= {"shift": coding.shift, "bits": coding.bits} | ({"signed": True} if cells.signed else {})
    shape |= {"sights": list(cells.visible_keys.shape), "most": cells.max_code.tolist(), "sums": cells.sums is not None}
    given = cells.codes, cells.argmax_in_tile, cells.visible_keys, cells.sums
    tensors = [each for each in given if each is not None]
    return frame_kept(header | shape, [], [tensor.numpy().data for tensor in tensors], kept)


def _cells(
    codes: UInt16[Tensor, "h p r"],
    places: UInt8[Tensor, "h p r"] | None,
    tile: int,
    seeing: Int[Tensor, "s q"],
    keys: int,
    signed: bool,
) -> Cells:
    """Returns the cells, with what follows from the number of visible keys of each query."""
    queries, known = seeing.shape[1], tile == 1 or places is not None
    sights = seeing.float() if known else _mean(seeing, tile)
    most = _most(codes.int() & ~SIGN if signed else codes.int(), places, tile, seeing)
    return Cells(codes, places, tile, queries, keys, sights, most, signed=signed)


def _mean(seeing: Int[Tensor, "s q"], tile: int) -> Float[Tensor, "s p"]:
    """Returns the mean per row of tiles over the queries with a visible key."""
    rows = _pad_to_tiles(seeing, tile).unflatten(-1, (-1, tile))
    return rows.sum(-1) / (rows > 0).sum(-1).clamp(min=1)


def _most(
    codes: Int[Tensor, "h p r"], places: UInt8[Tensor, "h p r"] | None, tile: int, seeing: Int[Tensor, "s q"]
) -> Int[Tensor, " h"]:
    """Returns the largest code of each head, excluding queries with one visible key, to which they give all weight."""
    lone = (seeing == 1).to(torch.uint8)
    if places is None:  # rows of tiles with such a query are excluded
        aside = reduce(_pad_to_tiles(lone, tile), "s (p i) -> s p 1", "max", i=tile)
    else:
        first = torch.arange(codes.shape[1])[:, None] * tile
        aside = lone.expand(len(codes), -1).gather(1, (first + places.long() // tile).flatten(1)).view(codes.shape)
    found, every = (codes * (1 - aside)).amax((1, 2)), codes.amax((1, 2))
    return torch.where(found > ZERO, found, every)


def _pool_tiles(head: Float[Tensor, "q k"], tile: int) -> tuple[Float[Tensor, "p r"], Int[Tensor, "p r"]]:
    """Returns the largest weight of each tile, and its place in the tile, which is known up to 64 tokens per side.

    Bits of weights, rounded to those of a code, with places in the bits below, counted from the tile's end, make one
    integer maximum find both. Rows are pooled first, as they are contiguous; few columns are left then.
    """
    place = torch.arange(head.shape[1], dtype=torch.int32) % tile
    counts = tile <= 1 << BITS // 2  # larger places do not fit into the low bits and are not used
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


def _pool_signed(head: Float[Tensor, "q k"], tile: int) -> tuple[Float[Tensor, "p r"], Int[Tensor, "p r"]]:
    """Returns the weight of largest magnitude of each tile, with its sign, and its place, as `_pool_tiles`."""
    more, places = _pool_tiles(head.clamp(min=0), tile)
    less, others = _pool_tiles((-head).clamp_(min=0), tile)
    negative = less > more
    return torch.where(negative, -less, more), torch.where(negative, others, places)


def _codes(
    weights: Float[Tensor, "h p r"], visible: Bool[Tensor, "*h p r"], signed: bool = False
) -> UInt16[Tensor, "h p r"]:
    """Returns codes of weights from 0 to 1, or from -1 to 1 if `signed`.

    Weights too small for a code get the smallest that is not zero. Computed by sums and products, as comparing and filling
    in takes six times as long; a weight of zero may have a sign.
    """
    one, drop = coding = WITH_SIGN if signed else PLAIN
    bits = _bits(weights.abs() if signed else weights)
    below = (bits >> drop).sub_(coding.shift).clamp_(0, one)  # the code below a weight
    upper = torch.index_select(_ups(coding), 0, below.flatten()).view_as(bits).add_(bits) >> drop
    some = upper.clamp(0, 1)  # 0 for a weight of zero
    codes = upper.sub_(coding.shift).clamp_(LEAST, one).add_(some, alpha=LEAST - ZERO).sub_(LEAST - ZERO)
    if signed:
        codes.add_((weights < 0).to(codes.dtype), alpha=SIGN)
    return codes.mul_(visible.to(codes.dtype)).to(torch.uint16)


def _bits(values: Float[Tensor, "*any"]) -> Int[Tensor, "*any"]:
    """Returns the bits of float32 values."""
    return values.contiguous().view(torch.int32)


@tensor_lru_cache(2)
def _ups(coding: Coding) -> Int[Tensor, " code"]:
    """Returns for each code what to add to the bits of a weight between it and the next, so that cutting them off rounds right.

    That is to the nearer code, or, if the first three digits change in between, to the one on the weight's side of the
    change.
    """
    one, drop = coding
    ups = torch.full((one + 1,), 1 << drop - 1, dtype=torch.int32)
    first = _bits(turns(-11, 0))
    last = first[first > coding.shift + LEAST << drop] - 1  # the bits right before the change
    ups[(last >> drop) - coding.shift] = (1 << drop) - 1 - (last & (1 << drop) - 1)
    ups[one - 1] = 0  # the code of one is that of no other weight
    return ups


def _any(mask: Bool[Tensor, "*h q k"], tile: int) -> Bool[Tensor, "*h p r"]:
    """Returns whether any pair of a tile is visible."""
    rows = _pad_to_tiles(mask.transpose(-1, -2).to(torch.uint8), tile)
    seen = reduce(rows, "... k (p i) -> ... p k", "max", i=tile)
    return reduce(_pad_to_tiles(seen, tile), "... p (r j) -> ... p r", "max", j=tile).bool()


def _pad_to_tiles(values: Tensor, tile: int, fill: int = 0) -> Tensor:
    """Returns the values padded at the end of the last axis, to a whole number of tiles."""
    missing = -values.shape[-1] % tile
    return F.pad(values, (0, missing), value=fill) if missing else values
