"""Softmax and what takes its place: every row of logits becomes weights.

To add one, add its record to `SOFTMAXES`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import torch
from torch import Tensor

from attention.operations.differential import NAME as DIFFERENTIAL
from attention.operations.differential import Differential
from attention.operations.normalisers import Normalise, Normaliser, Softmax
from attention.operations.operation import Operation, Source, Spec, Symbols, Values
from attention.operations.sigmoid import Sigmoid
from attention.operations.sparse import LONGEST, Threshold

SEEDS = 20_001  # sinks are drawn from a generator of their own, with a seed that no other random numbers have
LISTED = 8  # sinks that a formula lists

SOFTMAXES: dict[str, Normaliser] = {
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
    "sigmoid": Sigmoid(
        "The sigmoid of every score minus the logarithm of a length: no key competes with another, so a row may sum to "
        "anything (Ramapuram et al. 2024).",
        sink=0.0,
    ),
    "sparsemax": Threshold(
        "The nearest distribution to the logits: keys below a threshold get a weight of exactly zero (Martins & Astudillo "
        f"2016); up to {LONGEST:,} tokens."
    ),
    "entmax-1.5": Threshold(
        "Between softmax and sparsemax: exact zeros, and smoother (Peters et al. 2019; Correia et al. 2019); up to "
        f"{LONGEST:,} tokens.",
        name="entmax-1.5",
        power=2,
    ),
    DIFFERENTIAL: Differential(
        "Two softmaxes per head, each of half of its channels; the second, times λ, is subtracted from the first, so weights may "
        "be negative (Ye et al. 2025). For generated attention.",
        sink=0.5,
    ),
}
DENOMINATORS = {name: how for name, how in SOFTMAXES.items() if isinstance(how, Softmax)}
TRAINABLE = DENOMINATORS | {DIFFERENTIAL: SOFTMAXES[DIFFERENTIAL]}  # what Training can be built with
CONSTANT = tuple(name for name, softmax in DENOMINATORS.items() if not softmax.learned)  # softmaxes without parameters


def softmaxes_of_logits() -> tuple[str, ...]:
    """Returns the names of those that make weights of one matrix of logits."""
    return tuple(name for name, how in SOFTMAXES.items() if how.halves == 1)


@lru_cache(maxsize=64)
def head_sinks(softmax: str, center: float, length: int, seed: int, heads: int) -> tuple[float, ...]:
    """Returns the parameter of every head: that of the softmax, or numbers from a normal distribution around `center`.

    Learned sinks are not trained here, so they are drawn, to two decimals. That of a sigmoid is the logarithm of `length`.
    """
    how = SOFTMAXES[softmax]
    if isinstance(how, Sigmoid):
        return (math.log(length),) * heads
    if not how.learned:
        return (how.sink,) * heads
    drawn = torch.randn(heads, generator=torch.Generator().manual_seed(-SEEDS - seed), dtype=torch.float64)
    return tuple(round(center + each, 2) for each in drawn.tolist())


def head_softmax(softmax: str, sink: float) -> Normaliser:
    """Returns a softmax with the parameter of one head."""
    return replace(SOFTMAXES[softmax], sink=sink)


def normaliser(softmax: str, sinks: Sequence[float]) -> Normalise:
    """Returns the function that turns a block of logits of these heads into weights, in place."""
    return SOFTMAXES[softmax].of_heads(sinks)


def normaliser_name(softmax: str) -> str:
    """Returns what turns scores into weights, in words: "softmax", or the name of what takes its place."""
    how = SOFTMAXES[softmax]
    return "the difference of two softmaxes" if how.halves > 1 else softmax if how.operand else "softmax"


def takes_sinks(softmax: str) -> bool:
    """Whether a softmax has a parameter per head that its record does not know."""
    how = SOFTMAXES[softmax]
    return how.learned or isinstance(how, Sigmoid | Differential)


def row_sums(softmax: str, blind: int, queries: int) -> str:
    """Returns a clause on what the rows of weights sum to; `blind` of the queries have no visible key."""
    total = SOFTMAXES[softmax].total
    if not blind:
        return f"each row sums to {total}"
    if blind == queries:
        return "every row is fully masked and sums to 0"
    others = "1 fully masked row sums" if blind == 1 else f"{blind:,} fully masked rows sum"
    return f"each row sums to {total}, but {others} to 0"


def _of(spec: Spec) -> Normaliser:
    return head_softmax(spec.softmax, spec.sinks[0]) if spec.sinks else SOFTMAXES[spec.softmax]


def _title(spec: Spec) -> str:
    return f"Weights: {_of(spec).title}"


def _formula(spec: Spec, symbols: Symbols) -> str:
    how = _of(spec)
    formula = "w_{hij} = " + how.formula("l_{hi%s}", "j'", symbol="s_h")
    if not how.learned:
        return formula
    more = r",\ \ldots" if len(spec.sinks) > LISTED else ""
    listed = ",\\ ".join(f"{sink:g}" for sink in spec.sinks[:LISTED])
    return rf"{formula},\quad s = ({listed}{more})"


def _sources(spec: Spec) -> tuple[Source, ...]:
    how = _of(spec)
    if not how.distributes:
        return (Source("scores", "same", "sigmoid ="),)
    return (Source("scores", "softmax", "softmax =" if isinstance(how, Softmax) else f"{spec.softmax} ="),)


def _flops(spec: Spec) -> int:
    return round(_of(spec).flops(spec.length("k")) * spec.cells("b h q k"))


def _code(spec: Spec) -> str:
    blind = "weights = weights.masked_fill(~mask.any(-1, keepdim=True), 0)  # a fully masked query\n"
    how = _of(spec)
    return how.code(spec.sinks) + blind * (spec.masks and how.distributes)


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
        "Each row becomes weights: how much the token takes from the value of each key.",
        _formula,
        lambda spec: _of(spec).arithmetic(),
        _sources,
        _flops,
        _weights,
        lambda spec: spec.halves == 1,
        plain=lambda spec: r"\mathrm{weights} = \mathrm{softmax}({s0})" if spec.softmax == "standard" else "",
        code=_code,
    ),
)
