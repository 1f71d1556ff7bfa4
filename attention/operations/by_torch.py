"""The same pass by torch.nn.functional.scaled_dot_product_attention, to compare with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from attention.operations.mask import HIDDEN
from attention.operations.softcap import soft_cap


class ByTorch(NamedTuple):
    """The output of scaled_dot_product_attention, and the weight of what may be added to the denominator."""

    output: Float[Tensor, "h r e"]
    nothing: Float[Tensor, "h r"]


def by_torch(
    q: Float[Tensor, "h r d"],
    k: Float[Tensor, "h n d"],
    v: Float[Tensor, "h n e"],
    mask: Float[Tensor, "*h r n"],
    scale: float,
    softcap: float | None,
    sinks: Sequence[float],
) -> ByTorch:
    """Computes attention with scaled_dot_product_attention, with a mask that is added to the scores.

    It has no softcap, so capped scores are passed as a float mask over queries of zero. What is added to the denominator is
    passed as a key and a value of zeros, whose logit, one of `sinks` per head, is in the mask, with an extra channel that
    returns its weight.
    """
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
