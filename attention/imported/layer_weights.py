"""Computes the weights of a layer from queries and keys, and compares them with weights in a file."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.attend import attend
from attention.imported.stack import Stack
from attention.masks import MASKS
from attention.operations.mask import HIDDEN
from attention.operations.positions import POSITIONS
from attention.operations.scale import SCALES
from attention.operations.softmax import SOFTMAXES
from attention.recorded.file import OWN

DIFFER = 0.05  # larger than the rounding errors of 16-bit numbers


def layer(stack: Stack, at: int) -> tuple[Float[Tensor, "h q k"], Bool[Tensor, "q k"]]:
    """Returns the weights of all heads of a layer, given by its index, in float32, and which pairs are visible.

    For weights alone without a mask, all pairs take part except those of queries without any weight.
    """
    if stack.q is None or stack.k is None:
        return _alone(stack, at)
    own: dict[str, Any] = OWN | stack.own_of(at)
    q = stack.q[at].float()
    k = stack.k[at].float().repeat_interleave(len(q) // stack.k.shape[1], 0)
    queries, keys = q.shape[1], k.shape[1]
    mask = (
        square if (square := stack.square_of(at)) is not None else MASKS[own["mask"]].square(queries, keys, own["span"])
    )
    joint = mask
    if to_scores := POSITIONS[own["positions"]].to_scores:
        heads = torch.arange(len(q))[:, None, None]
        bias = to_scores(torch.arange(queries)[:, None], torch.arange(keys)[None], heads, len(q))
        joint = bias.masked_fill(~mask, HIDDEN)
    options = {"scale": SCALES[own["scale"]](q.shape[-1]), "softcap": own["softcap"] or None}
    pass_ = partial(attend, **options, normalise=SOFTMAXES[own["softmax"]].normalise)
    with torch.inference_mode():
        return pass_(q, k, k.new_empty(len(k), keys, 0), None if joint.all() and joint is mask else joint).weights, mask


def only_heads(stack: Stack, at: int, heads: range) -> Stack:
    """Returns a stack with only these heads of a layer, given by its index."""
    stack = replace(stack, square=stack.square_of(at), rules=stack.rules[at : at + 1])
    if stack.q is None or stack.k is None:
        some = None if stack.weights is None else stack.weights[at : at + 1, heads.start : heads.stop]
        return replace(stack, v=None, weights=some)
    shared = stack.q.shape[1] // stack.k.shape[1]
    k = stack.k[at : at + 1, [head // shared for head in heads]]
    return replace(stack, q=stack.q[at : at + 1, heads.start : heads.stop], k=k, v=None, weights=None)


def differing(stack: Stack, given: Float[Tensor, "h q k"], number: int) -> str:
    """Returns a sentence if the first layer's queries and keys give other weights than the file has; else "".

    Heads are compared one at a time, as all of them may not fit in memory with the file. `number`: the number of the layer.
    """
    assert stack.q is not None and stack.k is not None
    heads = stack.q.shape[1]
    if given.shape != (heads, stack.q.shape[2], stack.k.shape[2]):
        return f"The weights in it are of shape {tuple(given.shape)} (heads, queries, keys): not those of its queries and keys."
    worst, where = 0.0, 0
    for head in range(heads):
        alone = only_heads(stack, 0, range(head, head + 1))
        apart = float((layer(alone, 0)[0][0] - given[head].float()).abs().max())
        worst, where = (apart, head) if not apart <= worst else (worst, where)
    if worst <= DIFFER:
        return ""
    return (
        f"The weights in it differ from what its queries and keys come to: by {worst:.3g} in layer {number}, head {where}. Were "
        "these saved before their positions turned them (RoPE), or under another scale or mask? Save weights alone to see these."
    )


def _alone(stack: Stack, at: int) -> tuple[Float[Tensor, "h q k"], Bool[Tensor, "q k"]]:
    if stack.weights is None:
        raise ValueError(f"{stack.title!r} has neither queries and keys nor weights.")
    return stack.weights[at].float(), visible(stack, at)


def visible(stack: Stack, at: int) -> Bool[Tensor, "q k"]:
    """Returns which pairs take part in a layer of weights alone."""
    assert stack.weights is not None
    if (square := stack.square_of(at)) is not None:
        return square
    weights = stack.weights[at]
    return weights.any(-1).any(0)[:, None].expand(weights.shape[1:])
