"""What a mask does to the weights: the same pass under a baseline mask, and the difference.

The baseline is the mask that the source itself has, so that a causal model is not compared with attention to later tokens
that it never had. What had weight on the keys that the mask hides loses it, and the softmax gives that weight to the other
keys in proportion, because it divides by a smaller sum: w = w_baseline / (1 - hidden).
"""

from __future__ import annotations

from dataclasses import replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.config import Config, shape
from attention.trace import Trace


def baseline(config: Config, mask: Bool[Tensor, "q k"]) -> Config:
    """The same settings under the mask that `mask`, the one in force, is compared with.

    That is the mask that the source has by itself, or the one that was chosen; generated attention has none by itself. A mask
    that is no rule is compared with causal attention if it hides all later keys, otherwise with attention to every key.
    """
    sizes = shape(config.source)
    if sizes and sizes.rules:  # each layer has its own, and no other is in force
        return config
    name, span = config.baseline, config.span
    if name == "auto":
        name = "full"
        if sizes and not sizes.square:
            name, span = sizes.own["mask"], sizes.own["span"]
        elif sizes and not sizes.keys and not mask.triu(1).any():
            name = "causal"
    return replace(config, mask=name, combine="none", span=span)


def hidden_weight(before: Trace, mask: Bool[Tensor, "q k"]) -> Float[Tensor, "h q"]:
    """The weight that each query has in a trace on the keys that a mask hides.

    If the mask only hides keys that the trace's own mask shows, this is half of the sum of the absolute differences that it
    makes in a row (their total variation distance), for the standard softmax and rows that still see a key.
    """
    return torch.stack([(weights * ~mask).sum(-1) for weights in before.weights])  # head by head: a square is large


def difference(before: Trace, after: Trace, head: int) -> Float[Tensor, "q k"]:
    """After minus before, of one head: what hidden keys lost is negative, what the others gained positive."""
    return after.weights[head] - before.weights[head]


def tile_extremes(cells: Float[Tensor, "q k"], side: int) -> tuple[Float[Tensor, "p r"], int]:
    """At most `side` cells a side, each the value farthest from zero in its tile, with its sign; and its tokens."""
    tile = -(-max(cells.shape) // side)
    return farthest(cells, tile, tile), tile


def farthest(cells: Float[Tensor, "q k"], rows: int, columns: int) -> Float[Tensor, "p r"]:
    """Of each tile of so many rows and columns the value farthest from zero, with its sign."""
    if rows == columns == 1:
        return cells
    pooled = torch.nn.functional.max_pool2d(torch.stack([cells, -cells]), (rows, columns), ceil_mode=True)
    return torch.where(pooled[0] >= pooled[1], pooled[0], -pooled[1])
