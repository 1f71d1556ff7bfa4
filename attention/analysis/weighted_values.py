"""What a head does with its weights: each key's weight times its value, and their sum, which is the head's output.

The output of query i is sum_j p_ij v_j over the keys j (Vaswani et al. 2017, equation 1), before W_o.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention.trace import Trace

MOST = 8  # keys with a line of their own


@dataclass(frozen=True, eq=False)
class WeightedValues:
    """The heaviest `keys` of a row, heaviest first, and the `rest` of those that it sees together, as many as there are.

    `weights (r)`, `values (r e)`: a line each, the rest last, with the sum of their weights and, as their value, the mean by
    weight. A weight times its value is what the key gives to the `output (e)` of the trace.
    """

    head: int
    query: int
    keys: tuple[int, ...]
    rest: int
    weights: Float[Tensor, " r"]
    values: Float[Tensor, "r e"]
    output: Float[Tensor, " e"]


def weighted_values(trace: Trace, head: int, query: int, most: int = MOST) -> WeightedValues:
    """The row of a query, of one head, with at most so many keys by themselves, and one more where it would be alone."""
    weights, values = trace.weights[head, query].double(), trace.v[head].double()
    seen = trace.mask[query].nonzero().flatten()
    seen = seen[weights[seen].sort(descending=True, stable=True).indices]
    alone, rest = (seen, seen[:0]) if len(seen) <= most + 1 else (seen[:most], seen[most:])
    lines = [(weights[alone], values[alone])] + ([_together(weights[rest], values[rest])] if len(rest) else [])
    found, their = (torch.cat(parts).float() for parts in zip(*lines, strict=True))
    output = trace.context[head, query].clone()  # what is kept is the row alone
    return WeightedValues(head, query, tuple(alone.tolist()), len(rest), found, their, output)


def _together(weights: Float[Tensor, " k"], values: Float[Tensor, "k e"]) -> tuple[Tensor, Tensor]:
    """Their sum, and the mean of their values by weight; where they have none, each counts alike."""
    total = weights.sum(0, keepdim=True)
    share = weights / total if total > 0 else torch.full_like(weights, 1 / len(weights))
    return total, (share @ values)[None]
