"""Normalisers: how a row of logits becomes weights, and what the pages say of it.

Every weight is a function of its logit and of one number of its row, w = g(l - t): for a softmax g is the exponential and t
the logarithm of the denominator, for a sigmoid t is a constant, for sparsemax and entmax it is a threshold below which
weights are zero. `Softmax`, `Sigmoid` and `Threshold` are the kinds; the records are in `SOFTMAXES` of softmax.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from attention.operations.mask import HIDDEN

# turns a block of logits into weights, in place; the second argument is the index of its head, by default it has all heads
Normalise = Callable[..., Float[Tensor, "*b k"]]
TORCH = "PyTorch's own attention"
SHIFTED = "scores - scores.amax(-1, keepdim=True)"


def standard(logits: Float[Tensor, "*b k"], at: Any = ...) -> Float[Tensor, "*b k"]:
    """Weights of a row sum to one."""
    return torch.softmax(logits, -1, out=logits)


def with_sink(logits: Float[Tensor, "*b k"], at: Any = ..., *, sink: float | Tensor) -> Float[Tensor, "*b k"]:
    """Adds e to the power of `sink` to the denominator, in place: as if there were one more key of that logit.

    Sinks of several heads are a tensor, of which `at` selects.
    """
    own = sink[at][..., None, None].to(logits) if isinstance(sink, Tensor) else sink
    if not logits.shape[-1]:
        return logits
    if logits.requires_grad:
        return torch.softmax(logits, -1) * (logits.logsumexp(-1, keepdim=True) - own).sigmoid()
    top = logits.amax(-1, keepdim=True)
    weights = torch.softmax(logits, -1, out=logits)
    total = top.sub_(weights.amax(-1, keepdim=True).log_())  # log-sum-exp, without a second exponential of every logit
    return weights.mul_(total.sub_(own).sigmoid_())


@dataclass(frozen=True)
class Normaliser:
    """How a row of logits becomes weights.

    `sink` is the parameter of a head, as a logit; `learned`: whether every head draws its own. `rest` is what the rest of a
    row goes to, in words, "" if there is no rest.

    Of a kind: `distributes`: whether a row with its rest is a distribution, so that it has an entropy; `sparse`: whether
    weights may be exactly zero; `longest`: the largest number of tokens of a map, 0 if any length is possible; `reference`:
    what checks compare with, in words; `operand`: the name of the step l - t, "" if a page does not show it;
    `rise`: how much two computations of a weight may differ, as a multiple of the rounding error of a score; `halves`: how
    many softmaxes a head has, each of a part of its channels; `signed`: whether weights may be negative.
    """

    help: str
    sink: float = HIDDEN
    rest: str = ""
    learned: bool = False

    distributes: ClassVar[bool] = True
    sparse: ClassVar[bool] = False
    longest: ClassVar[int] = 0
    reference: ClassVar[str] = TORCH
    operand: ClassVar[str] = ""
    rise: ClassVar[float] = 1.0
    halves: ClassVar[int] = 1
    signed: ClassVar[bool] = False

    @property
    def normalise(self) -> Normalise:
        """The function that turns a block of logits into weights, in place; it returns new ones if a gradient is required."""
        raise NotImplementedError

    def of_heads(self, sinks: Sequence[float]) -> Normalise:
        """Returns the same function for heads with these parameters."""
        return self.normalise

    def statistic(self, logits: Float[Tensor, "*b k"]) -> Float[Tensor, "*b 1"]:
        """Returns the number t of every row: a weight is a function of its logit minus t."""
        raise NotImplementedError

    def stored_steps(self, logits: Float[Tensor, "*b k"], naive: bool) -> tuple[Tensor, Tensor, Tensor]:
        """Returns the weights as code computes them that stores every step, with its exponentials and their sums.

        `naive`: without what prevents overflows.
        """
        raise NotImplementedError

    def by_definition(self, logits: Float[Tensor, "*b k"]) -> Float[Tensor, "*b k"]:
        """Returns weights of float64 logits, computed in another way for checks, unless torch's own attention is that."""
        raise NotImplementedError

    @property
    def sums_to_one(self) -> bool:
        """Whether rows sum to one."""
        return True

    @property
    def total(self) -> str:
        """What a row with a visible key sums to, in words."""
        return "1"

    @property
    def extra(self) -> str:
        """What is added to the denominator, as text: `1`; "" if nothing is."""
        return ""

    @property
    def title(self) -> str:
        """What is done to a row, in words."""
        raise NotImplementedError

    @property
    def of_operand(self) -> str:
        """A weight in TeX, with %s for the operand."""
        return ""

    @property
    def handed_on(self) -> str:
        """Where the weight on keys that a mask hides goes, as a sentence with %s for how it is shared."""
        return "The softmax gives it to the visible keys%s."

    @property
    def no_distribution(self) -> str:
        """Why a row is no distribution, as the beginning of a sentence; "" if it is one."""
        return ""

    @property
    def no_role(self) -> str:
        """Why a head has no role, as the end of a sentence about it; "" if rows are distributions."""
        return ""

    @property
    def alone(self) -> str:
        """What is true of the weight of a single visible key, as the end of a sentence."""
        return ", so its weight does not depend on the score"

    def formula(self, logit: str, letter: str, symbol: str = "") -> str:
        """Returns a weight in TeX; `logit` is its logit with %s for the index of a key, `letter` the index of a sum.

        `symbol`: that of a learned sink, instead of its number.
        """
        raise NotImplementedError

    def stage(self, logit: str) -> str:
        """Returns a weight in TeX as the Softmax page computes it, from `operand` if there is one."""
        return self.of_operand % "a_j"

    def operand_formula(self, logit: str) -> str:
        """Returns the operand in TeX."""
        raise NotImplementedError

    def arithmetic(self) -> str:
        """Returns the arithmetic of one cell, as in `Operation`."""
        raise NotImplementedError

    def flops(self, keys: int) -> float:
        """Returns the operations per cell of a row of so many keys."""
        raise NotImplementedError

    def code(self, sinks: Sequence[float] = ()) -> str:
        """Returns the lines of PyTorch from `scores` to `weights`; `sinks`: those of the heads if they are learned."""
        raise NotImplementedError


@dataclass(frozen=True)
class Softmax(Normaliser):
    """A softmax that divides exponentials by their sum and a constant; `sink` is the logarithm of the constant.

    So it is the logit of one more key, which has no value. If it is `learned`, every head has its own (`head_softmax`).
    """

    @property
    def normalise(self) -> Normalise:
        return standard if self.sums_to_one else partial(with_sink, sink=self.sink)

    def of_heads(self, sinks: Sequence[float]) -> Normalise:
        return partial(with_sink, sink=torch.tensor(sinks, dtype=torch.float64)) if self.learned else self.normalise

    def statistic(self, logits: Float[Tensor, "*b k"]) -> Float[Tensor, "*b 1"]:
        return self.log_denominator(logits.logsumexp(-1, keepdim=True))

    def stored_steps(self, logits: Float[Tensor, "*b k"], naive: bool) -> tuple[Tensor, Tensor, Tensor]:
        top = logits.new_zeros(()) if naive else logits.amax(-1, keepdim=True)
        top = top.masked_fill(top == HIDDEN, 0)  # of a fully masked row
        exps = (logits - top).exp()
        sums = exps.sum(-1, keepdim=True) + self.shifted(top)
        return exps / sums, exps, sums

    @property
    def sums_to_one(self) -> bool:
        return self.sink == HIDDEN

    @property
    def total(self) -> str:
        return "1" if self.sums_to_one else "at most 1"

    @property
    def alone(self) -> str:
        return f"; the rest of its weight goes to {self.rest}" if self.rest else super().alone

    @property
    def extra(self) -> str:
        return "" if self.sums_to_one else f"{math.exp(self.sink):.4g}"

    @property
    def title(self) -> str:
        added = "e^s of the head" if self.learned else self.extra
        return "softmax of every row" + (f", with {added} added to the denominator" if added else "")

    def log_denominator(self, lse: Float[Tensor, "*q"]) -> Float[Tensor, "*q"]:
        """Returns the logarithm of a row's denominator from that of its sum of exponentials."""
        return lse if self.sums_to_one else torch.logaddexp(lse, torch.full_like(lse, self.sink))

    def shifted(self, top: Any) -> Any:
        """Returns what is added to the denominator if `top` is subtracted from every logit, for numbers and tensors."""
        return (
            0 if self.sums_to_one else (self.sink - top).exp() if isinstance(top, Tensor) else math.exp(self.sink - top)
        )

    def formula(self, logit: str, letter: str, symbol: str = "", shifted: bool = False) -> str:
        """As of `Normaliser`; if `shifted`, the largest logit m is subtracted from the logit."""
        term, added = f"e^{{{logit}}}", self.extra
        if self.learned:
            added = f"e^{{{symbol or f'{self.sink:g}'}{' - m' * shifted}}}"
        elif added and shifted:
            added = "e^{-m}" if added == "1" else f"{added}\\, e^{{-m}}"
        more = f"{added} + " if added else ""
        index = letter if len(letter) == 1 else f"{{{letter}}}"
        return rf"\frac{{{term.replace('%s', 'j')}}}{{{more}\sum_{index} {term.replace('%s', letter)}}}"

    def stage(self, logit: str) -> str:
        """Returns the formula of a weight, and the same one as it is computed: with the largest logit m subtracted."""
        return f"{self.formula(logit, 'i')} = {self.formula(f'{logit} - m', 'i', shifted=True)}"

    def arithmetic(self) -> str:
        added = "exp(s_{h}) + " if self.learned else f"{self.extra} + " * bool(self.extra)
        return f"weight[{{at}}] = exp({{v0}}) / ({added}{{sum}}) {{is}} {{value}}"

    def flops(self, keys: int) -> float:
        """Per cell: compare for the maximum, subtract, exponential, add and divide; one addition per row for a sink."""
        return 5 + (0 if self.sums_to_one else 1 / keys)

    def code(self, sinks: Sequence[float] = ()) -> str:
        lines = "weights = torch.softmax(scores, -1)\n"
        if self.sums_to_one:
            return lines
        if self.learned:
            numbers = ", ".join(map(repr, sinks))
            return (
                f"sinks = torch.tensor([{numbers}])  # a logit per head, of a key without a value\n{lines}"
                "weights = weights * (torch.logsumexp(scores, -1, keepdim=True) - sinks[:, None, None]).sigmoid()\n"
            )
        less = f" - {self.sink!r}" if self.sink else ""
        total = "torch.logsumexp(scores, -1, keepdim=True)"
        total = f"({total}{less})" if less else total
        return f"{lines}weights = weights * {total}.sigmoid()  # {self.extra} more in the denominator\n"
