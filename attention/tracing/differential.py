"""Differential attention (Ye et al. 2024, section 2.1): weights A1 - λ A2, the difference of two softmaxes.

Half of a layer's heads have A1, the other half A2. The difference has both signs, and is shown as two parts.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from attention.imported.layer_weights import layer
from attention.imported.stack import Stack

VECTORS = ("lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2")
BOTH, POSITIVE, NEGATIVE = "Softmaxes", "Difference, where positive", "Difference, where negative"


def factor(module: nn.Module) -> float | None:
    """λ of a layer: exp(λq1 λk1) - exp(λq2 λk2) + λinit; None if it has none."""
    found = [getattr(module, name, None) for name in VECTORS]
    first = getattr(module, "lambda_init", None)
    if first is None or not all(isinstance(each, Tensor) for each in found):
        return None
    with torch.no_grad():
        q1, k1, q2, k2 = (each.float() for each in found if isinstance(each, Tensor))
        return float((q1 * k1).sum().exp() - (q2 * k2).sum().exp()) + float(first)


def parts(stack: Stack, factors: list[float]) -> dict[str, Stack]:
    """The heads of a stack, and the differences of each pair; `factors`: λ of each layer."""
    layers = [layer(stack, at) for at in range(len(factors))]
    halves = [weights.chunk(2) for weights, _ in layers]
    whole = torch.stack([one - each * two for each, (one, two) in zip(factors, halves, strict=True)])
    most = max(1.0, float(whole.abs().max()))
    named = ", ".join(f"{each:.3g}" for each in factors)
    said = f"A1 - λ A2 of heads h and h + {whole.shape[1]}, which multiplies the values. λ of the layers: {named}."
    said += f" Divided by {most:.5g}, the largest of them." if most > 1 else ""
    alone = replace(stack, what=f"{said} {stack.what}", q=None, k=None, v=None, own={}, rules=())
    square = stack.square if stack.square is not None else torch.stack([mask for _, mask in layers])
    found = {BOTH: replace(stack, v=None, title=f"{stack.title}: {BOTH}")}  # the values are shared by both softmaxes
    for name, sign in ((POSITIVE, 1), (NEGATIVE, -1)):
        weights = (sign * whole).clamp(min=0) / most
        found[name] = replace(alone, title=f"{stack.title}: {name}", weights=weights, square=square)
    return found
