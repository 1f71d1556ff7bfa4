"""The output of a head for one query: each key's weight times its value, and the sum of these.

The output of query i is sum_j p_ij v_j over the keys j (Vaswani et al. 2017, equation 1), before the output gate and W_o.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention.trace import Trace

MOST = 8  # keys with a row of their own


@dataclass(frozen=True, eq=False)
class WeightedValues:
    """The heaviest `keys` of a row, heaviest first, and the number of other visible keys (`rest`), which are combined.

    A negative weight is as heavy as its size.

    `weights (r)`, `values (r e)`: one row per key, and a last one for the rest, with the sum of their weights and the
    weighted mean of their values. A weight times its value is the key's contribution to the `output (e)` of the trace, which
    a `gate (u)`, one number or one per channel, then multiplies; None without.
    """

    head: int
    query: int
    keys: tuple[int, ...]
    rest: int
    weights: Float[Tensor, " r"]
    values: Float[Tensor, "r e"]
    output: Float[Tensor, " e"]
    gate: Float[Tensor, " u"] | None = None


def weighted_values(trace: Trace, head: int, query: int, most: int = MOST) -> WeightedValues:
    """Returns the row of one query and head with at most `most` separate keys, or one more if the rest would be one key."""
    weights, values = trace.weights[head, query].double(), trace.v[head].double()
    seen = trace.mask[query].nonzero().flatten()
    seen = seen[weights[seen].abs().sort(descending=True, stable=True).indices]
    alone, rest = (seen, seen[:0]) if len(seen) <= most + 1 else (seen[:most], seen[most:])
    lines = [(weights[alone], values[alone])] + ([_together(weights[rest], values[rest])] if len(rest) else [])
    found, their = (torch.cat(parts).float() for parts in zip(*lines, strict=True))
    output = trace.context[head, query].clone()  # a view would keep all rows in memory
    gates = trace.gate(query)
    gate = None if gates is None else gates[head].clone()
    return WeightedValues(head, query, tuple(alone.tolist()), len(rest), found, their, output, gate)


def _together(weights: Float[Tensor, " k"], values: Float[Tensor, "k e"]) -> tuple[Tensor, Tensor]:
    """Returns the sum of the weights and the weighted mean of the values; their plain mean if all weights are zero."""
    total = weights.sum(0, keepdim=True)
    share = weights / total if total != 0 else torch.full_like(weights, 1 / len(weights))
    return total, (share @ values)[None]
