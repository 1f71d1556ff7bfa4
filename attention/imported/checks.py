"""What is checked of numbers that were brought, before a page shows them: each by its name, and where."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attention.imported.stack import Stack
from attention.imported.validate import BroughtError

ROUNDED = 0.01  # what the sum of a row may be off by where weights were stored with 16 bits or less
OVER = 1 + ROUNDED  # what a weight may be
ABOUT = (
    0.2  # what rows may be off one in the mean where dropout has taken some of their weights and enlarged the others
)
GREATEST = 1e16  # of queries, keys and values: products of two, summed over all channels, are still numbers of 32 bits
NOT_FINITE = " Padding may be cut off, or set to 0, before saving."
DROPPED = " Rows sum to 1 in the mean and have zeros, as after dropout: save them from a model in evaluation mode, model.eval()."
SCORES = " If these are scores before the softmax, save scores.softmax(-1)."
LOST = 1e-3  # what the weights of a row may come to where a mask hides
AXES = {
    "q": ("layer", "head", "query", "channel"),
    "k": ("layer", "head", "key", "channel"),
    "v": ("layer", "head", "key", "channel"),
}
AXES |= {"weights": ("layer", "head", "query", "key")}


def numbers(name: str, part: Tensor, layers: tuple[int, ...]) -> None:
    """Raises BroughtError where a part `(l h n d)` has numbers that are not finite, too large or no weights."""
    least, most = (0.0, OVER) if name == "weights" else (-GREATEST, GREATEST)
    for at, layer in enumerate(part):
        for head, square in enumerate(layer):
            lowest, highest = square.aminmax()  # NaN where there is any
            if not (least <= float(lowest) and float(highest) <= most):
                _raise(name, square, layers[at], head, least, most)


def without_numbers(weights: Tensor) -> int:
    """Rows of weights `(l h q k)` that are NaN throughout, which become 0: a softmax makes such of a query that sees no key."""
    many = 0
    for head in weights.flatten(0, 1):
        if bool(head.isnan().any()):
            rows = head.isnan().all(-1)
            head[rows] = 0
            many += int(rows.sum())
    return many


def rows(weights: Tensor, layers: tuple[int, ...]) -> str:
    """A sentence where rows of weights `(l h q k)` don't sum to one; empty where all do. One without any weight sees nothing."""
    worst = Worst()
    for at, layer in enumerate(weights):
        for head, square in enumerate(layer):
            sums = square.sum(-1, dtype=torch.float32)
            worst.look((sums - 1).abs().masked_fill(sums == 0, 0), ROUNDED, (layers[at], head), sums)
    if not worst.many:
        return ""
    return (
        f"{worst.many:,} of {worst.count:,} rows don't sum to 1. The farthest: {worst.place}, with {worst.value:.3g}. "
        "They are shown as they are. Dropout, a cut, or another axis of keys would do that."
    )


def hidden_weight_warning(stack: Stack, layers: tuple[int, ...]) -> str:
    """A sentence where rows of a stack's weights have some on pairs that the mask of their layer hides; empty where none has."""
    if stack.square is None or stack.weights is None:
        return ""
    worst = Worst()
    for at, layer in enumerate(stack.weights):
        square = stack.square[at] if stack.square.ndim == 3 else stack.square
        for head, part in enumerate(layer):
            lost = part.masked_fill(square, 0).sum(-1, dtype=torch.float32)
            worst.look(lost, LOST, (layers[at], head), lost)
    if not worst.many:
        return ""
    return (
        f"{worst.many:,} of {worst.count:,} rows have weight on pairs that the mask hides. The most: {worst.place}, with "
        f"{worst.value:.3g}. Is it the other way round? True, or 0 of what is added to scores, takes part here."
    )


@dataclass
class Worst:
    """Of the rows of all heads: how many are off by more than is allowed, and which one by most, with its value."""

    many: int = 0
    count: int = 0
    off: float = 0.0
    place: str = ""
    value: float = 0.0

    def look(self, off: Tensor, most: float, where: tuple[int, int], values: Tensor) -> None:
        """Takes in the rows of one head."""
        self.many, self.count = self.many + int((off > most).sum()), self.count + len(off)
        if float(off.max()) > self.off:
            query = int(off.argmax())
            self.off, self.value = float(off[query]), float(values[query])
            self.place = f"layer {where[0]}, head {where[1]}, query {query}"


def _raise(name: str, square: Tensor, layer: int, head: int, least: float, most: float) -> None:
    """Raises BroughtError for the first place of a head that has a number which can't be, and says how many there are."""
    finite = bool(square.isfinite().all())
    wrong = ~square.isfinite() if not finite else (square < least) | (square > most)
    first, many = int(wrong.flatten().byte().argmax()), int(wrong.sum())
    value = float(square.flatten()[first])
    where = ", ".join(
        f"{axis} {at}" for axis, at in zip(AXES[name], (layer, head, *divmod(first, square.shape[1])), strict=True)
    )
    more = f", and {many - 1:,} more in this head" if many > 1 else ""
    if not finite:
        what, then = "is no finite number", NOT_FINITE
    elif name != "weights":
        what, then = f"is larger than {GREATEST:g}, so that products of such are no numbers", ""
    elif value < 0:
        what, then = "is negative; weights are between 0 and 1", SCORES
    else:
        what, then = "is over 1; weights are between 0 and 1", DROPPED if looks_dropped_out(square) else SCORES
    raise BroughtError(f"{name} at {where} {what}: {value:.3g}{more}.{then}")


def looks_dropped_out(square: Tensor) -> bool:
    """Are weights `(... q k)` what dropout leaves of such: some of a row are 0, and rows sum to 1 in the mean?"""
    sums = square.sum(-1, dtype=torch.float32)
    there = sums != 0
    return bool((square >= 0).all()) and bool((square == 0).any()) and abs(float(sums[there].mean()) - 1) < ABOUT
