"""Weights of logits under every softmax, once more in float64: by torch, and by closed forms on sorted rows, one at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor


def weights_of(logits: Tensor, softmax: str, sinks: Sequence[float] = ()) -> Tensor:
    """The weights of logits `(h q k)`, zeros for fully masked rows; `sinks`: the parameter of each head."""
    logits = logits.double()
    if softmax in POWERS:
        rows = [_sparse(row, POWERS[softmax]) for row in logits.flatten(0, -2).tolist()]
        return torch.tensor(rows, dtype=torch.float64).view(logits.shape)
    own = torch.tensor(sinks or [0.0] * len(logits), dtype=torch.float64)[:, None, None]
    if softmax == "sigmoid":
        return 1 / (1 + (own - logits).exp())
    if softmax != "standard":
        logits = torch.cat([own.expand(*logits.shape[:-1], 1), logits], -1)
    found = torch.softmax(logits, -1).nan_to_num(0.0)
    return found if softmax == "standard" else found[..., 1:]


def _sparse(row: list[float], power: int) -> list[float]:
    """The largest support whose own threshold is below all of it (Martins & Astudillo 2016, algorithm 1).

    For entmax-1.5 (Peters et al. 2019, algorithm 2) the threshold of a support solves a quadratic equation.
    """
    best, found = sorted((each / power for each in row if each > -math.inf), reverse=True), -math.inf
    for count in range(1, len(best) + 1):
        mean = math.fsum(best[:count]) / count
        spread = math.fsum((each - mean) ** 2 for each in best[:count])
        under = (1 - spread) / count
        own = mean - 1 / count if power == 1 else mean - math.sqrt(under) if under >= 0 else math.inf
        found = own if own < best[count - 1] else found
    return [max(each / power - found, 0) ** power if each > -math.inf else 0.0 for each in row]


NO_DISTRIBUTIONS = ("sigmoid", "differential")  # softmaxes whose rows are none
POWERS = {"sparsemax": 1, "entmax-1.5": 2}
