"""What a mask does to the weights: the same pass without it, and the difference.

Without a mask, every key gets a share of a query's weight. The mask takes away what stood on the keys that it hides;
the softmax gives it to the others in proportion, because it divides by a smaller sum: w = w_full / (1 - hidden).
"""

from __future__ import annotations

from dataclasses import replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.config import Config
from attention.trace import Trace


def unmasked(config: Config) -> Config:
    """The same settings with every key in sight."""
    return replace(config, mask="full", combine="none")


def hidden(before: Trace, mask: Bool[Tensor, "q k"]) -> Float[Tensor, "h q"]:
    """The weight that each query has, without a mask, on the keys that this one hides.

    It is half of the sum of the absolute differences that the mask makes in a row (their total variation distance)
    wherever the softmax is the standard one and the row still sees something.
    """
    return torch.stack([(weights * ~mask).sum(-1) for weights in before.weights])  # head by head: a square is large


def difference(before: Trace, after: Trace, head: int) -> Float[Tensor, "q k"]:
    """After minus before, of one head: what hidden keys lost is negative, what the others gained positive."""
    return after.weights[head] - before.weights[head]


def tiled(cells: Float[Tensor, "q k"], side: int) -> tuple[Float[Tensor, "p r"], int]:
    """At most `side` cells a side, each the value farthest from zero in its tile, with its sign; and its tokens."""
    tile = -(-max(cells.shape) // side)
    return farthest(cells, tile, tile), tile


def farthest(cells: Float[Tensor, "q k"], rows: int, columns: int) -> Float[Tensor, "p r"]:
    """Of each tile of so many rows and columns the value farthest from zero, with its sign."""
    if rows == columns == 1:
        return cells
    pooled = torch.nn.functional.max_pool2d(torch.stack([cells, -cells]), (rows, columns), ceil_mode=True)
    return torch.where(pooled[0] >= pooled[1], pooled[0], -pooled[1])
