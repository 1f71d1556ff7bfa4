"""Pools cells into tiles along either axis: sums and maxima of weights.

torch reduces a middle axis many times as fast as a short last one. Keys are the rows of a piece, so their tiles are
middle axes of any size. For queries, which are its columns, the first queries of all tiles may come first, then all
second ones, and so on (`tile_order`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.runtime.tensor_cache import tensor_lru_cache

SHORT = 16  # tile size up to which pooling is faster if the cells of a tile are not adjacent
LANES = 32  # number of adjacent values from which torch vectorises a reduction of a middle axis


class Pool(NamedTuple):
    """How the cells of a tile are reduced to one value, and how it is joined in place with the tile's earlier value."""

    reduce: Callable[..., Tensor]
    join: Callable[[Tensor, Tensor], object]


SUM = Pool(torch.sum, Tensor.add_)
GREATEST = Pool(torch.amax, lambda into, found: torch.maximum(into, found, out=into))


def _extreme(cells: Tensor, dim: int, out: Tensor | None = None) -> Tensor:
    """Returns the value of largest magnitude, with its sign."""
    most, least = cells.amax(dim), cells.amin(dim)
    return (
        torch.where(-least > most, least, most, out=out) if out is not None else torch.where(-least > most, least, most)
    )


EXTREME = Pool(_extreme, lambda into, found: torch.where(found.abs() > into.abs(), found, into, out=into))


def add(
    tiles: Float[Tensor, "p r"], cells: Float[Tensor, "w r"], at: int, tile: int, known: int | None = None
) -> list[Float[Tensor, "_ r"]]:
    """Adds cells to their tiles and returns the sums by tile; the first cell has index `at` in its column.

    `known`: how many tiles hold values of earlier cells, all by default; the others are overwritten.
    """
    return _pool_into(SUM, tiles, cells, at, tile, known)


def pool_maxima(
    tiles: Float[Tensor, "p r"],
    cells: Float[Tensor, "w r"],
    at: int,
    tile: int,
    known: int | None = None,
    pool: Pool = GREATEST,
) -> list[Float[Tensor, "_ r"]]:
    """Raises tiles to the maximum of their cells, as `add` adds them; returns the maxima by tile.

    With the pool EXTREME, tiles have the cell of largest magnitude instead.
    """
    return _pool_into(pool, tiles, cells, at, tile, known)


def _pool_into(
    pool: Pool, tiles: Float[Tensor, "p r"], cells: Float[Tensor, "w r"], at: int, tile: int, known: int | None
) -> list[Float[Tensor, "_ r"]]:
    found, known = [], len(tiles) if known is None else known
    for first, start, stop, size in stretches(at, len(cells), tile):
        part = (cells if stop - start == len(cells) else cells[start:stop]).view(-1, size, cells.shape[1])
        into = tiles[first : first + len(part)]
        if first >= known:
            found.append(pool.reduce(part, 1, out=into) if size > 1 else into.copy_(part[:, 0]))
        else:
            found.append(pool.reduce(part, 1) if size > 1 else part[:, 0])
            pool.join(into, found[-1])
    return found


def by_rows(
    pool: Pool, tiles: Float[Tensor, "a p"], cells: Float[Tensor, "p r"], at: int, tile: int, ordered: bool
) -> None:
    """Pools columns of cells, the first with index `at`, into rows of tiles; `ordered`: if in the order of `tile_order`."""
    if not ordered:
        turned = cells.T.contiguous() if tile <= SHORT else cells.T  # reducing along a short last axis is slow
        _pool_into(pool, tiles, turned, at, tile, None)
        return
    for first, start, stop, size in stretches(at, cells.shape[1], tile):
        part = cells[:, start:stop]
        whole = size == tile
        found = pool.reduce(part.unflatten(1, (tile, -1) if whole else (-1, size)), 1 if whole else 2)
        pool.join(tiles[first : first + found.shape[1]], found.T)


def tile_order(at: int, width: int, tile: int) -> Int[Tensor, " r"] | None:
    """An order of rows for pooling: the first rows of all whole tiles, then all second ones, and so on.

    The first row has index `at`. Returns None if the rows are pooled at least as fast unordered.
    """
    if not 1 < tile <= SHORT:
        return None
    longest = max(stop - start for _, start, stop, _ in stretches(at, width, tile))
    return _tile_order(at % tile, width, tile) if longest >= LANES * tile else None


@tensor_lru_cache(2 * SHORT)
def _tile_order(at: int, width: int, tile: int) -> Int[Tensor, " r"]:
    every = torch.arange(width)
    return torch.cat(
        [
            every[start:stop].view(-1, tile).T.flatten() if size == tile else every[start:stop]
            for _, start, stop, size in stretches(at, width, tile)
        ]
    )


def stretches(at: int, width: int, tile: int) -> Iterator[tuple[int, int, int, int]]:
    """Yields first tile, start, stop and cells per tile: the rest of a tile, whole tiles, the start of the last."""
    lead = min(-at % tile, width)
    last = lead + (width - lead) // tile * tile
    for start, stop, size in ((0, lead, lead), (lead, last, tile), (last, width, width - last)):
        if stop > start:
            yield (at + start) // tile, start, stop, size
