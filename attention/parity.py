"""Does the picture agree with PyTorch? The weights and outputs on the screen against its own attention.

`torch.nn.functional.scaled_dot_product_attention` does not return its weights, but it multiplies them with any value:
with the unit matrix beside v as the value, it returns both.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from attention.attend import HIDDEN
from attention.scores import capped
from attention.trace import Trace

BUDGET = 2**27  # multiplications of the check at the most: about as long as the pass itself


@dataclass(frozen=True)
class Parity:
    """Greatest differences of `weights` and `output` (before W_o) to PyTorch, greatest error of a row's sum, how many
    rows see nothing (`blind`), and how many rows of each head were compared (`rows`), evenly spread and with the last.
    """

    weights: float
    output: float
    row_sum: float
    blind: int
    rows: int

    @property
    def agrees(self) -> bool:
        """Within what float32 allows: 1e-5 relative to outputs of about one."""
        return max(self.weights, self.output, self.row_sum) <= 1e-5


def parity(trace: Trace) -> Parity:
    """The pass against scaled_dot_product_attention on the same q, k, v, mask, bias, scale and softmax."""
    h, n, _ = trace.weights.shape
    rows = torch.linspace(0, n - 1, min(n, max(1, BUDGET // (h * n * n)))).round().long()
    rows[-1] = n - 1
    with torch.inference_mode():
        context, weights = _reference(trace, rows)
        seen = trace.mask.any(-1)
        return Parity(
            weights=_greatest(trace.weights[:, rows] - weights[..., :n]),
            output=_greatest(trace.context[:, rows] - context),
            row_sum=_greatest(_sums(trace, rows, weights) - 1),
            blind=int((~seen).sum()),
            rows=len(rows),
        )


def _sums(trace: Trace, rows: Int[Tensor, "r"], reference: Float[Tensor, "h r w"]) -> Float[Tensor, "h s"]:
    """Sums of every row that sees something; of the compared ones, with what went to it, where one was added."""
    seen = trace.mask.any(-1)
    if trace.config.softmax == "standard":
        return trace.weights.sum(-1)[:, seen]
    added = reference[..., trace.weights.shape[-1] :].sum(-1)
    return (trace.weights[:, rows].sum(-1) + added)[:, seen[rows]]


def _reference(trace: Trace, rows: Int[Tensor, "r"]) -> tuple[Float[Tensor, "h r d"], Float[Tensor, "h r w"]]:
    """Context and weights of these queries by scaled_dot_product_attention.

    A softcap, which it does not have, goes in as scores that are ready (a float mask over queries of zero); one added
    to the denominator is a key of zeros with a value of zeros.
    """
    q, k, v = trace.q[:, rows], trace.k, trace.v
    mask = torch.where(trace.mask[rows], trace.bias[:, rows], HIDDEN)
    if trace.config.softcap:
        mask = mask + capped(q @ k.mT * trace.scale, trace.config.softcap)
        q = torch.zeros_like(q)
    if trace.config.softmax == "plus one":
        k, v, mask = F.pad(k, (0, 0, 0, 1)), F.pad(v, (0, 0, 0, 1)), F.pad(mask, (0, 1))
    both = torch.cat([v, torch.eye(k.shape[1]).expand(len(v), -1, -1)], -1)
    found = F.scaled_dot_product_attention(q[None], k[None], both[None], mask[None], scale=trace.scale)[0]
    return found[..., : v.shape[-1]], found[..., v.shape[-1] :]


def _greatest(difference: Tensor) -> float:
    return float(difference.abs().max()) if difference.numel() else 0.0
