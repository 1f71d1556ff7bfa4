"""The numbers of some evenly spaced rows of two long sequences: those of all rows would take as long as B minus A itself."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.comparison.long_differences import LongSide
from attention.comparison.row_numbers import HALF_L1, VARIATION, row_numbers
from attention.comparison.sides import Side
from attention.maps.zoom import pairs

ROWS = 64  # rows that are compared
TOGETHER = 2**18  # weights of a side that are computed at once


def sampled_queries(tokens: int) -> Int[Tensor, " s"]:
    """Returns evenly spaced queries: the middles of `ROWS` equal parts."""
    count = min(ROWS, tokens)
    return (torch.arange(count) * 2 + 1) * tokens // (2 * count)


def sampled_numbers(a: LongSide, b: LongSide, distributes: tuple[bool, bool]) -> dict[str, Float[Tensor, " q"]]:
    """Returns the numbers of `row_numbers.NUMBERS` for the queries of `sampled_queries`, and NaN for all others.

    `distributes`: whether the rows of A and of B are distributions. Total variation and half of the L1 distance are left out:
    `long_differences.subtract` has them for all rows.
    """
    tokens = a.maps.tokens
    keys, queries = torch.arange(tokens), sampled_queries(tokens)
    found: dict[str, Tensor] = {}
    with torch.inference_mode():
        for rows in queries.split(max(1, TOGETHER // tokens)):
            sides = [
                _side(each, rows[:, None], keys[None], whole) for each, whole in zip((a, b), distributes, strict=True)
            ]
            for name, values in row_numbers(*sides).items():
                if name not in (VARIATION, HALF_L1):
                    every = found.setdefault(name, torch.full((tokens,), torch.nan, dtype=torch.float64))
                    every[rows] = values[0]
    return found


def _side(side: LongSide, rows: Int[Tensor, "r 1"], keys: Int[Tensor, "1 k"], distributes: bool) -> Side:
    """Returns some rows of one head."""
    weights = pairs(side.maps, side.query, side.key, 0, rows, keys)
    seen = side.maps.scoring.sees(rows, keys, side.maps.tokens, side.query).expand(weights.shape)
    return Side(weights[None], seen, None, distributes)
