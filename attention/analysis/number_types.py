"""One head in the number types that machines compute with, against float64: how far off, and what overflows.

Materialised, each step of the pass is rounded to the type, as if it were written to memory: queries and keys, dot products,
scaled and capped scores, exponentials, their sum, weights. Inside a product or a sum torch adds up in float32, as tensor
cores do. Fused, queries and keys are rounded, all up to the softmax is float32, and the weights are rounded: what fused
kernels do, and `F.scaled_dot_product_attention` with them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attention.scores import HIDDEN, adds_one, soft_cap
from attention.trace import Trace, position_bias

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
FUSED = "fused"
EXPONENTS = ("max-subtracted", "naive", FUSED)  # the first two materialised
OVERFLOWS = ("dots", "logits", "exps", "sums")


@dataclass(frozen=True)
class Limits:
    """Where a type ends: its `largest` number, the relative `step` between neighbours, and the x from which
    exp(x) `overflows` or becomes zero (`vanishes`).
    """

    largest: float
    step: float
    overflows: float
    vanishes: float


@dataclass(frozen=True, eq=False)
class Rounded:
    """A head's weights in one type, computed in one of the ways of EXPONENTS, against float64.

    `difference (q k)`: weights less the exact ones, NaN where these are none; `row`: the weights of the `worst` query;
    `error`: greatest difference where there is one; `row_sum`: how far the rows' sums are from the exact ones at most;
    `broken`: rows with a weight that is no number; and how many `dots`, scaled `logits`, exponentials (`exps`) and
    `sums` overflowed.
    """

    dtype: str
    exponent: str
    difference: Float[Tensor, "q k"]
    row: Float[Tensor, " k"]
    worst: int
    error: float
    row_sum: float
    broken: int
    dots: int
    logits: int
    exps: int
    sums: int


def limits(dtype: str) -> Limits:
    """Where this type ends."""
    info = torch.finfo(DTYPES[dtype])
    return Limits(info.max, info.eps, math.log(info.max), math.log(info.smallest_normal * info.eps / 2))


def exact(trace: Trace) -> Float[Tensor, "q k"]:
    """The weights of the head in focus in float64, from the queries and keys of the trace."""
    return _weights(trace, torch.float64, "max-subtracted")[0]


def round_head(trace: Trace, dtype: str, exponent: str, reference: Float[Tensor, "q k"]) -> Rounded:
    """The head in focus in this type; `reference`: its weights in float64."""
    weights, *overflowed = _weights(trace, DTYPES[dtype], exponent)
    weights = weights.double()
    difference = weights - reference
    broken = ~weights.isfinite().all(-1)
    far = difference.abs().amax(-1).nan_to_num(math.inf, posinf=math.inf)  # a row that is no number is the worst
    worst = int(far.argmax())
    finite = difference[~broken]
    sums = (weights.sum(-1) - reference.sum(-1))[~broken]
    return Rounded(
        dtype=dtype,
        exponent=exponent,
        difference=difference.float().masked_fill(~weights.isfinite(), math.nan),
        row=weights[worst],
        worst=worst,
        error=float(finite.abs().max()) if finite.numel() else math.nan,
        row_sum=float(sums.abs().max()) if finite.numel() else math.nan,
        broken=int(broken.sum()),
        **dict(zip(OVERFLOWS, overflowed, strict=True)),
    )


def _weights(trace: Trace, dtype: torch.dtype, exponent: str) -> tuple[Any, ...]:
    """The weights `(q k)` of the head in focus in a type, and how many of each of OVERFLOWS overflowed."""
    config, head, kept = trace.config, trace.config.head, dtype
    q, k = trace.q[head].to(dtype), trace.k[head].to(dtype)
    if exponent == FUSED:
        dtype = torch.float32
    dots = q.to(dtype) @ k.to(dtype).T
    bias = position_bias(config)
    logits = soft_cap(dots * trace.scale, config.softcap)
    logits = logits if bias is None else logits + bias[head].to(dtype)
    logits = logits.masked_fill(~trace.mask, HIDDEN)
    blind = ~trace.mask.any(-1, keepdim=True)
    top = logits.amax(-1, keepdim=True).masked_fill(blind, 0) if exponent != "naive" else logits.new_zeros(())
    exps = (logits - top).exp()
    sums = exps.sum(-1, keepdim=True) + ((-top).exp() if adds_one(config.softmax) else 0)
    weights = (exps / sums).masked_fill(blind, 0).to(kept)
    return weights, *(int(x[mask].isinf().sum()) for x, mask in _overflow_candidates(trace, dots, logits, exps, sums))


def _overflow_candidates(
    trace: Trace, dots: Tensor, logits: Tensor, exps: Tensor, sums: Tensor
) -> list[tuple[Tensor, Tensor]]:
    """What may overflow, with the places that count: pairs and rows that the mask lets through."""
    return [(dots, trace.mask), (logits, trace.mask), (exps, trace.mask), (sums[:, 0], trace.mask.any(-1))]


def compare_number_types(trace: Trace) -> list[Rounded]:
    """The head in focus in every type, materialised with both ways to take exponentials, and fused."""
    with torch.inference_mode():
        reference = exact(trace)
        return [round_head(trace, dtype, exponent, reference) for dtype in DTYPES for exponent in EXPONENTS]
