"""Joins weights that a model returned per step of `generate`, found among the arrays of a file.

`torch.save` of a tuple of steps, each a tuple of layers, has tensors with the names `0.0`, `0.1` …, after the name of
the tuple if it has one. They become one array of all layers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor

from attention.array_files.arrays import TYPES, Array, Arrays, within
from attention.array_files.limits import DataError
from attention.imported import tensor_roles
from attention.imported.generated import join_steps
from attention.recorded.file import TOKENS

NAME = re.compile(r"(?:(?P<part>.+)\.)?(?P<step>\d{1,6})\.(?P<layer>\d{1,6})")
CROSS = "cross"  # part of the name of cross-attention weights
ROOM, TIMES = 2**24, 4  # largest size of joined weights: ROOM bytes plus TIMES the size of the steps
KINDS = {dtype: kind for kind, (dtype, _) in TYPES.items()}
Steps = dict[int, dict[int, Array]]  # arrays by step and layer


def join(arrays: Arrays, item: int) -> tuple[Arrays, list[str]]:
    """Returns the arrays with steps joined, and sentences that say so; raises DataError if positions are unknown."""
    parts: dict[str, Steps] = {}
    for name, array in arrays.arrays.items():
        found = NAME.fullmatch(name)
        if found and len(array.shape) == 4 and array.type in ("F16", "BF16", "F32", "F64") and _weights(found["part"]):
            layers = parts.setdefault(found["part"] or "", {}).setdefault(int(found["step"]), {})
            layers[int(found["layer"])] = array
    if not parts:
        return arrays, []
    rest = {name: array for name, array in arrays.arrays.items() if not _within(name, parts)}
    made = {part or "weights": _join_steps(part, steps, item) for part, steps in parts.items()}
    said = [_describe_steps(steps, item) for steps in parts.values()]
    return replace(arrays, arrays={**{name: _array(part) for name, part in made.items()}, **rest}), said


def _weights(part: str | None) -> bool:
    return not part or tensor_roles.of(part)[0] == "weights"


def _within(name: str, parts: Mapping[str, Steps]) -> bool:
    found = NAME.fullmatch(name)
    return found is not None and (found["part"] or "") in parts


def _join_steps(part: str, steps: Steps, item: int) -> Tensor:
    """Returns the weights of all layers (l h q k) for one sequence; raises DataError."""
    first = next(iter(steps.values()))
    if sorted(steps) != list(range(len(steps))) or any(
        sorted(step) != list(range(len(first))) for step in steps.values()
    ):
        raise DataError("Its steps have not got the same layers each.")
    shapes = [array.shape for layers in steps.values() for array in layers.values()]
    if any(shape[0] <= item for shape in shapes):
        raise DataError(f"There is no sequence {item} in each of its steps (counted from 0).")
    tokens = max(max(shape[2:]) for shape in shapes) + len(steps)
    if tokens > TOKENS:
        raise DataError(f"Its steps have up to {tokens:,} tokens; {TOKENS:,} of weights are shown at the most.")
    heads, size = shapes[0][1], TYPES[first[0].type][1]
    if len(first) * heads * tokens**2 * size > ROOM + TIMES * sum(math.prod(shape) for shape in shapes) * size:
        raise DataError(f"{heads} heads of {tokens:,} × {tokens:,} weights are more than its steps have room for.")
    rows = [[steps[at][layer].tensor()[item : item + 1] for layer in range(len(first))] for at in range(len(steps))]
    try:
        return join_steps(rows, crossing=CROSS in part or None).weights
    except ValueError as error:
        raise DataError(f"{error}") from None


def _describe_steps(steps: Steps, item: int) -> str:
    """Returns a sentence about the joined steps, and if there are several sequences, one about beams."""
    many = next(iter(steps[0].values())).shape[0]
    said = f"Steps: {len(steps)}, as generate returns them, joined into the rows of one map."
    beams = f" Sequence {item} of {many} was taken in each step: that is one sequence unless these are beams."
    return said + (beams if many > 1 else "")


def _array(weights: Tensor) -> Array:
    data = weights.contiguous().flatten().view(torch.uint8).numpy().data
    return Array(KINDS[weights.dtype], tuple(weights.shape), within(data))
