"""The weights of one layer of a stack, computed from its queries and keys where it has these."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.attend import attend
from attention.brought.stack import Stack
from attention.masks import MASKS
from attention.recorded.file import OWN
from attention.scores import HIDDEN, POSITIONS, SCALES, SOFTMAXES


def layer(stack: Stack, at: int) -> tuple[Float[Tensor, "h q k"], Bool[Tensor, "q k"]]:
    """The weights of every head of the layer in this place, in float32, and which pairs take part.

    Of weights alone, where nobody says which pairs these are: all, but those of queries that have no weight at all.
    """
    if stack.q is None or stack.k is None:
        return _alone(stack, at)
    own: dict[str, Any] = OWN | dict(stack.own)
    q = stack.q[at].float()
    k = stack.k[at].float().repeat_interleave(len(q) // stack.k.shape[1], 0)
    queries, keys = q.shape[1], k.shape[1]
    mask = stack.square if stack.square is not None else MASKS[own["mask"]].square(queries, keys, own["span"])
    joint = mask
    if to_scores := POSITIONS[own["positions"]].to_scores:
        heads = torch.arange(len(q))[:, None, None]
        bias = to_scores(torch.arange(queries)[:, None], torch.arange(keys)[None], heads, len(q))
        joint = bias.masked_fill(~mask, HIDDEN)
    options = {"scale": SCALES[own["scale"]](q.shape[-1]), "softcap": own["softcap"] or None}
    pass_ = partial(attend, **options, normalise=SOFTMAXES[own["softmax"]])
    with torch.inference_mode():
        return pass_(q, k, k.new_empty(len(k), keys, 0), None if joint.all() and joint is mask else joint).weights, mask


def _alone(stack: Stack, at: int) -> tuple[Float[Tensor, "h q k"], Bool[Tensor, "q k"]]:
    if stack.weights is None:
        raise ValueError(f"{stack.title!r} has neither queries and keys nor weights.")
    weights = stack.weights[at].float()
    seen = (weights != 0).any(-1).any(0)[:, None].expand(weights.shape[1:])
    return weights, seen if stack.square is None else stack.square
