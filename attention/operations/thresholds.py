"""Weights that are zero below a threshold: sparsemax (Martins & Astudillo 2016) and entmax-1.5 (Peters et al. 2019).

A weight is (max(l - t, 0) / p)^p with p = 1 for sparsemax and p = 2 for entmax-1.5, where the threshold t of the row makes
the weights sum to one. In the notation of the papers p is 1 / (alpha - 1) and t is p times their tau.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

HALVINGS = 36  # after which a threshold is known to 3e-11
GROUP = 8  # keys that the largest of their logits represents at first: most steps then take an eighth of the time


def weigh_above(above: Float[Tensor, "*b k"], power: int) -> Float[Tensor, "*b k"]:
    """Turns logits minus the threshold into weights, in place."""
    above.clamp_(min=0)
    return above if power == 1 else above.div_(power).pow_(power)


def find_threshold(logits: Tensor, power: int, dim: int = -1) -> Tensor:
    """Returns the threshold of every row, which extends along `dim`; not a finite number for a row that is fully masked.

    The sum of the weights is a convex function of the threshold, and is one or more at the largest logit minus p. Newton's
    method from below never passes the root: it ends when no row rises any more. In a long row it starts from the threshold of
    the largest logits of groups of keys: with fewer keys a threshold is lower.
    """
    found = _start(logits, power, dim)
    space = torch.empty_like(logits)
    while True:
        rises = found + _newton_step(torch.sub(logits, found, out=space).clamp_(min=0), power, dim)
        if not bool((rises > found).any()):
            return found
        found = torch.where(rises > found, rises, found)


def _start(logits: Tensor, power: int, dim: int) -> Tensor:
    """Returns a lower bound of the threshold of every row."""
    if (groups := logits.shape[dim] // GROUP) < GROUP:
        return logits.amax(dim, keepdim=True) - power
    grouped = logits.narrow(dim, 0, groups * GROUP).unflatten(dim, (GROUP, groups))
    return find_threshold(grouped.amax(dim if dim >= 0 else dim - 1), power, dim)


def _newton_step(above: Tensor, power: int, dim: int) -> Tensor:
    """Returns how far a threshold moves, from what is above it."""
    if power == 1:
        return (above.sum(dim, keepdim=True) - 1) / above.sign().sum(dim, keepdim=True)
    shares = above.div_(power)
    slope = shares.sum(dim, keepdim=True)  # for a power of 2
    return (shares.square_().sum(dim, keepdim=True) - 1) / slope


def sparse_weights(logits: Float[Tensor, "*b k"], power: int) -> Float[Tensor, "*b k"]:
    """Turns every row of logits into weights, in place unless a gradient is required."""
    if not logits.shape[-1]:
        return logits
    if not logits.requires_grad:
        logits.sub_(logits.amax(-1, keepdim=True))
        return weigh_above(logits.sub_(find_threshold(logits, power)), power)
    with torch.no_grad():
        found = find_threshold(logits, power)
    # one more step, which autograd sees: its derivative is that of the threshold
    step = _newton_step((logits - found).clamp(min=0), power, -1)
    return ((logits - found - step).clamp(min=0) / power) ** power


def threshold_by_bisection(logits: Float[Tensor, "*b k"], power: int) -> Float[Tensor, "*b 1"]:
    """Returns the threshold of every row by halving, in float64: another way to the same number, for checks."""
    logits = logits.double()
    high = logits.amax(-1, keepdim=True)
    low = high - power
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        above = weigh_above(logits - middle, power).sum(-1, keepdim=True) >= 1
        low, high = torch.where(above, middle, low), torch.where(above, high, middle)
    return low
