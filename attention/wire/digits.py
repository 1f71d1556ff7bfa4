"""Where the third of a number's digits turns: what numbers of 16 bits are rounded by, so that three digits stay true."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def turns(first: int, last: int) -> Float[Tensor, "t"]:
    """The least float32 from which on three digits are the next ones, all of those from 10 ** `first` to 10 ** `last`.

    Nine hundred a decade, ascending.
    """
    halves = torch.arange(100, 1000, dtype=torch.float64) + 0.5  # from these on the next three digits are nearer
    exact = torch.cat([halves * 10.0**power for power in range(first - 2, last - 2)])
    single = exact.float()
    return (single.view(torch.int32) + (single.double() < exact).int()).view(torch.float32)
