"""How far heads are apart, which are nearly the same, and a map on which the far ones stand far from each other.

Two heads are as far apart as their rows: the Jensen-Shannon divergence of what the same query makes of the same keys, in the
mean of the queries (Clark et al. 2019, section 6, who take the sum). It is 0 where they do the same, and 1 bit where they
never look at the same key. Its square root is a distance, and one of points in some space (Fuglede & Topsøe 2004), so that
classical scaling draws a part of exactly that space.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.heads import CACHED, Weights, row_entropy

WORK = 2**28  # weights of all pairs that are looked at: half a second, however many heads there are
FEWEST = 4  # queries that are looked at, whatever that costs
ALIKE = 0.05  # bits: heads that are nearer are said to be nearly the same

Apart = Float[Tensor, "h h"]


class Merge(NamedTuple):
    """Two clusters that became one, each a list of heads in the order of the tree, and how far they were apart."""

    first: list[int]
    second: list[int]
    apart: float


@dataclass(frozen=True, eq=False)
class Distances:
    """Of some heads: how far any two are `apart` in bits, from so many `queries`, and what follows.

    `order`: the heads so that alike ones stand together; `places (h 2)`: on the map, in square roots of bits; `kept`: the
    share of all squared distances that the map keeps; `groups`: of heads that are nearly the same, the largest first.
    """

    apart: Apart
    queries: int
    order: list[int]
    places: Float[Tensor, "h 2"]
    kept: float
    groups: list[list[int]]


def distances(rows: Float[Tensor, "h r k"]) -> Distances:
    """Everything about the distances of heads, from the rows that the same queries have in each."""
    apart = divergences(rows)
    merges = average_linkage(apart)
    order = merges[-1].first + merges[-1].second if merges else list(range(len(apart)))
    return Distances(apart, rows.shape[1], order, *classical_scaling(apart), groups(merges))


def sample_rows(weights: Weights, mask: Bool[Tensor, "q k"], of: int) -> Float[Tensor, "h r k"]:
    """Rows of queries that see several keys, evenly spread, so many that those of all pairs of `of` heads are `WORK` weights."""
    several = (mask.sum(-1) > 1).nonzero().flatten()
    many = max(FEWEST, int(2 * WORK / max(1, of) ** 2 / weights.shape[-1]))
    some = torch.linspace(0, len(several) - 1, min(many, len(several))).round().long() if len(several) else several
    return weights[:, several[some]].float()


def divergences(rows: Float[Tensor, "h r k"]) -> Apart:
    """The Jensen-Shannon divergence of the rows of any two heads in bits, in the mean of the rows; 0 where there are none."""
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
    """The tree of average linkage (Sokal & Michener 1958): always the two clusters whose heads are nearest in the mean.

    A merged cluster is turned so that its nearest ends meet.
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
    """Two clusters in the order of the tree, each forwards or backwards: as their ends are nearest."""
    ways = [(one, two) for one in (first, first[::-1]) for two in (second, second[::-1])]
    return min(ways, key=lambda way: float(apart[way[0][-1], way[1][0]]))


def groups(merges: list[Merge], within: float = ALIKE) -> list[list[int]]:
    """Clusters whose two halves are, in the mean, at most so far apart; each as large as it gets, the largest first."""
    found: dict[int, list[int]] = {}
    for merge in merges:
        if merge.apart <= within:
            for member in (min(merge.first), min(merge.second)):
                found.pop(member, None)
            found[min(merge.first + merge.second)] = sorted(merge.first + merge.second)
    return sorted(found.values(), key=lambda group: (-len(group), group))


def classical_scaling(apart: Apart) -> tuple[Float[Tensor, "h 2"], float]:
    """Classical scaling in two dimensions (Torgerson 1952) of distances that are roots of these; the share that is kept.

    Each axis is turned so that the head that is farthest out on it has a positive place.
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
