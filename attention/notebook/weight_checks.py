"""Checks of numbers: weights from 0 to 1, finite queries and keys; and what is said of sums of rows."""

from __future__ import annotations

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.imported import checks

SUM = 1e-3  # tolerance of the sums of rows of weights


def check_weights(weights: Float[Tensor, "l h q k"]) -> Float[Tensor, "l h q k"]:
    """Checks weights; raises ValueError for numbers that can't be weights, and names the first of them."""
    low, high = map(float, weights.aminmax())
    if not math.isfinite(low) or not math.isfinite(high):
        check_finite(weights, "weights")
    if low < 0 or high > 1 + SUM:
        value, where = _first(weights, (weights < 0) | (weights > 1 + SUM))
        if checks.looks_dropped_out(weights):
            raise ValueError(f"weights: {value:.4g} {where} is not from 0 to 1.{checks.DROPPED}")
        raise ValueError(
            f"weights: {value:.4g} {where} is not from 0 to 1. If these are scores before the softmax, give weights.softmax(-1)."
        )
    return weights.clamp(max=1) if high > 1 else weights


def check_finite(x: Tensor, name: str) -> None:
    if not x.isfinite().all():
        value, where = _first(x, ~x.isfinite())
        raise ValueError(f"{name}: {value} {where} is not a number. torch.nan_to_num replaces those.")


def _first(x: Tensor, wrong: Bool[Tensor, "..."]) -> tuple[float, str]:
    layer, head, row, column = wrong.nonzero()[0].tolist()
    return float(x[layer, head, row, column]), f"at layer {layer}, head {head}, row {row}, column {column}"


def describe_sums(weights: Float[Tensor, "l h q k"]) -> str:
    """The remark about rows that do not sum to one."""
    sums = weights.sum(-1, dtype=torch.float64 if weights.dtype == torch.float64 else torch.float32)
    empty = sums == 0
    low, high = map(float, sums[~empty].aminmax()) if not empty.all() else (1.0, 1.0)
    nothing = f"; {int(empty.sum()):,} of {sums.numel():,} rows have no weight at all" if empty.any() else ""
    apart = f"; rows come to {low:.3g} up to {high:.3g}, not to one" if max(1 - low, high - 1) >= SUM else ""
    return nothing + apart
