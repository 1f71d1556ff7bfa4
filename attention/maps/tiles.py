"""Cells brought into their tiles, along either axis: the sums of weights, and the greatest of them.

torch reduces a middle axis many times as fast as a short last one. Keys lie down a piece, so their tiles are middle axes of
any size. Of queries, which lie across it, the first of each tile may come first, then all second ones, and so on (`apart`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.runtime.tensor_cache import tensor_lru_cache

SHORT = 16  # cells of a tile up to which they are pooled faster where they do not lie side by side
LANES = 32  # numbers side by side from which on torch reduces a middle axis by vectors


class Pool(NamedTuple):
    """How the cells of a tile become one, and how that joins what the tile has from before, in place."""

    reduce: Callable[..., Tensor]
    join: Callable[[Tensor, Tensor], object]


SUM = Pool(torch.sum, Tensor.add_)
GREATEST = Pool(torch.amax, lambda into, found: torch.maximum(into, found, out=into))


def add(
    tiles: Float[Tensor, "p r"], cells: Float[Tensor, "w r"], at: int, tile: int, known: int | None = None
) -> list[Float[Tensor, "_ r"]]:
    """Adds cells, the first of which is the at-th of its column, to their tiles; gives the sums by tile.

    `known`: how many tiles have something of cells before these, all unless given; the others are written, whatever they had.
    """
    return _order_tiles(SUM, tiles, cells, at, tile, known)


def lift(
    tiles: Float[Tensor, "p r"], cells: Float[Tensor, "w r"], at: int, tile: int, known: int | None = None
) -> list[Float[Tensor, "_ r"]]:
    """Lifts tiles to the greatest of their cells, as `add` adds them; gives the greatest by tile."""
    return _order_tiles(GREATEST, tiles, cells, at, tile, known)


def _order_tiles(
    pool: Pool, tiles: Float[Tensor, "p r"], cells: Float[Tensor, "w r"], at: int, tile: int, known: int | None
) -> list[Float[Tensor, "_ r"]]:
    found, known = [], len(tiles) if known is None else known
    for first, start, stop, size in _stretches(at, len(cells), tile):
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
    """Brings columns of cells, the first of which is the at-th, into the rows of tiles; `ordered` as `apart` says."""
    if not ordered:
        turned = cells.T.contiguous() if tile <= SHORT else cells.T  # slow along a short stretch
        _order_tiles(pool, tiles, turned, at, tile, None)
        return
    for first, start, stop, size in _stretches(at, cells.shape[1], tile):
        part = cells[:, start:stop]
        whole = size == tile
        found = pool.reduce(part.unflatten(1, (tile, -1) if whole else (-1, size)), 1 if whole else 2)
        pool.join(tiles[first : first + found.shape[1]], found.T)


def apart(at: int, width: int, tile: int) -> Int[Tensor, " r"] | None:
    """An order of some rows, the first of which is the at-th: of their whole tiles all first ones, all second ones, and so on.

    None where they are pooled as fast, or faster, as they are.
    """
    if not 1 < tile <= SHORT:
        return None
    longest = max(stop - start for _, start, stop, _ in _stretches(at, width, tile))
    return _apart(at % tile, width, tile) if longest >= LANES * tile else None


@tensor_lru_cache(2 * SHORT)
def _apart(at: int, width: int, tile: int) -> Int[Tensor, " r"]:
    every = torch.arange(width)
    return torch.cat(
        [
            every[start:stop].view(-1, tile).T.flatten() if size == tile else every[start:stop]
            for _, start, stop, size in _stretches(at, width, tile)
        ]
    )


def _stretches(at: int, width: int, tile: int) -> Iterator[tuple[int, int, int, int]]:
    """The first tile, the ends and the cells a tile of: the end of a tile begun before, whole tiles, the beginning of one."""
    lead = min(-at % tile, width)
    last = lead + (width - lead) // tile * tile
    for start, stop, size in ((0, lead, lead), (lead, last, tile), (last, width, width - last)):
        if stop > start:
            yield (at + start) // tile, start, stop, size
