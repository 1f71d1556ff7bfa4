"""Checks the numbers of an upload before a page shows them; messages name the part and the position."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.array_files.deadline import check_deadline
from attention.array_files.limits import DataError
from attention.imported.stack import Stack

ROUNDED = 0.01  # largest deviation of a row sum if weights were stored with 16 bits or less
OVER = 1 + ROUNDED  # largest weight, and largest sum of a row that is a distribution
ABOUT = 0.2  # largest deviation of the mean row sum from one after dropout, which scales the remaining weights
GREATEST = 1e16  # of queries, keys and values: sums of products over all channels are still finite in float32
NOT_FINITE = " Padding may be cut off, or set to 0, before saving."
DROPPED = " Rows sum to 1 in the mean and have zeros. If this is dropout, save in evaluation mode, model.eval()."
SCORES = " If these are scores before the softmax, save scores.softmax(-1)."
RELATIVE = (
    "These columns are relative to each query (Longformer, the encoder of LED), with those of global tokens beside them: they "
    "are no keys, and can't be shown."
)
LOST = 1e-3  # largest sum of the weights on masked pairs of a row
AXES = {
    "q": ("layer", "head", "query", "channel"),
    "k": ("layer", "head", "key", "channel"),
    "v": ("layer", "head", "key", "channel"),
}
AXES |= {"weights": ("layer", "head", "query", "key")}


def numbers(name: str, part: Tensor, layers: tuple[int, ...]) -> None:
    """Raises DataError if a part `(l h n d)` has numbers that are not finite, too large, or as weights not from 0 to 1."""
    least, most = (0.0, OVER) if name == "weights" else (-GREATEST, GREATEST)
    for at, layer in enumerate(part):
        check_deadline()
        for head, square in enumerate(layer):
            lowest, highest = square.aminmax()  # NaN if there is any
            if not (least <= float(lowest) and float(highest) <= most):
                _raise(name, square, layers[at], head, least, most)


def without_numbers(weights: Tensor) -> int:
    """Sets rows of weights `(l h q k)` that are all NaN, as a softmax returns for a fully masked row, to 0; returns
    their number.
    """
    many = 0
    for head in weights.flatten(0, 1):
        if bool(head.isnan().any()):
            rows = head.isnan().all(-1)
            head[rows] = 0
            many += int(rows.sum())
    return many


def rows(weights: Tensor, layers: tuple[int, ...]) -> str:
    """Returns a sentence if rows of weights `(l h q k)` don't sum to one, else "". Rows without any weight are fully masked."""
    worst = Worst()
    for at, layer in enumerate(weights):
        check_deadline()
        for head, square in enumerate(layer):
            sums = square.sum(-1, dtype=torch.float32)
            worst.look((sums - 1).abs().masked_fill(sums == 0, 0), ROUNDED, (layers[at], head), sums)
    if not worst.many:
        return ""
    return (
        f"{worst.many:,} of {worst.count:,} rows don't sum to 1. Largest deviation: row sum {worst.value:.3g} at {worst.place} "
        "(counted from 0). "
        "They are shown unchanged. Possible causes: dropout, truncation, or another axis of keys."
    )


def over_one(weights: Tensor) -> bool:
    """Whether some row of weights `(l h q k)` sums to more than one, so that rows are no distributions."""
    return any(bool((head.sum(-1, dtype=torch.float32) > OVER).any()) for head in weights.flatten(0, 1))


def hidden_weight_warning(stack: Stack, layers: tuple[int, ...]) -> str:
    """Returns a sentence if rows of weights have some on pairs that the mask of their layer masks, else ""."""
    if stack.square is None or stack.weights is None:
        return ""
    worst = Worst()
    for at, layer in enumerate(stack.weights):
        check_deadline()
        square = stack.square[at] if stack.square.ndim == 3 else stack.square
        for head, part in enumerate(layer):
            lost = part.masked_fill(square, 0).sum(-1, dtype=torch.float32)
            worst.look(lost, LOST, (layers[at], head), lost)
    if not worst.many:
        return ""
    return (
        f"{worst.many:,} of {worst.count:,} rows have weight on masked pairs. Largest: {worst.place}, with "
        f"{worst.value:.3g}. Is it inverted? Here, True (or 0 added to scores) means visible."
    )


@dataclass
class Worst:
    """Counts the rows of all heads that are off by more than is allowed, and keeps the worst one with its value."""

    many: int = 0
    count: int = 0
    off: float = 0.0
    place: str = ""
    value: float = 0.0

    def look(self, off: Tensor, most: float, where: tuple[int, int], values: Tensor) -> None:
        """Adds the rows of one head."""
        self.many, self.count = self.many + int((off > most).sum()), self.count + len(off)
        if float(off.max()) > self.off:
            query = int(off.argmax())
            self.off, self.value = float(off[query]), float(values[query])
            self.place = f"layer {where[0]}, head {where[1]}, query {query}"


def _raise(name: str, square: Tensor, layer: int, head: int, least: float, most: float) -> None:
    """Raises DataError for the first invalid number of a head, and says how many there are."""
    finite = bool(square.isfinite().all())
    wrong = ~square.isfinite() if not finite else (square < least) | (square > most)
    first, many = int(wrong.flatten().byte().argmax()), int(wrong.sum())
    value = float(square.flatten()[first])
    where = ", ".join(
        f"{axis} {at}" for axis, at in zip(AXES[name], (layer, head, *divmod(first, square.shape[1])), strict=True)
    )
    more = f", and {many - 1:,} more in this head" if many > 1 else ""
    if not finite:
        what, then = f"is {value:.3g}, not a finite number", NOT_FINITE
    elif name != "weights":
        what, then = f"is {value:.3g}; products of numbers over {GREATEST:g} overflow", ""
    elif value < 0:
        what, then = f"is {value:.3g}, but a weight can't be negative", SCORES
    else:
        what, then = f"is {value:.3g}, but a weight can't be over 1", DROPPED if looks_dropped_out(square) else SCORES
    raise DataError(f"{name} at {where} {what}{more}.{then}")


def looks_dropped_out(square: Tensor) -> bool:
    """Whether weights `(... q k)` look as after dropout: some are 0, and rows sum to 1 in the mean."""
    sums = square.sum(-1, dtype=torch.float32)
    there = sums != 0
    return bool((square >= 0).all()) and bool((square == 0).any()) and abs(float(sums[there].mean()) - 1) < ABOUT


def has_relative_columns(weights: Float[Tensor, "l h q k"]) -> bool:
    """Whether columns are relative to each query, as in Longformer and LED: zero where they leave the text.

    There, the last 2 w + 1 columns of query i are the keys from i - w to i + w; columns before them are global tokens.
    """
    queries, columns = weights.shape[2:]
    if queries < 2:
        return False
    used = (weights != 0).any(0).any(0)
    return any(_is_band(used[:, -2 * width - 1 :], width) for width in range(1, (columns - 1) // 2 + 1))


def _is_band(local: Bool[Tensor, "q w"], width: int) -> bool:
    """Whether the queries use the column of themselves, and none before or after the text. Rows may be unused."""
    there = local.any(-1).nonzero()[:, 0]
    local = local[int(there[0]) : int(there[-1]) + 1] if len(there) else local[:0]  # without padding
    if not (local[:, :width].any() and local[:, width + 1 :].any()) or local[0, :width].any():
        return False
    keys = torch.arange(len(local))[:, None] + torch.arange(-width, width + 1)
    outside = (keys < 0) | (keys >= len(local))
    return not local[outside].any() and bool((local[:, width] | ~local.any(-1)).all())


def odd_numbers(stack: Stack) -> list[str]:
    """Returns warnings about odd numbers in a stack; raises DataError for numbers that can't be shown."""
    layers, found = stack.numbers or tuple(range(128)), []
    for name in ("q", "k", "v", "weights"):
        part = getattr(stack, name)
        if name == "weights" and part is not None and (many := without_numbers(part)):
            found.append(f"{many:,} rows of weights are NaN and shown as rows without weight.")
        if part is not None:
            numbers(name, part, layers)
    if stack.weights is not None:
        if has_relative_columns(stack.weights):
            raise DataError(RELATIVE)
        found.extend(filter(None, (rows(stack.weights, layers), hidden_weight_warning(stack, layers))))
    return found
