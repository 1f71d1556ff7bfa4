"""Tables of how the distributions of weights changed from A to B: of their sizes and of the entropies of rows.

Tables are columns of plain lists, as in `tables.rows`. Heads are in pairs of A and B, one strip each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F

from attention.analysis.distribution import Distribution, edges
from attention.tables.softmax import POINTS

Pairs = Sequence[tuple[int, int]]


def histogram_changes(a: Distribution, b: Distribution, pairs: Pairs) -> dict[str, list[Any]]:
    """Returns how the share of each size of a weight changed as columns, a line for each pair of heads and bin that is not empty.

    strip, head (of B), low and high (the borders of a bin), a, b (shares of the visible pairs), and change: b minus a.
    """
    shares = [
        found.counts[[pair[at] for pair in pairs]] / found.seen.sum().clamp(min=1).double()
        for at, found in enumerate((a, b))
    ]
    strips, bins = (shares[0] + shares[1]).nonzero(as_tuple=True)
    borders = torch.tensor(edges(), dtype=torch.float64)
    one, two = (each[strips, bins] for each in shares)
    return {
        "strip": strips.tolist(),
        "head": [pairs[strip][1] for strip in strips.tolist()],
        "low": borders[bins].tolist(),
        "high": borders[bins + 1].tolist(),
        "a": one.tolist(),
        "b": two.tolist(),
        "change": (two - one).tolist(),
    }


def entropy_changes(a: Distribution, b: Distribution, pairs: Pairs) -> dict[str, list[Any]]:
    """Returns how the entropy of each query changed as columns: strip, head (of B), query, last, a, b, and change.

    Beyond `POINTS` points, a line is about the queries up to `last`, and has the change of largest size among them. Queries
    that are fully masked on both sides are left out.
    """
    one, two = (found.entropy[[pair[at] for pair in pairs]].double() for at, found in enumerate((a, b)))
    queries = one.shape[1]
    tile = -(-queries // max(POINTS // len(pairs), 8))
    size = (two - one).abs().masked_fill((a.seen == 0) & (b.seen == 0), -1)
    most, at = F.pad(size, (0, -queries % tile), value=-1).unflatten(-1, (-1, tile)).max(-1)
    strips, tiles = (most >= 0).nonzero(as_tuple=True)
    places = tiles * tile + at[strips, tiles]
    before, after = (each[strips, places] for each in (one, two))
    return {
        "strip": strips.tolist(),
        "head": [pairs[strip][1] for strip in strips.tolist()],
        "query": places.tolist(),
        "first": (tiles * tile).tolist(),
        "next": ((tiles + 1) * tile).clamp(max=queries).tolist(),
        "a": before.tolist(),
        "b": after.tolist(),
        "change": (after - before).tolist(),
    }
