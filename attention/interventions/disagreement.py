"""Heads about which measures, or ways to switch a head off, disagree most."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor


def measures_disagree(values: Mapping[str, Float[Tensor, "l h"]]) -> tuple[int, int] | None:
    """Returns the row and head about which measures with different units disagree most; None if one of them has no changes.

    Each value is divided by the largest of its measure; the head is the one whose shares, without signs, differ most.

    Example:
        >>> loss, logit = torch.tensor([[4.0, 2.0]]), torch.tensor([[-1.0, 0.1]])
        >>> measures_disagree({"loss": loss, "logit": logit})
        (0, 1)
    """
    each = torch.stack(list(values.values())).abs()
    largest = each.amax((1, 2), keepdim=True)
    if each.isnan().any() or not bool((largest > 0).all()):
        return None
    return ways_disagree(dict(zip(values, each / largest, strict=True)))


def ways_disagree(values: Mapping[str, Float[Tensor, "l h"]]) -> tuple[int, int]:
    """Returns the row and head whose values of one measure are farthest apart.

    Example:
        >>> ways_disagree({"zero": torch.tensor([[3.0, 1.0]]), "mean": torch.tensor([[2.5, -1.0]])})
        (0, 1)
    """
    each = torch.stack(list(values.values()))
    apart = each.amax(0) - each.amin(0)
    row, head = divmod(int(apart.argmax()), apart.shape[1])
    return row, head
