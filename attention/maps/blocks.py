"""Classifies the blocks of the square as masked, visible or partly masked by a mask rule.

A block is classed as masked or visible only if that holds for every pair in it (bounds.py); the rule itself is
evaluated only for the pairs of partly masked blocks. Rules declare nothing: all blocks of a rule that bounds can't
follow count as partly masked, which is as exact, and slower.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from attention.maps.bounds import Interval, classify
from attention.maps.quadtree import Ends, squares
from attention.masks import Rule
from attention.runtime.tensor_cache import tensor_lru_cache

GRID = 2**18  # blocks that are classified at once: some megabytes


@dataclass(frozen=True)
class KeyRange:
    """Adjacent keys that a block of queries attends to; in the parts `cuts` the rule masks some of the pairs."""

    start: int
    stop: int
    cuts: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, eq=False)
class Blocks:
    """The classes of blocks between `rows` and `cols`: `seen` if a pair may be visible, `cut` if one may be masked.

    `steady`: whether the rule depends on q - k alone.
    """

    rows: tuple[int, ...]
    cols: tuple[int, ...]
    seen: Bool[Tensor, "r c"]
    cut: Bool[Tensor, "r c"]
    steady: bool

    @property
    def tallest(self) -> int:
        """The number of rows of the tallest block."""
        return max(stop - start for start, stop in pairwise(self.rows))

    @property
    def widest(self) -> int:
        """The number of columns of the widest block."""
        return max(stop - start for start, stop in pairwise(self.cols))

    def spans(self, row: int, widest: int, stops: tuple[int, ...] = ()) -> Iterator[KeyRange]:
        """Yields the keys that one row of blocks attends to, in pieces of up to `widest` keys that end at `stops`."""
        start, edges, cuts = None, self.cols, []
        for (left, right), seen, cut in zip(
            pairwise(edges), self.seen[row].tolist(), self.cut[row].tolist(), strict=True
        ):
            if start is not None and (not seen or right - start > widest or left in stops):
                yield KeyRange(start, left, _merge_neighbours(cuts))
                start, cuts = None, []
            if seen:
                start = left if start is None else start
                cuts += [(left, right)] if cut else []
        if start is not None:
            yield KeyRange(start, edges[-1], _merge_neighbours(cuts))

    def bands(self, height: int) -> Iterator[Blocks]:
        """Yields the same blocks, `height` rows of blocks at a time."""
        for at in range(0, len(self.seen), height):
            part = slice(at, at + height)
            rows = self.rows[at : at + height + 1]
            yield replace(self, rows=rows, seen=self.seen[part], cut=self.cut[part])


def _merge_neighbours(parts: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Merges adjacent parts."""
    whole: list[tuple[int, int]] = []
    for start, stop in parts:
        if whole and whole[-1][1] == start:
            start = whole.pop()[0]
        whole.append((start, stop))
    return tuple(whole)


def classify_blocks(rule: Rule, n: int, span: int, rows: Int[Tensor, " i"], cols: Int[Tensor, " j"]) -> Blocks:
    """Classifies the blocks between these edges; a block counts as visible or masked only if every pair in it is."""
    step = max(1, GRID // len(cols))
    starts = range(0, len(rows) - 1, step)
    k = Interval(cols[None, :-1], cols[None, 1:] - 1, 1)
    parts = [classify(rule.allows, _down(rows[at : at + step + 1]), k, n, span) for at in starts]
    seen, shown = torch.cat([part.possible for part in parts]), torch.cat([part.certain for part in parts])
    return Blocks(
        tuple(rows.tolist()), tuple(cols.tolist()), seen, seen & ~shown, all(part.shift_invariant for part in parts)
    )


def edges(ends: Ends, size: int) -> Int[Tensor, " i"]:
    """The edges of blocks of a given size from one end to the other; the last block may be shorter."""
    return torch.tensor([*range(*ends, size), ends[1]])


def visible(
    rule: Rule, tokens: int, span: int, tile: int, rows: Ends | None = None, cols: Ends | None = None
) -> Bool[Tensor, "p r"]:
    """Whether each tile of a window has a visible pair; the window is all tokens by default."""
    rows, cols = rows or (0, tokens), cols or (0, tokens)
    found = torch.zeros(-(-(rows[1] - rows[0]) // tile), -(-(cols[1] - cols[0]) // tile), dtype=torch.bool)
    for part in squares(rule, tokens, span, rows, cols, tile, found):
        shown, down, across = part.visible(tile).nonzero(as_tuple=True)
        top, left = (part.first[:, shown] - torch.tensor([[rows[0]], [cols[0]]])) // tile
        found[top + down, left + across] = True
    return found


def choices(rule: Rule, tokens: int, span: int) -> Int[Tensor, " n"]:
    """The number of visible keys of each query."""
    whole = 0, tokens
    found = torch.zeros(tokens + 1, dtype=torch.int64)  # the last collects rows past the end
    for part in squares(rule, tokens, span, whole, whole):
        rows = (part.first[0, :, None] + torch.arange(part.side)).clamp(max=tokens)
        found.index_add_(0, rows.flatten(), part.counts().flatten())
    return found[:-1]


def count_pairs(
    rule: Rule, tokens: int, span: int, tile: int, queries: int | None = None
) -> tuple[Int[Tensor, "p r"], Int[Tensor, " q"]]:
    """The number of visible pairs in each tile, and of visible keys of each query; exact, in one pass over the rule.

    The queries are the `tokens` themselves, or `queries` others in cross-attention.
    """
    n = tokens if queries is None else queries
    high, wide = -(-n // tile), -(-tokens // tile)
    tiles, seen = torch.zeros(high + 1, wide + 1, dtype=torch.int64), torch.zeros(n + 1, dtype=torch.int64)
    for part in squares(rule, tokens, span, (0, n), (0, tokens), tile):
        rows = (part.first[0, :, None] + torch.arange(part.side)).clamp(max=n)
        seen.index_add_(0, rows.flatten(), part.counts().flatten())
        pairs = part.pairs_per_tile(tile)
        down, across = (part.first // tile)[:, :, None] + torch.arange(pairs.shape[1])
        at = down.clamp(max=high)[:, :, None], across.clamp(max=wide)[:, None]
        tiles.index_put_(at, pairs, accumulate=True)
    return tiles[:-1, :-1], seen[:-1]


def _down(rows: Int[Tensor, " i"]) -> Interval:
    """The queries between these edges."""
    return Interval(rows[:-1, None], rows[1:, None] - 1, 1)


@tensor_lru_cache(2)
def differences(rule: Rule, n: int, span: int) -> Bool[Tensor, " w"]:
    """The values of a shift-invariant rule for each k - q, from 1 - n to n - 1: any block of it follows from a slice."""
    apart = torch.arange(1 - n, n, dtype=torch.int32)
    return rule((-apart).clamp(min=0), apart.clamp(min=0), n, span).expand(2 * n - 1)


def along(line: Tensor, height: int) -> Tensor:
    """The block whose cells depend on the difference alone; `line` starts with the first cell of its last row."""
    upwards = torch.arange(height - 1, -1, -1, device=line.device)  # flip would store it column by column
    return line.unfold(0, len(line) - height + 1, 1).index_select(0, upwards)
