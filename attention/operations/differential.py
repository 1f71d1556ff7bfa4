"""Differential attention: the softmax of one half of a head's channels minus lambda times that of the other half.

What both halves give to every key alike cancels; weights may be negative, and a row sums to one minus lambda (Ye et al. 2025,
Differential Transformer, section 2.1). The output of each head is then divided by its root mean square and multiplied by
one minus the lambda that training starts from. Here nothing is trained, so that is lambda itself.

In the table the second softmax has matrices of its own, whose names end in `2`. They are made by the same operations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from attention.operations.normalisers import Normaliser, standard
from attention.operations.operation import Operation, Source, Spec, Symbols, Values, text
from attention.operations.qk_norm import rms_norm

NAME = "differential"
HALVES = 2  # softmaxes of a head, each of as many parts of its channels
OWN = ("q", "k", "scores")  # matrices of which the second softmax has its own
FIRST, SECOND = "first softmax", "second softmax"
EPS = 1e-5  # added to the mean square of a head's output, as in the authors' code


@dataclass(frozen=True)
class Differential(Normaliser):
    """The difference of two softmaxes; `sink` is lambda, the factor of the second."""

    distributes: ClassVar[bool] = False
    halves: ClassVar[int] = HALVES
    signed: ClassVar[bool] = True
    reference: ClassVar[str] = "the difference of two outputs of PyTorch's own attention"

    @property
    def sums_to_one(self) -> bool:
        return False

    @property
    def total(self) -> str:
        return "1 − λ"

    @property
    def title(self) -> str:
        return "the first softmax minus λ times the second"

    @property
    def handed_on(self) -> str:
        return "Each of the two softmaxes gives it to the visible keys, the second with the opposite sign."

    @property
    def no_distribution(self) -> str:
        return "weights of a difference of softmaxes may be negative"

    @property
    def no_role(self) -> str:
        return "subtracts one softmax from another; roles are shares of a row's weight, and this one may be negative."

    @property
    def alone(self) -> str:
        return f", so its weight is {self.total} whatever the scores"

    def flops(self, keys: int) -> float:
        """Per cell: multiply and subtract."""
        return 2

    def code(self, sinks: Sequence[float] = ()) -> str:
        return f"weights = weights[0] - {self.sink!r} * weights[1]\n"


def first_lambda(layer: int) -> float:
    """Returns the lambda that training starts from in a layer, counted from 0 (section 2.1)."""
    return 0.8 - 0.6 * math.exp(-0.3 * layer)


def applies(spec: Spec) -> bool:
    """Heads have two softmaxes."""
    return spec.halves > 1


def split_halves(x: Float[Tensor, "*n d"], halves: int) -> Float[Tensor, "s *n w"]:
    """Returns the parts of the channels of queries or keys that each softmax of a head has, along a new first axis."""
    return x.unflatten(-1, (halves, -1)).movedim(-2, 0)


def join_halves(x: Float[Tensor, "s *n w"]) -> Float[Tensor, "*n d"]:
    """Returns the same channels side by side again."""
    return x.movedim(0, -2).flatten(-2)


def given_halves(halves: int, **vectors: Tensor) -> dict[str, Tensor]:
    """Returns queries and keys by the names that the table has for those of each softmax."""
    parts = {name: split_halves(x, halves) for name, x in vectors.items()}
    return {own_name(name, at): part for name, each in parts.items() for at, part in enumerate(each)}


def own_name(name: str, at: int = 1) -> str:
    """Returns the name of a matrix of the first (0) or the second softmax (1)."""
    return f"{name} 2" if at else name


def for_second(each: Operation) -> Operation:
    """Returns an operation on queries, keys or scores once more, for the second softmax."""

    def renamed(name: str) -> str:
        return own_name(name) if name in OWN else name

    def sources(spec: Spec) -> tuple[Source, ...]:
        given = each.sources if isinstance(each.sources, tuple) else each.sources(spec)
        return tuple(replace(source, name=renamed(source.name)) for source in given)

    def compute(values: Values, spec: Spec) -> Tensor:
        assert each.compute is not None, each.name
        return each.compute(
            {**values, **{name: values[own_name(name)] for name in OWN if own_name(name) in values}}, spec
        )

    def formula(spec: Spec, symbols: Symbols) -> str:
        own = {name: symbols[own_name(name)] for name in OWN if own_name(name) in symbols}
        return each.formula if isinstance(each.formula, str) else each.formula(spec, {**symbols, **own})

    return replace(
        each,
        name=SECOND if each.name == FIRST else own_name(each.name),
        title=lambda spec: f"{text(each.title, spec)}, for the second softmax",
        sources=sources,
        compute=compute if each.compute else None,
        formula=formula,
        applies=lambda spec: applies(spec) and each.applies(spec),
        updates=renamed(each.updates),
        symbol=each.symbol and f"{each.symbol}^{{(2)}}",
        term=None,
        code="",
        plain="",
    )


def _softmax(values: Values, spec: Spec) -> Tensor:
    """Returns one of the two softmaxes of some heads; a fully masked row is 0 / 0."""
    return standard(values["scores"].clone()).nan_to_num_(0.0)


def _first_code(spec: Spec) -> str:
    blind = "weights = weights.masked_fill(~mask.any(-1, keepdim=True), 0)  # a fully masked query\n"
    return "weights = torch.softmax(scores, -1)  # both softmaxes of every head\n" + blind * spec.masks


def _difference(values: Values, spec: Spec) -> Tensor:
    factors = values[FIRST].new_tensor([spec.sinks[head] for head in values["heads"].tolist()])
    return values[FIRST] - factors[:, None, None] * values[SECOND]


def _normed(values: Values, spec: Spec) -> Tensor:
    return rms_norm(values["context"], EPS) * (1 - spec.sinks[0])


FIRST_SOFTMAX = Operation(
    FIRST,
    "softmax",
    "b h q k",
    "Softmax of every row",
    "Each row becomes a distribution over the keys. Two of them make the weights of a head.",
    r"a_{hij} = \frac{e^{l_{hij}}}{\sum_{j'} e^{l_{hij'}}}",
    "a[{at}] = exp({v0}) / ({sum}) {is} {value}",
    (Source("scores", "softmax", "softmax ="),),
    lambda spec: 5 * spec.cells("b h q k"),
    _softmax,
    applies,
    code=_first_code,
)
DIFFERENCE = Operation(
    "weights",
    "softmax",
    "b h q k",
    lambda spec: f"Weights: the first softmax minus {spec.sinks[0]:g} times the second",
    "What both softmaxes give to every key alike cancels. A weight may be negative: its value is subtracted.",
    lambda spec, symbols: rf"w_{{hij}} = a_{{hij}} - \lambda\, a^{{(2)}}_{{hij}},\quad \lambda = {spec.sinks[0]:g}",
    lambda spec: f"weight[{{at}}] = {{v0}} − {spec.sinks[0]:g} × {{v1}} = {{value}}",
    (Source(FIRST, "same", "− λ ×"), Source(SECOND, "same", "=")),
    lambda spec: 2 * spec.cells("b h q k"),
    _difference,
    applies,
    code=lambda spec: Differential("", spec.sinks[0]).code(),
)
NORMED = Operation(
    "normed context",
    "values",
    "b h q e",
    "The output of each head, divided by its root mean square",
    "A difference is small where both softmaxes agree. The division gives the output of every head the same size.",
    lambda spec, symbols: (
        rf"\hat o_{{hij}} = (1 - \lambda)\, \frac{{{symbols['context']}_{{hij}}}}"
        rf"{{\sqrt{{\frac{{1}}{{d_v}} \sum_c {symbols['context']}_{{hic}}^2 + 10^{{-5}}}}}},"
        rf"\quad \lambda = {spec.sinks[0]:g},\ d_v = {spec.length('e')}"
    ),
    sources=(Source("context", "left", "="),),
    flops=lambda spec: 4 * spec.cells("b h q e") + 3 * spec.cells("b h q"),
    compute=_normed,
    applies=lambda spec: applies(spec) and "v" in spec.given,
    updates="context",
    symbol=r"\hat o",
    code=lambda spec: (
        f"context = torch.nn.functional.rms_norm(context, (d_head,), eps=1e-5) * (1 - {spec.sinks[0]!r})\n"
    ),
)
