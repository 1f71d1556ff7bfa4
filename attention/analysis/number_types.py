"""Compares one head in float32, bfloat16 and float16 with float64: rounding errors and overflows.

Materialised: each step of the pass is rounded to the type, as if it were written to memory: queries and keys, dot
products, scaled and capped scores, exponentials, their sum, weights. Within a product or a sum torch accumulates in
float32, as tensor cores do. Fused: queries and keys are rounded, everything up to the softmax is float32, and the weights
are rounded, as in fused kernels and so in `F.scaled_dot_product_attention`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attention.operations.differential import given_halves, own_name
from attention.operations.softmax import SOFTMAXES
from attention.operations.table import compute, operations
from attention.sources.spec import spec_of
from attention.trace import Trace, forget_logits

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
FUSED = "fused"
EXPONENTS = ("max-subtracted", "naive", FUSED)  # the first two are materialised
OVERFLOWS = ("dots", "logits", "exps", "sums")


@dataclass(frozen=True)
class Limits:
    """The limits of a type: its `largest` number and the relative `step` between neighbours.

    exp(x) is infinite for x above `overflows` and zero for x below `vanishes`.
    """

    largest: float
    step: float
    overflows: float
    vanishes: float


@dataclass(frozen=True, eq=False)
class Rounded:
    """A head's weights in one type, computed in one of the ways of EXPONENTS, compared with float64.

    `difference (q k)`: weights minus the exact ones, NaN if not finite; `row`: the weights of the `worst` query; `error`
    and `row_sum`: largest error of a weight and of a row's sum over the finite rows; `broken`: number of rows with a
    weight that is not finite; `dots`, `logits`, `exps` and `sums`: how many dot products, logits, exponentials and sums
    overflowed.
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
    """Returns the limits of a type."""
    info = torch.finfo(DTYPES[dtype])
    return Limits(info.max, info.eps, math.log(info.max), math.log(info.smallest_normal * info.eps / 2))


def exact(trace: Trace) -> Float[Tensor, "q k"]:
    """Returns the weights of the selected head in float64, from the queries and keys of the trace."""
    return _weights(trace, torch.float64, "max-subtracted")[0]


def round_head(trace: Trace, dtype: str, exponent: str, reference: Float[Tensor, "q k"]) -> Rounded:
    """Returns the selected head in one type; `reference`: its weights in float64."""
    weights, *overflowed = _weights(trace, DTYPES[dtype], exponent)
    weights = weights.double()
    difference = weights - reference
    broken = ~weights.isfinite().all(-1)
    far = difference.abs().amax(-1).nan_to_num(math.inf, posinf=math.inf)  # a row that is not finite is the worst
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
    """Returns the weights `(q k)` of the selected head in a type, and how many of each of OVERFLOWS overflowed."""
    config, head, kept = trace.config, trace.config.head, dtype
    q, k = trace.q[head].to(dtype), trace.k[head].to(dtype)
    if exponent == FUSED:
        dtype = torch.float32
    spec = replace(spec_of(config), masks=True)
    given = given_halves(spec.halves, q=q[None].to(dtype), k=k[None].to(dtype))
    given |= {"mask": trace.mask, "heads": torch.tensor([head])} | forget_logits(trace.given)
    found = compute(given, spec, [each for each in operations(spec, "scores", "context") if each.part != "softmax"])
    blind = ~trace.mask.any(-1, keepdim=True)
    softmax = config.head_softmax if spec.halves == 1 else SOFTMAXES["standard"]
    each, overflowed = [], []
    for at in range(spec.halves):
        dots, logits = (found[own_name(name, at)][0] for name in ("scores", "logits"))
        weights, exps, sums = softmax.stored_steps(logits, exponent == "naive")
        each.append(weights)
        overflowed.append(
            [int(x[mask].isinf().sum()) for x, mask in _overflow_candidates(trace, dots, logits, exps, sums)]
        )
    weights = each[0] if len(each) == 1 else each[0] - config.diff_lambda * each[1]
    return weights.masked_fill(blind, 0).to(kept), *map(sum, zip(*overflowed, strict=True))


def _overflow_candidates(
    trace: Trace, dots: Tensor, logits: Tensor, exps: Tensor, sums: Tensor
) -> list[tuple[Tensor, Tensor]]:
    """Returns the tensors that may overflow, each with a mask of the cells that count: visible pairs, unmasked rows."""
    return [(dots, trace.mask), (logits, trace.mask), (exps, trace.mask), (sums[:, 0], trace.mask.any(-1))]


def compare_number_types(trace: Trace) -> list[Rounded]:
    """Returns the selected head in every type, materialised with both ways to compute exponentials, and fused."""
    with torch.inference_mode():
        reference = exact(trace)
        return [round_head(trace, dtype, exponent, reference) for dtype in DTYPES for exponent in EXPONENTS]
