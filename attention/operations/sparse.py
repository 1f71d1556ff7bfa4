"""Sparsemax and entmax-1.5: logits at or below a threshold get a weight of exactly zero."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from jaxtyping import Float
from torch import Tensor

from attention.operations.normalisers import Normalise, Normaliser
from attention.operations.thresholds import find_threshold, sparse_weights, threshold_by_bisection, weigh_above

LONGEST = (
    2**14
)  # largest number of tokens of a map: the scores of a block of rows are held until its thresholds are known
SHIFTED = "scores - scores.amax(-1, keepdim=True)"
SPARSEMAX = f"""\
shifted = {SHIFTED}
largest = shifted.sort(-1, descending=True).values
sums = largest.cumsum(-1) - 1
support = (largest * torch.arange(1, largest.shape[-1] + 1) > sums).sum(-1, keepdim=True)
threshold = sums.gather(-1, (support - 1).clamp(min=0)) / support
weights = (shifted - threshold).clamp(min=0)
"""
ENTMAX = f"""\
half = ({SHIFTED}) / 2
largest, count = half.sort(-1, descending=True).values, torch.arange(1, scores.shape[-1] + 1)
mean, square = largest.cumsum(-1) / count, largest.square().cumsum(-1) / count
thresholds = mean - (1 / count - (square - mean.square())).clamp(min=0).sqrt()
support = (thresholds <= largest).sum(-1, keepdim=True)
weights = (half - thresholds.gather(-1, (support - 1).clamp(min=0))).clamp(min=0).square()
"""


@dataclass(frozen=True)
class Threshold(Normaliser):
    """Sparsemax (`power` 1) or entmax-1.5 (`power` 2): logits at or below a threshold get a weight of exactly zero."""

    name: str = "sparsemax"
    power: int = 1

    sparse: ClassVar[bool] = True
    longest: ClassVar[int] = LONGEST
    reference: ClassVar[str] = "float64 with the threshold found by bisection"
    rise: ClassVar[float] = 4.0  # a threshold moves by as much as scores do, and both computations round
    operand: ClassVar[str] = "Logits minus the threshold"

    @property
    def handed_on(self) -> str:
        return (
            f"{self.name.capitalize()} lowers its threshold, which gives it to the visible keys, but not in proportion."
        )

    @property
    def normalise(self) -> Normalise:
        return partial(_sparse, power=self.power)

    def statistic(self, logits: Float[Tensor, "*b k"]) -> Float[Tensor, "*b 1"]:
        return find_threshold(logits, self.power)

    def stored_steps(self, logits: Float[Tensor, "*b k"], naive: bool) -> tuple[Tensor, Tensor, Tensor]:
        shifted = logits if naive else logits - logits.amax(-1, keepdim=True)
        none = logits.new_zeros(())
        weights = weigh_above(shifted - find_threshold(shifted, self.power), self.power)
        return weights, none.expand_as(logits), none.expand_as(logits[..., :1])

    def by_definition(self, logits: Float[Tensor, "*b k"]) -> Float[Tensor, "*b k"]:
        return weigh_above(logits.double() - threshold_by_bisection(logits, self.power), self.power)

    @property
    def title(self) -> str:
        return f"{self.name} of every row"

    @property
    def of_operand(self) -> str:
        return r"\max(%s,\ 0)" if self.power == 1 else r"\left(\frac{\max(%s,\ 0)}{2}\right)^2"

    def formula(self, logit: str, letter: str, symbol: str = "") -> str:
        above = f"{logit.replace('%s', 'j')} - \\tau"
        return rf"{self.of_operand % above},\ \tau\text{{ such that the row sums to }}1"

    def operand_formula(self, logit: str) -> str:
        return rf"{logit.replace('%s', 'j')} - \tau,\quad \tau\text{{ such that the weights sum to }}1"

    def arithmetic(self) -> str:
        above = "max({v0} − τ of the row, 0)"
        return f"weight[{{at}}] = {above if self.power == 1 else f'({above} / 2)²'} = {{value}}"

    def flops(self, keys: int) -> float:
        """By sorting, as in the program: log n comparisons per cell, and what follows from the sorted row."""
        return math.ceil(math.log2(max(keys, 2))) + (6 if self.power == 1 else 14)

    def code(self, sinks: Sequence[float] = ()) -> str:
        return SPARSEMAX if self.power == 1 else ENTMAX


def _sparse(logits: Float[Tensor, "*b k"], at: Any = ..., *, power: int) -> Float[Tensor, "*b k"]:
    return sparse_weights(logits, power)
