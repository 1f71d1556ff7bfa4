"""Softmax: every row of logits becomes weights.

To add one, add its record to `SOFTMAXES`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attention.operations.mask import HIDDEN
from attention.operations.operation import Operation, Source, Spec, Symbols

Normalise = Callable[[Float[Tensor, "*b k"]], Float[Tensor, "*b k"]]


def standard(logits: Float[Tensor, "*b k"]) -> Float[Tensor, "*b k"]:
    """Weights of a row sum to one."""
    return torch.softmax(logits, -1, out=logits)


def with_sink(logits: Float[Tensor, "*b k"], sink: float) -> Float[Tensor, "*b k"]:
    """Adds e to the power of `sink` to the denominator, in place: as if there were one more key of that logit."""
    total = torch.logsumexp(logits, -1, keepdim=True)
    return torch.softmax(logits, -1, out=logits).mul_(total.sub_(sink).sigmoid_())


@dataclass(frozen=True)
class Softmax:
    """A softmax that divides exponentials by their sum and a constant; `sink` is the logarithm of the constant.

    So it is the logit of one more key, which has no value. `rest` is what the rest of a row goes to, in words, "" if there
    is no rest.
    """

    help: str
    sink: float = HIDDEN
    rest: str = ""

    @property
    def normalise(self) -> Normalise:
        """The function that turns a block of logits into weights, in place."""
        return standard if self.sums_to_one else partial(with_sink, sink=self.sink)

    @property
    def sums_to_one(self) -> bool:
        """Whether rows sum to one; else they sum to less."""
        return self.sink == HIDDEN

    @property
    def total(self) -> str:
        """What a row with a visible key sums to, in words."""
        return "1" if self.sums_to_one else "at most 1"

    @property
    def extra(self) -> str:
        """What is added to the denominator, as text: `1`; "" if nothing is."""
        return "" if self.sums_to_one else f"{math.exp(self.sink):.4g}"

    def log_denominator(self, lse: Float[Tensor, "*q"]) -> Float[Tensor, "*q"]:
        """Returns the logarithm of a row's denominator from that of its sum of exponentials."""
        return lse if self.sums_to_one else torch.logaddexp(lse, torch.full_like(lse, self.sink))

    def shifted(self, top: Any) -> Any:
        """Returns what is added to the denominator if `top` is subtracted from every logit, for numbers and tensors."""
        return (
            0 if self.sums_to_one else (self.sink - top).exp() if isinstance(top, Tensor) else math.exp(self.sink - top)
        )

    def formula(self, logit: str, letter: str, shifted: bool = False) -> str:
        """Returns a weight in TeX; `logit` is its logit with %s for the index of a key, `letter` the index of the sum.

        If the logit is `shifted`, the largest logit m is subtracted from it.
        """
        term, added = f"e^{{{logit}}}", self.extra
        if added and shifted:
            added = "e^{-m}" if added == "1" else f"{added}\\, e^{{-m}}"
        more = f"{added} + " if added else ""
        index = letter if len(letter) == 1 else f"{{{letter}}}"
        return rf"\frac{{{term.replace('%s', 'j')}}}{{{more}\sum_{index} {term.replace('%s', letter)}}}"

    @property
    def code(self) -> str:
        """The lines of PyTorch from `scores` to `weights`."""
        lines = "weights = torch.softmax(scores, -1)\n"
        if self.sums_to_one:
            return lines
        less = f" - {self.sink!r}" if self.sink else ""
        total = "torch.logsumexp(scores, -1, keepdim=True)"
        total = f"({total}{less})" if less else total
        return f"{lines}weights = weights * {total}.sigmoid()  # {self.extra} more in the denominator\n"


SOFTMAXES: dict[str, Softmax] = {
    "standard": Softmax("The weights of a row sum to one."),
    "plus one": Softmax(
        "softmax₁: 1 + Σ exp in the denominator, so a head can attend to nothing (Miller 2023; torch's add_zero_attn).",
        sink=0.0,
        rest="the 1 in the denominator",
    ),
}


def row_sums(softmax: str, blind: int, queries: int) -> str:
    """Returns a clause on what the rows of weights sum to; `blind` of the queries have no visible key."""
    total = SOFTMAXES[softmax].total
    if not blind:
        return f"each row sums to {total}"
    if blind == queries:
        return "every row is fully masked and sums to 0"
    others = "1 fully masked row sums" if blind == 1 else f"{blind:,} fully masked rows sum"
    return f"each row sums to {total}, but {others} to 0"


def _title(spec: Spec) -> str:
    added = SOFTMAXES[spec.softmax].extra
    return "Weights: softmax of every row" + (f", with {added} added to the denominator" if added else "")


def _formula(spec: Spec, symbols: Symbols) -> str:
    return "w_{hij} = " + SOFTMAXES[spec.softmax].formula("l_{hi%s}", "j'")


def _arithmetic(spec: Spec) -> str:
    added = SOFTMAXES[spec.softmax].extra
    return (
        f"weight[{{at}}] = exp({{v0}}) / ({added} + Σ exp over the row) = {{value}}"
        if added
        else ("weight[{at}] = exp({v0}) / (Σ exp over the row) = {value}")
    )


def _flops(spec: Spec) -> int:
    """Compare for the maximum, subtract, exponential, add and divide per cell; one addition per row for a sink."""
    return 5 * spec.cells("b h q k") + (0 if SOFTMAXES[spec.softmax].sums_to_one else spec.cells("b h q"))


def _code(spec: Spec) -> str:
    blind = "weights = weights.masked_fill(~mask.any(-1, keepdim=True), 0)  # a fully masked query\n"
    return SOFTMAXES[spec.softmax].code + blind * spec.masks


OPERATIONS = (
    Operation(
        "weights",
        "softmax",
        "b h q k",
        _title,
        "Each row becomes weights: how much the token takes from each key.",
        _formula,
        _arithmetic,
        (Source("scores", "softmax", "softmax ="),),
        _flops,
        # a fully masked row is 0 / 0
        lambda values, spec: SOFTMAXES[spec.softmax].normalise(values["scores"].clone()).nan_to_num_(0.0),
        code=_code,
    ),
)
