"""Converts arrays of any library to tensors whose axes are layers, heads and two more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention.notebook.outputs import EAGER

RAGGED = "Give one tensor of numbers, or a list of one tensor per layer, all of the same size."


def is_list_of_tensors(given: Any) -> bool:
    """Whether this is a sequence of tensors, or of such sequences. Lists of numbers are a tensor."""
    if not isinstance(given, (list, tuple)) or not given:
        return False
    return (
        hasattr(given[0], "shape")
        or given[0] is None
        or (isinstance(given[0], (list, tuple)) and is_list_of_tensors(given[0]))
    )


def stack_layers(given: Any, name: str) -> Tensor:
    """One tensor from one tensor, or from one per layer."""
    if not is_list_of_tensors(given):
        return to_tensor(given, name)
    layers = [to_tensor(each, f"{name} of layer {at}") for at, each in enumerate(given)]
    if len({layer.shape for layer in layers}) > 1:
        raise ValueError(f"The layers of {name} differ: {', '.join(str(tuple(each.shape)) for each in layers)}.")
    return torch.stack(layers)


def to_tensor(given: Any, name: str) -> Tensor:
    """Converts to a detached tensor on the CPU; raises ValueError for what is no tensor of real numbers."""
    if given is None:
        raise ValueError(f"{name}: None. {EAGER}")
    try:
        found = given.detach().to("cpu") if isinstance(given, Tensor) else torch.from_numpy(np.array(given))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is not a tensor of numbers: {error}. {RAGGED}") from None
    if found.is_complex():
        raise ValueError(f"{name} is of {found.dtype}; real numbers are shown.")
    return found.to_dense() if found.is_sparse else found


def order_axes(x: Tensor, axes: str | Mapping[int, str], batch: int, name: str) -> Float[Tensor, "l h m n"]:
    """Reorders axes to layers, heads and two more, of one sequence; raises ValueError if axes do not fit."""
    named = axes if isinstance(axes, str) else axes.get(x.ndim, "")
    letters = named.replace(" ", "")
    last = letters[-2:] if not isinstance(axes, str) else "".join(sorted(set(letters) - set("lbh"), key="qnkd".index))
    if (
        len(letters) != x.ndim
        or len(set(letters)) != len(letters)
        or len(last) != 2
        or not set(letters) <= set("lbhqnkd")
    ):
        said = f"axes={axes!r}" if isinstance(axes, str) else "they are guessed for 2 to 5; axes='b n h d' names others"
        raise ValueError(
            f"{name} has {x.ndim} axes, {tuple(x.shape)}: {said}. l layers, b batch, h heads, q or n, k or d."
        )
    if 0 in x.shape:
        raise ValueError(f"{name} is empty: {tuple(x.shape)}.")
    order = [letter for letter in "lbh" + last if letter in letters]
    x = x.permute([letters.index(letter) for letter in order])
    for at, letter in enumerate("lbh"):
        x = x if letter in letters else x.unsqueeze(at)
    if not -x.shape[1] <= batch < x.shape[1]:
        raise ValueError(f"batch={batch}: {name} has {x.shape[1]} sequences.")
    x = x[:, batch]
    return x if x.is_floating_point() else x.float()
