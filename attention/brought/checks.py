"""What is checked of numbers that were brought, before a page shows them: each by its name, and where."""

from __future__ import annotations

import torch
from torch import Tensor

from attention.brought.fitting import BroughtError

ROUNDED = 0.01  # what the sum of a row may be off by where weights were stored with 16 bits or less
OVER = 1 + ROUNDED  # what a weight may be
LOST = 1e-3  # what the weights of a row may come to where a mask hides
AXES = {
    "q": ("layer", "head", "query", "channel"),
    "k": ("layer", "head", "key", "channel"),
    "v": ("layer", "head", "key", "channel"),
}
AXES |= {"weights": ("layer", "head", "query", "key")}


def numbers(name: str, part: Tensor, layers: tuple[int, ...]) -> None:
    """Raises BroughtError where a part `(l h n d)` has cells that are no finite number, or weights that can't be."""
    for at, layer in enumerate(part):
        _none(~layer.isfinite(), name, layers[at], "is no finite number", layer)
        if name == "weights":
            _none(layer < 0, name, layers[at], "is negative; weights are between 0 and 1", layer)
            _none(layer > OVER, name, layers[at], "is over 1; weights are between 0 and 1", layer)


def rows(weights: Tensor, layers: tuple[int, ...]) -> str:
    """A sentence where rows of weights `(l h q k)` don't sum to one; empty where all do. One without any weight sees nothing."""
    many, worst, place, count = 0, 0.0, (0, 0, 0, 1.0), 0
    for at, layer in enumerate(weights):
        sums = layer.sum(-1, dtype=torch.float32)
        off = (sums - 1).abs().masked_fill(sums == 0, 0)
        many, count = many + int((off > ROUNDED).sum()), count + sums.numel()
        if float(off.max()) > worst:
            worst, (head, query) = float(off.max()), divmod(int(off.argmax()), sums.shape[1])
            place = (layers[at], head, query, float(sums[head, query]))
    if not many:
        return ""
    layer, head, query, total = place
    return (
        f"{many:,} of {count:,} rows don't sum to 1. The farthest: layer {layer}, head {head}, query {query}, with {total:.3g}. "
        "They are shown as they are. Dropout, a cut, or another axis of keys would do that."
    )


def hidden(weights: Tensor, square: Tensor | None, layers: tuple[int, ...]) -> str:
    """A sentence where rows of weights `(l h q k)` have some on pairs that a mask `(q k)` hides; empty where none has."""
    if square is None:
        return ""
    many, worst, place, count = 0, 0.0, (0, 0, 0), 0
    for at, layer in enumerate(weights):
        lost = layer.masked_fill(square, 0).sum(-1, dtype=torch.float32)
        many, count = many + int((lost > LOST).sum()), count + lost.numel()
        if float(lost.max()) > worst:
            worst, place = float(lost.max()), (layers[at], *divmod(int(lost.argmax()), lost.shape[1]))
    if not many:
        return ""
    layer, head, query = place
    return (
        f"{many:,} of {count:,} rows have weight on pairs that the mask hides. The most: layer {layer}, head {head}, query "
        f"{query}, with {worst:.3g}. Is it the other way round? True, or 0 of what is added to scores, takes part here."
    )


def ahead(weights: Tensor) -> bool:
    """Does no query of weights `(l h q k)` look ahead, so that a causal mask must have hidden it? Not told of a single one."""
    queries, keys = weights.shape[-2:]
    if queries != keys or queries < 2:
        return False
    over = torch.ones(queries, keys, dtype=torch.bool).triu(1)
    return not any(bool((layer[:, over] != 0).any()) for layer in weights)


def _none(wrong: Tensor, name: str, layer: int, what: str, values: Tensor) -> None:
    """Raises BroughtError with the first place where something is wrong, and how many there are."""
    many = int(wrong.sum())
    if not many:
        return
    cell = tuple(int(at) for at in wrong.nonzero()[0])
    where = ", ".join(f"{axis} {at}" for axis, at in zip(AXES[name], (layer, *cell), strict=True))
    more = f", and {many - 1:,} more in this layer" if many > 1 else ""
    raise BroughtError(f"{name} at {where} {what}: {float(values[cell]):.3g}{more}.")
