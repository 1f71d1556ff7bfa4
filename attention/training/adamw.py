"""AdamW (Loshchilov & Hutter 2019, algorithm 2) on all parameters of a model as a single vector.

`torch.optim` imports the compiler when its first optimizer is created, which occupies the interpreter that all visitors
share for 1.5 seconds. A few operations on one vector are also faster than the same on every parameter separately.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

MEAN, SQUARE, TINY = 0.9, 0.999, 1e-8  # as in torch.optim.AdamW
DECAY = 0.01


class AdamW:
    """Updates the parameters of a model; their values and gradients become views of one vector each."""

    def __init__(self, model: nn.Module) -> None:
        self.parameters = list(model.parameters())
        self.values = torch.cat([each.detach().flatten() for each in self.parameters])
        self.gradient, self.mean, self.square = (torch.zeros_like(self.values) for _ in range(3))
        self.steps = 0
        for each, value, slope in zip(
            self.parameters, self._parts(self.values), self._parts(self.gradient), strict=True
        ):
            each.data, each.grad = value.view_as(each), slope.view_as(each)

    def clear(self) -> None:
        """Sets the gradient to zero."""
        self.gradient.zero_()

    @torch.no_grad()
    def step(self, rate: float, longest: float) -> None:
        """Updates the parameters by the current gradient, whose norm is clipped to `longest` (Pascanu et al. 2013)."""
        self.steps += 1
        slope = self.gradient.mul_((longest / (self.gradient.norm() + 1e-6)).clamp(max=1))
        self.mean.lerp_(slope, 1 - MEAN)
        self.square.mul_(SQUARE).addcmul_(slope, slope, value=1 - SQUARE)
        spread = self.square.sqrt().div_((1 - SQUARE**self.steps) ** 0.5).add_(TINY)
        self.values.mul_(1 - rate * DECAY).addcdiv_(self.mean, spread, value=-rate / (1 - MEAN**self.steps))

    def _parts(self, row: Float[Tensor, " p"]) -> tuple[Tensor, ...]:
        return row.split([each.numel() for each in self.parameters])
