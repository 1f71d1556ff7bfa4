"""Softmax: every row of logits becomes weights.

To add one, add its record to `SOFTMAXES`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attention.operations.mask import HIDDEN
from attention.operations.operation import Operation, Source, Spec, Symbols, Values

# turns a block of logits into weights, in place; the second argument is the index of its head, by default it has all heads
Normalise = Callable[..., Float[Tensor, "*b k"]]
SEEDS = 20_001  # sinks are drawn from a generator of their own, with a seed that no other random numbers have
LISTED = 8  # sinks that a formula lists


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
    top = logits.amax(-1, keepdim=True)
    weights = torch.softmax(logits, -1, out=logits)
    total = top.sub_(weights.amax(-1, keepdim=True).log_())  # log-sum-exp, without a second exponential of every logit
    return weights.mul_(total.sub_(own).sigmoid_())


@dataclass(frozen=True)
class Softmax:
    """A softmax that divides exponentials by their sum and a constant; `sink` is the logarithm of the constant.

    So it is the logit of one more key, which has no value. If it is `learned`, every head has its own (`head_softmax`).
    `rest` is what the rest of a row goes to, in words, "" if there is no rest.
    """

    help: str
    sink: float = HIDDEN
    rest: str = ""
    learned: bool = False

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

    def formula(self, logit: str, letter: str, shifted: bool = False, symbol: str = "") -> str:
        """Returns a weight in TeX; `logit` is its logit with %s for the index of a key, `letter` the index of the sum.

        If the logit is `shifted`, the largest logit m is subtracted from it. `symbol`: that of a learned sink, instead of
        its number.
        """
        term, added = f"e^{{{logit}}}", self.extra
        if self.learned:
            added = f"e^{{{symbol or f'{self.sink:g}'}{' - m' * shifted}}}"
        elif added and shifted:
            added = "e^{-m}" if added == "1" else f"{added}\\, e^{{-m}}"
        more = f"{added} + " if added else ""
        index = letter if len(letter) == 1 else f"{{{letter}}}"
        return rf"\frac{{{term.replace('%s', 'j')}}}{{{more}\sum_{index} {term.replace('%s', letter)}}}"

    def code(self, sinks: Sequence[float] = ()) -> str:
        """Returns the lines of PyTorch from `scores` to `weights`; `sinks`: those of the heads if they are learned."""
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


SOFTMAXES: dict[str, Softmax] = {
    "standard": Softmax("The weights of a row sum to one."),
    "plus one": Softmax(
        "softmax₁: 1 + Σ exp in the denominator, so a head can attend to nothing (Miller 2023; torch's add_zero_attn).",
        sink=0.0,
        rest="the 1 in the denominator",
    ),
    "sink": Softmax(
        "Each head has a sink: a learned logit in the denominator that belongs to no key (gpt-oss). softmax₁ is a sink of 0.",
        sink=0.0,
        rest="the sink",
        learned=True,
    ),
}
CONSTANT = tuple(name for name, softmax in SOFTMAXES.items() if not softmax.learned)  # without parameters


@lru_cache(maxsize=64)
def head_sinks(softmax: str, center: float, seed: int, heads: int) -> tuple[float, ...]:
    """Returns the sink of every head: that of the softmax, or numbers from a normal distribution around `center`.

    Learned sinks are not trained here, so they are drawn, to two decimals.
    """
    how = SOFTMAXES[softmax]
    if not how.learned:
        return (how.sink,) * heads
    drawn = torch.randn(heads, generator=torch.Generator().manual_seed(-SEEDS - seed), dtype=torch.float64)
    return tuple(round(center + each, 2) for each in drawn.tolist())


def head_softmax(softmax: str, sink: float) -> Softmax:
    """Returns a softmax with the sink of one head."""
    return replace(SOFTMAXES[softmax], sink=sink)


def normaliser(softmax: str, sinks: Sequence[float]) -> Normalise:
    """Returns the function that turns a block of logits of these heads into weights, in place."""
    how = SOFTMAXES[softmax]
    return partial(with_sink, sink=torch.tensor(sinks, dtype=torch.float64)) if how.learned else how.normalise


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
    how = SOFTMAXES[spec.softmax]
    added = "e^s of the head" if how.learned else how.extra
    return "Weights: softmax of every row" + (f", with {added} added to the denominator" if added else "")


def _formula(spec: Spec, symbols: Symbols) -> str:
    how = SOFTMAXES[spec.softmax]
    formula = "w_{hij} = " + how.formula("l_{hi%s}", "j'", symbol="s_h")
    if not how.learned:
        return formula
    more = r",\ \ldots" if len(spec.sinks) > LISTED else ""
    listed = ",\\ ".join(f"{sink:g}" for sink in spec.sinks[:LISTED])
    return rf"{formula},\quad s = ({listed}{more})"


def _arithmetic(spec: Spec) -> str:
    how = SOFTMAXES[spec.softmax]
    added = "exp(s_{h})" if how.learned else how.extra
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
    return SOFTMAXES[spec.softmax].code(spec.sinks) + blind * spec.masks


def _weights(values: Values, spec: Spec) -> Tensor:
    """Returns the weights of some heads; a fully masked row is 0 / 0."""
    sinks = [spec.sinks[head] for head in values["heads"].tolist()]
    return normaliser(spec.softmax, sinks)(values["scores"].clone()).nan_to_num_(0.0)


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
        _weights,
        code=_code,
    ),
)
