"""Does the picture agree with PyTorch? The weights and outputs on the screen against its own attention.

`torch.nn.functional.scaled_dot_product_attention` does not return its weights, but it multiplies them with any value:
with the unit matrix as the value, it returns them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from attention.attend import HIDDEN
from attention.scores import capped
from attention.trace import Trace, position_bias

CLOSE = 1e-5
BUDGET = 2**27  # multiplications of the check at the most: about as long as the pass itself


@dataclass(frozen=True)
class Parity:
    """Greatest differences of `weights` and `output` (before W_o) to PyTorch, greatest error of a row's sum, how many
    rows see nothing (`blind`), and how many rows of each head were compared (`rows`), evenly spread and with the last.

    `rounding` is what scores may be off by because numbers have so many digits; a weight is as much off, of its size.
    """

    weights: float
    output: float
    row_sum: float
    blind: int
    rows: int
    rounding: float = 0.0

    @property
    def close(self) -> bool:
        """Within what float32 allows where scores are not large: 1e-5 relative to outputs of about one."""
        return self._most <= CLOSE

    @property
    def agrees(self) -> bool:
        """Within that and what the scores are rounded by."""
        return self._most <= CLOSE + self.rounding

    @property
    def _most(self) -> float:
        return max(self.weights, self.output, self.row_sum)


def parity(trace: Trace) -> Parity:
    """The pass against scaled_dot_product_attention on the same q, k, v, mask, bias, scale and softmax."""
    h, n, _ = trace.weights.shape
    many = min(n, BUDGET // (h * n * n) or 1)
    rows = evenly(n, many) if many < n else slice(None)
    config, bias = trace.config, position_bias(trace.config)
    with torch.inference_mode():
        mask = torch.where(trace.mask[rows], 0.0 if bias is None else bias[:, rows], HIDDEN)
        context, weights = (
            by_torch(trace.q[:, rows], trace.k, value, mask, trace.scale, config.softcap, config.softmax)
            for value in (trace.v, torch.eye(n).expand(h, -1, -1))
        )
        seen = trace.mask.any(-1)
        return Parity(
            weights=greatest(trace.weights[:, rows] - weights.output),
            output=greatest(trace.context[:, rows] - context.output),
            row_sum=greatest(_sums(trace, rows, context.nothing) - 1),
            blind=int((~seen).sum()),
            rows=many,
            rounding=rounding(trace.q[:, rows], trace.k, trace.scale, config.softcap),
        )


def rounding(query: Float[Tensor, "h r d"], key: Float[Tensor, "g n d"], scale: float, softcap: float | None) -> float:
    """What scores may be off by: the relative step of their dtype, times the most that they can be by their lengths."""
    most = float(query.norm(dim=-1).max() * key.norm(dim=-1).max()) * abs(scale)
    return torch.finfo(query.dtype).eps * min(most, softcap or math.inf)


def evenly(n: int, many: int) -> Int[Tensor, "r"]:
    """So many of n positions, evenly spread and with the last; all where there are fewer."""
    found = torch.linspace(0, n - 1, min(n, many)).round().long()
    found[-1] = n - 1
    return found


def _sums(trace: Trace, rows: Int[Tensor, "r"] | slice, nothing: Float[Tensor, "h r"]) -> Float[Tensor, "h s"]:
    """Sums of every row that sees something; of the compared ones, with what went to it, where one was added."""
    seen = trace.mask.any(-1)
    if trace.config.softmax == "standard":
        return trace.weights.sum(-1)[:, seen]
    return (trace.weights[:, rows].sum(-1) + nothing)[:, seen[rows]]


class ByTorch(NamedTuple):
    """What scaled_dot_product_attention gives: its output, and the weight that goes to the one that may be added."""

    output: Float[Tensor, "h r e"]
    nothing: Float[Tensor, "h r"]


def by_torch(
    q: Float[Tensor, "h r d"],
    k: Float[Tensor, "h n d"],
    v: Float[Tensor, "h n e"],
    mask: Float[Tensor, "*h r n"],
    scale: float,
    softcap: float | None,
    softmax: str,
) -> ByTorch:
    """Attention of these queries by scaled_dot_product_attention, with a mask that is added to the scores.

    A softcap, which it does not have, goes in as scores that are ready (a float mask over queries of zero); one added
    to the denominator is a key of zeros with a value of zeros, and a channel of its own to tell its weight.
    """
    if softcap:
        mask = mask + capped(q @ k.mT * scale, softcap)
        q = torch.zeros_like(q)
    if softmax == "plus one":
        k, v, mask = F.pad(k, (0, 0, 0, 1)), F.pad(v, (0, 1, 0, 1)), F.pad(mask, (0, 1))
        v[:, -1, -1] = 1
    found = F.scaled_dot_product_attention(q[None], k[None], v[None], mask.expand(1, len(q), -1, -1), scale=scale)[0]
    if softmax == "plus one":
        return ByTorch(found[..., :-1], found[..., -1])
    return ByTorch(found, torch.zeros_like(found[..., 0]))


def greatest(difference: Tensor) -> float:
    """The greatest absolute value, 0 of none."""
    return float(difference.abs().max()) if difference.numel() else 0.0
