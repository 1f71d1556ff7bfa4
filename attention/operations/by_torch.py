"""The same pass by torch.nn.functional.scaled_dot_product_attention, or by definition, to compare with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from attention.operations.differential import split_halves
from attention.operations.mask import HIDDEN
from attention.operations.normalisers import TORCH
from attention.operations.softcap import soft_cap
from attention.operations.softmax import SOFTMAXES, head_softmax


class ByTorch(NamedTuple):
    """The output of scaled_dot_product_attention, and what each row of its weights lacks to sum to one."""

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
    sinks: Sequence[float],
) -> ByTorch:
    """Computes attention with scaled_dot_product_attention, with a mask that is added to the scores.

    What torch has no attention for, as sparsemax, is computed in float64 by its definition.

    It has no softcap, so capped scores are passed as a float mask over queries of zero. What is added to the denominator is
    passed as a key and a value of zeros, whose logit, one of `sinks` per head, is in the mask, with an extra channel that
    returns its weight.
    """
    how = head_softmax(softmax, sinks[0])
    if how.halves > 1:
        return _difference(split_halves(q, how.halves), split_halves(k, how.halves), v, mask, scale, softcap, sinks)
    if how.reference != TORCH:
        logits = (soft_cap(q @ k.mT * scale, softcap) + mask).double()
        weights = how.by_definition(logits).nan_to_num(0.0)
        return ByTorch((weights @ v.double()).to(v.dtype), 1 - weights.sum(-1))
    if softcap:
        mask = mask + soft_cap(q @ k.mT * scale, softcap)
        q = torch.zeros_like(q)
    sums_to_one = all(sink == HIDDEN for sink in sinks)
    if not sums_to_one:
        added = mask.new_tensor(sinks)[:, None, None].expand(-1, mask.shape[-2], 1)
        k, v = F.pad(k, (0, 0, 0, 1)), F.pad(v, (0, 1, 0, 1))
        mask = torch.cat([mask.expand(len(q), -1, -1), added], -1)
        v[:, -1, -1] = 1
    found = F.scaled_dot_product_attention(q[None], k[None], v[None], mask.expand(1, len(q), -1, -1), scale=scale)[0]
    if sums_to_one:
        return ByTorch(found, torch.zeros_like(found[..., 0]))
    return ByTorch(found[..., :-1], found[..., -1])


def _difference(
    q: Float[Tensor, "s h r d"],
    k: Float[Tensor, "s h n d"],
    v: Float[Tensor, "h n e"],
    mask: Float[Tensor, "*h r n"],
    scale: float,
    softcap: float | None,
    sinks: Sequence[float],
) -> ByTorch:
    """Computes differential attention: the output of one attention minus lambda times that of another."""
    own = [HIDDEN] * len(sinks)
    one, two = (by_torch(*each, v, mask, scale, softcap, "standard", own).output for each in zip(q, k, strict=True))
    factors = v.new_tensor(sinks)[:, None, None]
    return ByTorch(one - factors * two, factors[..., 0].expand(one.shape[:-1]))


def row_sizes(weights: Float[Tensor, "*h r k"], softmax: str) -> Float[Tensor, "*h r"]:
    """Returns what differences of outputs are divided by: by how much those of the weights of a row may add up.

    That is one for softmaxes, whose errors are relative; the sum of a row of a sigmoid, if it is more than one; and the
    number of keys with weight of a sparse row.
    """
    how, weights = SOFTMAXES[softmax], weights.double()
    sums = weights.sum(-1).clamp(min=1)
    if not how.distributes:
        return sums
    return (weights > 0).sum(-1).clamp(min=1).double() if how.sparse else torch.ones_like(sums)
