"""Sigmoid attention: the sigmoid of every score by itself (Ramapuram et al. 2024)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from attention.operations.normalisers import Normalise, Normaliser


@dataclass(frozen=True)
class Sigmoid(Normaliser):
    """The sigmoid of every logit minus `sink`: no key competes with another, so a row may sum to anything."""

    distributes: ClassVar[bool] = False
    reference: ClassVar[str] = "the sigmoid's formula in float64"
    operand: ClassVar[str] = "Shifted logits"

    @property
    def normalise(self) -> Normalise:
        return partial(_sigmoid, sink=self.sink)

    def of_heads(self, sinks: Sequence[float]) -> Normalise:
        return partial(_sigmoid, sink=torch.tensor(sinks, dtype=torch.float64))

    def statistic(self, logits: Float[Tensor, "*b k"]) -> Float[Tensor, "*b 1"]:
        return torch.full_like(logits[..., :1], self.sink)

    def stored_steps(self, logits: Float[Tensor, "*b k"], naive: bool) -> tuple[Tensor, Tensor, Tensor]:
        none, shifted = logits.new_zeros(()), logits - self.sink
        if not naive:
            return shifted.sigmoid(), none.expand_as(logits), none.expand_as(logits[..., :1])
        exps = (-shifted).exp()
        return 1 / (1 + exps), exps, none.expand_as(logits[..., :1])

    def by_definition(self, logits: Float[Tensor, "*b k"]) -> Float[Tensor, "*b k"]:
        return 1 / (1 + (self.sink - logits.double()).exp())

    @property
    def of_operand(self) -> str:
        return r"\frac{1}{1 + e^{-(%s)}}"

    @property
    def handed_on(self) -> str:
        return "No other key gets it: a sigmoid weighs every key by itself."

    @property
    def sums_to_one(self) -> bool:
        return False

    @property
    def total(self) -> str:
        return "any number"

    @property
    def title(self) -> str:
        return "sigmoid of every score"

    @property
    def no_distribution(self) -> str:
        return "rows of a sigmoid may sum to anything"

    @property
    def no_role(self) -> str:
        return "weighs every key by itself (sigmoid); roles are shares of a row's weight, which has no fixed sum."

    @property
    def alone(self) -> str:
        return ", and a sigmoid gives it a weight from 0 to 1 by its score"

    def formula(self, logit: str, letter: str, symbol: str = "") -> str:
        return rf"\frac{{1}}{{1 + e^{{{self._log} - {logit.replace('%s', 'j')}}}}}"

    def operand_formula(self, logit: str) -> str:
        return f"{logit.replace('%s', 'j')} - {self._log}"

    @property
    def _log(self) -> str:
        return rf"\ln {round(math.exp(self.sink))}"

    def arithmetic(self) -> str:
        return f"weight[{{at}}] = 1 / (1 + exp(ln {round(math.exp(self.sink))} − {{v0}})) = {{value}}"

    def flops(self, keys: int) -> float:
        """Subtract, exponential, add and divide."""
        return 4

    def code(self, sinks: Sequence[float] = ()) -> str:
        return f"weights = torch.sigmoid(scores - math.log({round(math.exp(self.sink))}))\n"


def _sigmoid(logits: Float[Tensor, "*b k"], at: Any = ..., *, sink: float | Tensor) -> Float[Tensor, "*b k"]:
    own = sink[at][..., None, None].to(logits) if isinstance(sink, Tensor) else sink
    return (logits - own).sigmoid() if logits.requires_grad else logits.sub_(own).sigmoid_()
