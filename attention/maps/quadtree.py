"""Evaluates a mask rule over a square of pairs without visiting each pair: squares are quartered as needed.

A square within which the rule depends on q - k alone (bounds.py) is determined by its first column and row. Other
squares are quartered (quadtree: Finkel & Bentley 1974), and the smallest are evaluated pair by pair, so that the work
follows the outlines of a rule: of order n log n for every rule of masks.py. A rule that bounds can't follow is
evaluated everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Int
from torch import Tensor

from attention.maps.bounds import Interval, classify
from attention.masks import Rule

LEAF = 16  # side of the squares that are evaluated pair by pair
SMALL = 128  # side up to which a whole window is, which is faster than subdividing it
AT_ONCE = 2**20  # pairs that are evaluated at once

Ends = tuple[int, int]


class Squares(NamedTuple):
    """Some squares of one size and what a rule shows in them; squares without a visible pair are left out.

    `first` and `ends (2 m)`: the first query and key of each square and those past the last, `side` apart or cut
    short. `seen`: whether each difference k - q is visible (from 1 - side on, counted from the first pair), or each
    pair `(m side side)`.
    """

    side: int
    first: Int[Tensor, "2 m"]
    ends: Int[Tensor, "2 m"]
    seen: Bool[Tensor, "m w"] | Bool[Tensor, "m s s"]

    def visible(self, tile: int) -> Bool[Tensor, "m t t"]:
        """Whether each tile of each square has a visible pair; tiles are whole within a square, or contain it."""
        many = max(1, self.side // tile)
        if many == 1:
            return self.seen.flatten(1).any(1)[:, None, None]
        if self.seen.ndim == 3:
            return self.seen.unflatten(2, (many, tile)).unflatten(1, (many, tile)).any(4).any(2)
        starts = torch.arange(many) * tile
        height, width = ((self.ends - self.first)[:, :, None] - starts).clamp(0, tile)
        height, width, apart = height[:, :, None], width[:, None], starts - starts[:, None] + self.side
        found = self._between((apart - height).expand(-1, -1, many), (apart + width - 1).expand(-1, many, -1))
        return (found > 0) & (height > 0) & (width > 0)

    def pairs_per_tile(self, tile: int) -> Int[Tensor, "m t t"]:
        """The number of visible pairs in each tile of each square; tiles are whole within a square, or contain it."""
        many = max(1, self.side // tile)
        if many == 1:
            return self.counts().sum(1)[:, None, None]
        if self.seen.ndim == 3:
            return self.seen.unflatten(2, (many, tile)).unflatten(1, (many, tile)).sum((2, 4))
        starts = torch.arange(many) * tile
        height, width = ((self.ends - self.first)[:, :, None] - starts).clamp(0, tile)
        last, height, width = starts - starts[:, None] + self.side, height[:, :, None], width[:, None]
        sums = F.pad(
            F.pad(self.seen.cumsum(1), (1, 0)).cumsum(1), (1, 0)
        )  # second sum over rows, as each adds a difference
        first, height, width = (at.expand(-1, many, many) for at in (last - height, height, width))
        return _apart(sums, first + width, height) - _apart(sums, first, height)

    def counts(self) -> Int[Tensor, "m side"]:
        """The number of visible keys of each query of a square; zero past its end."""
        if self.seen.ndim == 3:
            return self.seen.sum(2)
        at = torch.arange(self.side)
        height, width = (self.ends - self.first)[:, :, None]
        low = (self.side - 1 - at).expand(len(width), -1)
        return torch.where(at < height, self._between(low, low + width), 0)

    def _between(self, low: Int[Tensor, " m *t"], high: Int[Tensor, " m *t"]) -> Int[Tensor, " m *t"]:
        """The number of visible differences from index `low` to before index `high`."""
        return _apart(F.pad(self.seen.cumsum(1), (1, 0)), low, high - low)


def _apart(sums: Int[Tensor, "m w"], low: Int[Tensor, " m *t"], by: Int[Tensor, " m *t"]) -> Int[Tensor, " m *t"]:
    """The growth of the sums from index `low` to index `low + by`."""
    low, high = (sums.gather(1, at.flatten(1)).view(at.shape) for at in (low, low + by))
    return high - low


def squares(
    rule: Rule, n: int, span: int, rows: Ends, cols: Ends, unit: int = LEAF, known: Bool[Tensor, "p r"] | None = None
) -> Iterator[Squares]:
    """Yields squares that cover all visible pairs of a window once; larger ones consist of whole units, as tiles do.

    Units that become `known` while this runs are not quartered further.
    """
    side, start, last = unit, torch.tensor([[rows[0]], [cols[0]]]), torch.tensor([[rows[1]], [cols[1]]])
    while side < max(rows[1] - rows[0], cols[1] - cols[0]):
        side *= 2
    leaf = side if side <= SMALL else LEAF
    stack = [(side, start, last)]
    while stack:
        side, first, ends = stack.pop()
        if known is not None and side < unit:
            new = ~known[tuple((first - start) // unit)]
            first, ends = first[:, new], ends[:, new]
        if side <= leaf:
            yield Squares(side, first, ends, _pairs(rule, n, span, side, first, ends))
            continue
        q, k = map(Interval, first, ends - 1, (1, 1))
        found = classify(rule.allows, q, k, n, span)
        for at in (found.possible & found.toeplitz).nonzero()[:, 0].split(max(1, AT_ONCE // (2 * side))):
            part = first[:, at], ends[:, at]
            yield Squares(side, *part, _differences(rule, n, span, side, *part))
        at = (found.possible & ~found.toeplitz).nonzero()[:, 0]
        half = (side + 1) // 2
        first, ends = _quarters(first[:, at], ends[:, at], half)
        parts = (corners.split(AT_ONCE // LEAF**2, 1) for corners in (first, ends))
        stack += [(half, *part) for part in zip(*parts, strict=True) if part[0].numel()]


def _quarters(first: Tensor, ends: Tensor, half: int) -> tuple[Int[Tensor, "2 m"], Int[Tensor, "2 m"]]:
    """The quarters of squares, excluding those that lie past an end."""
    corners = torch.tensor([[0, 0, half, half], [0, half, 0, half]])[:, None]
    first = (first[:, :, None] + corners).flatten(1)
    ends = torch.minimum(ends.repeat_interleave(4, 1), first + half)
    there = (first < ends).all(0)
    return first[:, there], ends[:, there]


def _differences(rule: Rule, n: int, span: int, side: int, first: Tensor, ends: Tensor) -> Bool[Tensor, "m w"]:
    """The values of the rule up the first column, then along the first row."""
    apart = torch.arange(1 - side, side, dtype=torch.int32)
    q, k = first.int()[:, :, None]
    return _rule_at(rule, n, span, q - apart.clamp(max=0), k + apart.clamp(min=0), ends[:, :, None])


def _pairs(rule: Rule, n: int, span: int, side: int, first: Tensor, ends: Tensor) -> Bool[Tensor, "m s s"]:
    """The values of the rule for every pair."""
    at = torch.arange(side, dtype=torch.int32)
    q, k = first.int()[:, :, None, None]
    return _rule_at(rule, n, span, q + at[:, None], k + at, ends[:, :, None, None])


def _rule_at(rule: Rule, n: int, span: int, q: Tensor, k: Tensor, ends: Tensor) -> Bool[Tensor, "..."]:
    """The values of the rule for pairs; False past the ends."""
    there = (q < ends[0]) & (k < ends[1])
    return rule(torch.minimum(q, ends[0] - 1), torch.minimum(k, ends[1] - 1), n, span) & there
