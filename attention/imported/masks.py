"""Finds the mask of an uploaded stack: by a rule's name, a mask in the file, or the zeros of its weights.

All heads of a layer share one mask. If those of a file differ, it is refused, as one of them would be wrong for the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attention.array_files.arrays import Array
from attention.array_files.limits import DataError
from attention.imported.nearest_mask import knobs_of, nearest
from attention.imported.stack import Stack
from attention.imported.validate import check_parts, parts_of, sizes
from attention.masks import MASKS
from attention.recorded.file import OWN, TOKENS

HIDES = -1e4  # an additive mask masks a pair with this value or less
SQUARES = 2**14  # masks in an array: those of 128 layers of 128 heads
APART = "All heads of a layer share one mask here: save heads with another mask to a separate file"


def apply_rule(stack: Stack, rule: str, span: int) -> Stack:
    """Returns a stack of weights alone with the mask of a rule that the file names."""
    *_, queries, keys, _ = sizes(stack)
    return replace(stack, square=None if rule == "full" else MASKS[rule].square(queries, keys, span))


def by_layer(stack: Stack, rules: Sequence[tuple[str, int]]) -> Stack:
    """Returns a stack of weights alone with a mask per layer, given by rules."""
    *_, queries, keys, _ = sizes(stack)
    return replace(stack, square=torch.stack([MASKS[name].square(queries, keys, span) for name, span in rules]))


def apply_file_masks(
    stack: Stack, masks: Mapping[int, Array], item: int, batch: int
) -> tuple[Stack, dict[str, Any], str]:
    """Applies the masks of a file, given by layer, and returns the stack, knobs, and a sentence that says so.

    If the stack has queries and keys and the mask is a rule, the knobs are those of the rule, and the stack is
    unchanged. Otherwise the knobs are empty, and the mask is the `square` of the stack.

    `batch`: number of sequences in the arrays, of which `item` is shown. Raises DataError if heads differ.
    """
    each = _of_layers(stack, masks, item, batch)
    square = each[0] if all(torch.equal(one, each[0]) for one in each) else torch.stack(each)
    check_parts(parts_of(stack), square)
    queries, keys = square.shape[-2:]
    if square.ndim == 3:
        pairs = ", ".join(f"{int(one.sum()):,}" for one in each)
        told = f"Masks of the layers: of {queries:,} queries × {keys:,} keys, from the file; {pairs} pairs are visible."
        return replace(stack, square=square), {}, told
    told = f"Mask: of {queries:,} queries × {keys:,} keys, from the file; {int(square.count_nonzero()):,} pairs are visible."
    found = nearest(square)
    if not found.differing or max(square.shape) <= TOKENS:  # else it is refused: it is too long to be shown as a square
        told = f"{told} {found.sentence}"
    if stack.q is not None and (rule := knobs_of(found)):
        return stack, rule, told
    return replace(stack, square=square), {}, told


def from_zeros(stack: Stack) -> tuple[Stack, str]:
    """Returns a stack of weights alone with the mask that their zeros imply, and a sentence; "" if they follow no rule.

    A pair is masked if no head of any layer has weight on it. This counts only if it is exactly a rule, or one with
    padding. Rows that are uniform in every head may be fully masked ones: `show_uniform_rows` shows them again.
    """
    if stack.weights is None or not all(size > 1 for size in stack.weights.shape[-2:]):
        return stack, ""
    square = torch.zeros(stack.weights.shape[-2:], dtype=torch.bool)
    for head in stack.weights.flatten(0, 1):  # one head at a time, as a layer may be large
        square |= head != 0
    found = nearest(square)
    if found.differing and (uniform := _uniform_rows(stack.weights)).any():
        square &= ~uniform[:, None]
        found = nearest(square)
    if found.differing or found.rule == "full":
        return stack, ""
    told = "No query has weight on later keys, so the mask is taken to be causal."
    if found.rule != "causal":
        told = f"Mask: read from the zeros of all heads. {found.sentence}"
    return replace(stack, square=square), told


def show_uniform_rows(stack: Stack) -> tuple[Stack, str]:
    """Shows fully masked rows of weights that are uniform, as eager attention returns them; with a sentence, "" for none."""
    if stack.weights is None or stack.square is None:
        return stack, ""
    squares = stack.square if stack.square.ndim == 3 else stack.square[None]
    rows = ~squares.any(-1) & _uniform_rows(stack.weights)
    if not rows.any():
        return stack, ""
    square = (squares | rows[..., None]).view(stack.square.shape)
    many = int(rows.any(0).sum())
    said = (
        f"{many:,} quer{'y has' if many == 1 else 'ies have'} no visible key and equal weights on all keys, as eager attention "
        "returns for padding. They are shown unchanged."
    )
    return replace(stack, square=square), said


def _uniform_rows(weights: Tensor) -> Tensor:
    """Returns which queries `(q)` have the same weight, not 0, on every key, in every head of every layer."""
    found = torch.ones(weights.shape[-2], dtype=torch.bool)
    for head in weights.flatten(0, 1):
        least, most = head.aminmax(dim=-1)
        found &= (least == most) & (most != 0)
    return found


def padding(stack: Stack, masks: Mapping[int, Array], item: int, batch: int) -> Tensor | None:
    """Returns which keys `(k)` take part, if the only mask is of keys, (batch, keys) or (keys), as models take it; else None."""
    *_, queries, keys, _ = sizes(stack)
    array = next(iter(masks.values()))
    shape = array.shape if len(array.shape) == 2 else (1, *array.shape)
    if len(masks) > 1 or shape not in ((batch, keys), (1, keys)) or array.shape == (queries, keys):
        return None
    part = array.tensor().reshape(shape)[min(item, shape[0] - 1)]
    truths = bool(((part == 0) | (part == 1)).all()) and bool((part == 1).any())
    return part == 1 if truths else _visible_pairs(part, "mask")


def without_padding(stack: Stack, padding: Tensor, own: dict[str, Any]) -> Stack:
    """Returns the stack with padding keys masked as well; its rule in `own` becomes part of its `square`."""
    *_, queries, keys, _ = sizes(stack)
    if bool(padding.all()):
        return stack
    rule = own.get("mask", "full")
    square = MASKS[rule].square(queries, keys, int(own.get("span", OWN["span"])))
    square = square if stack.square is None else stack.square
    own["mask"] = "full"
    return replace(stack, square=square & padding)


def _of_layers(stack: Stack, masks: Mapping[int, Array], item: int, batch: int) -> list[Tensor]:
    """Returns the mask of each layer; one without a layer applies to all. Raises DataError if some differ or are missing."""
    layers = range(sizes(stack)[0])
    found: dict[int, tuple[str, Tensor]] = {}
    for number, array in sorted(masks.items()):
        for at, place, square in _squares(stack, number, array, item, batch):
            for each in layers if at is None else (at,):
                first, other = found.setdefault(each, (place, square))
                if other.shape != square.shape or not torch.equal(other, square):
                    raise DataError(f"The mask of {place} differs from that of {first}. {APART}.")
    if lacking := [at for at in layers if at not in found]:
        raise DataError(f"There are masks for some layers, but none for layer {_number(stack, 'layer', lacking[0])}.")
    return [found[at][1] for at in layers]


def _squares(stack: Stack, layer: int, array: Array, item: int, batch: int) -> Iterator[tuple[int | None, str, Tensor]]:
    """Yields the masks in an array: the index of the layer in the stack (None: all), the name of the place, and the mask."""
    if len(array.shape) < 2:
        raise DataError(f"mask is of shape {array.shape}; queries x keys are two axes.")
    *_, queries, keys, _ = sizes(stack)
    if array.shape[-2:] != (queries, keys) or math.prod(array.shape[:-2]) > SQUARES:
        raise DataError(
            f"The mask is of shape {array.shape}; with the others it would end in {queries, keys}.{_advice(array.shape, keys)}"
        )
    part, whose = array.tensor(), "mask" if layer < 0 else f"mask of layer {layer}"
    names = _name_leading_axes(stack, array.shape[:-2], layer, batch)
    if "sequence" in names:
        at = names.index("sequence")
        part = part.select(at, min(item, part.shape[at] - 1))
        names.remove("sequence")
    leading = part.shape[:-2]
    for cell in (
        torch.cartesian_prod(*map(torch.arange, leading)).reshape(-1, len(leading)).tolist() if leading else [[]]
    ):
        told = [f"{name} {_number(stack, name, at)}" for name, at in zip(names, cell, strict=True) if name]
        told = [f"layer {layer}"] * (layer >= 0) + told
        at = cell[names.index("layer")] if "layer" in names else _place(stack, layer)
        yield at, ", ".join(told) or "the first", _visible_pairs(part[tuple(cell)], whose)


def _advice(shape: tuple[int, ...], keys: int) -> str:
    """Returns a sentence on what to choose for a mask that is a padding mask of several sequences."""
    if len(shape) != 2 or shape[1] != keys:
        return ""
    return (
        f" If it is the padding mask of {shape[0]} sequences, choose axes with a b, as b h q k or b h n d: they are read "
        "without."
    )


def _name_leading_axes(stack: Stack, leading: tuple[int, ...], layer: int, batch: int) -> list[str]:
    """Returns what the axes before queries and keys are, by their sizes; "" for an axis of size one."""
    layers, heads, *_ = sizes(stack)
    left = {"sequence": batch, "layer": layers if layer < 0 else 1, "head": heads}
    if len(leading) == 1 and batch in (left["layer"], heads):
        del left["sequence"]  # ambiguous: refused later unless all are equal
    found = []
    for at, size in enumerate(leading):
        name = next((name for name, many in left.items() if many == size > 1), f"axis {at}, place" if size > 1 else "")
        left.pop(name, None)
        found.append(name)
    return found


def _place(stack: Stack, layer: int) -> int | None:
    """Returns the index of a layer in the stack, None for an array without a layer; raises DataError for an unknown layer."""
    if layer < 0:
        return None
    numbers = stack.numbers or tuple(range(sizes(stack)[0]))
    if layer not in numbers:
        raise DataError(f"There is a mask of layer {layer}; the layers are {', '.join(map(str, numbers))}.")
    return numbers.index(layer)


def _number(stack: Stack, name: str, at: int) -> int:
    return stack.numbers[at] if name == "layer" and stack.numbers else at


def _visible_pairs(part: Tensor, whose: str) -> Tensor:
    """Returns a mask that is True where a pair takes part, from a boolean mask or from one that is added to scores."""
    if part.is_floating_point():
        if bool(((part != 0) & (part > HIDES)).any()) or bool(part.isnan().any()):
            raise DataError(
                f"{whose} adds numbers other than 0 and minus infinity to scores; only its masked pairs are shown."
            )
        return part == 0
    return part if part.dtype == torch.bool else part != 0  # booleans != 0 would take 8 bytes each
