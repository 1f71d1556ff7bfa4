"""Heads of two models matched by what they do: for each head of B, the head of A whose rows are nearest."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from attention.analysis.head_distances import divergences, sample_rows
from attention.comparison.sides import Side

NO_DISTANCE = (
    "Heads are matched by Jensen-Shannon distance, which rows that are negative or sum to more than one don't have."
)


def nearest_heads(a: Side, b: Side, of_b: Sequence[int] | None = None) -> tuple[tuple[int, int], ...]:
    """Returns pairs of heads, of A and of B: for each head of B, by default of all, the nearest of A.

    Nearest is the smallest Jensen-Shannon divergence of the rows of the same queries, averaged over evenly spaced queries;
    what is missing to a sum of one counts as one more key. Several heads of B may have the same nearest one. Among equally
    near ones, a head of the same number comes first. Raises ValueError if rows are no distributions.
    """
    if not (a.distributes and b.distributes):
        raise ValueError(NO_DISTANCE)
    numbers = list(range(len(b.weights)) if of_b is None else of_b)
    rows, missing = (
        torch.cat([one, two[numbers]]) for one, two in ((a.weights.double(), b.weights), (a.missing, b.missing))
    )
    rows = torch.cat([rows, missing[..., None]], -1)
    shared = (a.mask | b.mask) if a.mask.ndim == b.mask.ndim == 2 else a.mask.new_ones(a.size[1:])
    visible = torch.cat([shared, shared.new_zeros(len(shared), 1)], -1)
    apart = divergences(sample_rows(rows, visible, len(rows)))[len(a.weights) :, : len(a.weights)]
    found = []
    for head, far in zip(numbers, apart, strict=True):
        same = head < len(far) and bool(far[head] <= far.min())
        found.append((head if same else int(far.argmin()), head))
    return tuple(found)
