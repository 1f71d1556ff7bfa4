"""Cells brought into tiles, beside the plain loop that says what that is."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from attention.maps.tiles import GREATEST, LANES, SUM, add, by_rows, pool_maxima, tile_order
from tests.strategies import normal

SHAPES = [(0, 512, 8), (3, 509, 8), (0, 64, 2), (5, 40, 7), (0, 300, 1), (6, 4, 16), (2, 513, 16), (0, 200, 300)]
every_shape = pytest.mark.parametrize(("at", "width", "tile"), SHAPES)


def by_hand(cells: Tensor, at: int, tile: int) -> tuple[dict[int, Tensor], dict[int, Tensor]]:
    """Sums and maxima of rows of cells, by the number of their tile."""
    rows: dict[int, list[Tensor]] = {}
    for number, row in enumerate(cells, at):
        rows.setdefault(number // tile, []).append(row)
    every = {tile: torch.stack(some) for tile, some in rows.items()}
    return {at: some.sum(0) for at, some in every.items()}, {at: some.amax(0) for at, some in every.items()}


@every_shape
@pytest.mark.parametrize("fresh", [False, True])
def test_cells_join_what_is_known_and_are_written_over_what_is_not(at, width, tile, fresh):
    cells, height = normal(1, width, 6).abs(), -(-(at + width) // tile)
    known = -(-at // tile) if fresh else None  # by cells that came before
    for call, which in ((add, 0), (pool_maxima, 1)):
        tiles = torch.full((height, 6), math.nan)
        tiles[: height if known is None else known] = 0.5
        found = torch.cat(call(tiles, cells, at, tile, known))
        for number, row in by_hand(cells, at, tile)[which].items():
            before = known is None or number < known
            wanted = row if not before else row + 0.5 if call is add else row.clamp(min=0.5)
            assert torch.allclose(tiles[number], wanted), number
        assert torch.allclose(found, torch.stack(list(by_hand(cells, at, tile)[which].values())))


@every_shape
@pytest.mark.parametrize("ordered", [False, True])
def test_columns_are_brought_into_rows_in_either_order(at, width, tile, ordered):
    order = tile_order(at, width, tile) if ordered else None
    cells, height = normal(2, 5, width).abs(), -(-(at + width) // tile)
    laid = cells if order is None else cells[:, order]
    for pool, which in ((SUM, 0), (GREATEST, 1)):
        tiles = torch.zeros(height, 5)
        by_rows(pool, tiles, laid, at, tile, order is not None)
        for number, row in by_hand(cells.T, at, tile)[which].items():
            assert torch.allclose(tiles[number], row), number


def test_rows_are_laid_apart_where_it_pays():
    """Tiles of a few cells, so many of them that a middle axis is reduced by vectors; the first and last row stay there."""
    assert tile_order(0, 512, 1) is None and tile_order(0, 512, 32) is None and tile_order(0, LANES * 8 - 1, 8) is None
    order = tile_order(3, 512, 8)
    assert order is not None and order[0] == 0 and order[-1] == 511
    assert sorted(order.tolist()) == list(range(512)) and order[5:8].tolist() == [5, 13, 21]
