"""The effect of a mask on the weights: their difference from the same pass under a baseline mask.

The baseline is the source's own mask, so that a causal model is not compared with attention to later tokens, which it
never had. Keys that the mask hides lose their weight, and the softmax distributes it over the other keys in proportion,
because it divides by a smaller sum: w = w_baseline / (1 - hidden).
"""

from __future__ import annotations

from dataclasses import replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.config import Config
from attention.fitting import shape, source_defaults
from attention.trace import Trace


def baseline(config: Config, mask: Bool[Tensor, "q k"]) -> Config:
    """Returns the config with the baseline mask that `mask`, the current one, is compared with.

    That is the source's own mask, or the selected one; generated attention has no mask of its own. A mask that is no rule
    is compared with causal attention if it hides all later keys, otherwise with attention to every key.
    """
    sizes = shape(config.source)
    name, span = config.baseline, config.span
    if name == "auto":
        name = "full"
        if sizes and not sizes.square:
            own = source_defaults(config.source, config.layer)
            name, span = own["mask"], own["span"]
        elif sizes and not sizes.keys and not mask.triu(1).any():
            name = "causal"
    return replace(config, mask=name, combine="none", span=span)


def hidden_weight(before: Trace, mask: Bool[Tensor, "q k"]) -> Float[Tensor, "h q"]:
    """Returns the weight that each query of a trace puts on the keys that a mask hides.

    If the mask hides only keys that are visible in the trace, this is half of the sum of the absolute differences of a row
    (the total variation distance), for the standard softmax and rows that are not fully masked.
    """
    return torch.stack([(weights * ~mask).sum(-1) for weights in before.weights])  # head by head, to save memory


def difference(before: Trace, after: Trace, head: int) -> Float[Tensor, "q k"]:
    """Returns after minus before of one head: the loss of masked keys is negative, the gain of the others positive."""
    return after.weights[head] - before.weights[head]


def tile_extremes(cells: Float[Tensor, "q k"], side: int) -> tuple[Float[Tensor, "p r"], int]:
    """Returns at most `side` cells per side, each the value farthest from zero in its tile, and the tokens per tile."""
    tile = -(-max(cells.shape) // side)
    return farthest(cells, tile, tile), tile


def farthest(cells: Float[Tensor, "q k"], rows: int, columns: int) -> Float[Tensor, "p r"]:
    """Returns the value farthest from zero, with its sign, of each tile of `rows` rows and `columns` columns."""
    if rows == columns == 1:
        return cells
    pooled = torch.nn.functional.max_pool2d(torch.stack([cells, -cells]), (rows, columns), ceil_mode=True)
    return torch.where(pooled[0] >= pooled[1], pooled[0], -pooled[1])
