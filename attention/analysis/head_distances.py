"""Distances between heads, groups of nearly equal heads, and a two-dimensional map of all heads by distance.

The distance of two heads is the Jensen-Shannon divergence of their rows for the same query, averaged over the queries
(Clark et al. 2019, section 6, sum them instead). It is 0 if the rows are equal, and 1 bit if the heads never attend to
the same key. Its square root is a metric that embeds in a Hilbert space (Fuglede & Topsøe 2004), so classical scaling
shows a projection of exactly that space.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.heads import CACHED, Weights, row_entropy

WORK = 2**28  # weights that are compared over all pairs of heads: half a second for any number of heads
FEWEST = 4  # minimum number of queries that are compared, even if that exceeds WORK
ALIKE = 0.05  # bits: heads at most this far apart are called nearly the same

Apart = Float[Tensor, "h h"]


class Merge(NamedTuple):
    """Two clusters that were merged, each a list of heads in the order of the tree, and the distance between them."""

    first: list[int]
    second: list[int]
    apart: float


@dataclass(frozen=True, eq=False)
class Distances:
    """The distances `apart` of all pairs of heads in bits, averaged over `queries` queries, and results from them.

    `order`: the heads, with similar ones next to each other; `places (h 2)`: coordinates on the map, in square roots of
    bits; `kept`: the share of the variance that the map keeps; `groups`: groups of nearly equal heads, largest first.
    """

    apart: Apart
    queries: int
    order: list[int]
    places: Float[Tensor, "h 2"]
    kept: float
    groups: list[list[int]]


def distances(rows: Float[Tensor, "h r k"]) -> Distances:
    """Returns the distances of heads and what follows from them, given the rows of the same queries in each head."""
    apart = divergences(rows)
    merges = average_linkage(apart)
    order = merges[-1].first + merges[-1].second if merges else list(range(len(apart)))
    return Distances(apart, rows.shape[1], order, *classical_scaling(apart), groups(merges))


def sample_rows(weights: Weights, mask: Bool[Tensor, "q k"], of: int) -> Float[Tensor, "h r k"]:
    """Returns evenly spaced rows with several visible keys, about `WORK` weights over all pairs of `of` heads."""
    several = (mask.sum(-1) > 1).nonzero().flatten()
    many = max(FEWEST, int(2 * WORK / max(1, of) ** 2 / weights.shape[-1]))
    some = torch.linspace(0, len(several) - 1, min(many, len(several))).round().long() if len(several) else several
    return weights[:, several[some]].float()


def divergences(rows: Float[Tensor, "h r k"]) -> Apart:
    """Returns the Jensen-Shannon divergence of every two heads in bits, averaged over the rows; 0 if there are no rows."""
    heads, count, keys = rows.shape
    apart = rows.new_zeros(heads, heads)
    if not count:
        return apart
    own = row_entropy(rows).mean(-1)
    high = max(1, CACHED // (count * keys))
    for head in range(heads):
        for first in range(head + 1, heads, high):
            others = slice(first, min(first + high, heads))
            both = row_entropy((rows[others] + rows[head]) / 2).mean(-1)
            apart[head, others] = both - (own[others] + own[head]) / 2
    return (apart + apart.T).clamp(min=0) / math.log(2)


def average_linkage(apart: Apart) -> list[Merge]:
    """Returns the tree of average linkage (Sokal & Michener 1958): each merge joins the two clusters nearest in the mean.

    A cluster may be reversed when it is merged, so that the nearest ends of the two meet.
    """
    near = apart.double().clone().fill_diagonal_(math.inf)
    clusters, merges = {at: [at] for at in range(len(near))}, []
    for _ in range(len(near) - 1):
        one, two = divmod(int(near.argmin()), len(near))
        first, second = _join_order(apart, clusters[one], clusters.pop(two))
        merges.append(Merge(first, second, float(near[one, two])))
        shares = len(clusters[one]), len(first) + len(second) - len(clusters[one])
        mean = (near[one] * shares[0] + near[two] * shares[1]) / sum(shares)
        near[one], near[:, one] = mean, mean
        near[two], near[:, two], near[one, one] = math.inf, math.inf, math.inf
        clusters[one] = first + second
    return merges


def _join_order(apart: Apart, first: list[int], second: list[int]) -> tuple[list[int], list[int]]:
    """Returns the two clusters, each forwards or backwards, such that the ends that meet are as near as possible."""
    ways = [(one, two) for one in (first, first[::-1]) for two in (second, second[::-1])]
    return min(ways, key=lambda way: float(apart[way[0][-1], way[1][0]]))


def groups(merges: list[Merge], within: float = ALIKE) -> list[list[int]]:
    """Returns the maximal clusters whose two halves are at most `within` bits apart in the mean, the largest first."""
    found: dict[int, list[int]] = {}
    for merge in merges:
        if merge.apart <= within:
            for member in (min(merge.first), min(merge.second)):
                found.pop(member, None)
            found[min(merge.first + merge.second)] = sorted(merge.first + merge.second)
    return sorted(found.values(), key=lambda group: (-len(group), group))


def classical_scaling(apart: Apart) -> tuple[Float[Tensor, "h 2"], float]:
    """Returns classical scaling (Torgerson 1952) of the square roots of `apart` to two dimensions, and the share kept.

    The sign of each axis is chosen such that the head farthest from zero has a positive coordinate.
    """
    squares = apart.double()
    middle = squares.mean(0, keepdim=True)
    inner = -(squares - middle - middle.T + squares.mean()) / 2
    values, vectors = torch.linalg.eigh(inner)
    most, axes = values[-2:].flip(0).clamp(min=0), vectors[:, -2:].flip(1)
    places = torch.zeros(len(apart), 2, dtype=torch.float64)
    places[:, : len(most)] = axes * most.sqrt()
    farthest = places.gather(0, places.abs().argmax(0, keepdim=True))
    total = float(values.clamp(min=0).sum())
    return (places * torch.where(farthest < 0, -1.0, 1.0)).float(), float(most.sum()) / total if total > 0 else 1.0
