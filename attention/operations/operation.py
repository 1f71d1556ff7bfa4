"""The record of an operation, and what it knows of the pass that it belongs to."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from torch import Tensor

from attention.operations.rotary import BASE, FACTOR, FRACTION, LENGTH, UNSCALED

FLOAT, BOOL = 4, 1  # bytes per number in float32, and per cell of a mask


@dataclass(frozen=True)
class Spec:
    """The sizes and choices of a pass.

    `sizes`: the length of every axis, by its letter; `given`: the parts that the source has; `crosses`: whether keys and
    values come from another sequence; `masks`: whether a pair is masked; `mixes`: whether W_o mixes heads. `sinks`: what each
    head adds to its denominator, as a logit. `mask_code` is the expression of the mask in q, k, n and span, `queries` the
    number of queries in a printed program.
    """

    sizes: Mapping[str, int]
    given: frozenset[str] = frozenset(("x", "projections", "q", "k", "v"))
    scale: str = "1/sqrt(d_head)"
    temperature: float = 1.0
    softcap: float = 0.0
    positions: str = "none"
    softmax: str = "standard"
    sinks: tuple[float, ...] = ()
    qk_norm: str = "off"
    rotary_base: float = BASE
    rotary_fraction: float = FRACTION
    rotary_scaling: str = UNSCALED
    rotary_factor: float = FACTOR
    rotary_length: int = LENGTH
    gate: str = "off"
    query_scale: str = "none"
    forgetting: str = "off"
    forget_bias: float = 2.0
    seed: int = 0
    crosses: bool = False
    masks: bool = True
    mixes: bool = True
    mask_code: str = ""
    queries: str = "n"

    @property
    def made_here(self) -> bool:
        """Whether queries, keys and values are computed from tokens and projections."""
        return self.given.issuperset(("x", "projections"))

    @property
    def halves(self) -> int:
        """The number of softmaxes of a head, each of as many parts of its channels: two in differential attention."""
        return self.sizes.get("s", 1)

    @property
    def width_code(self) -> str:
        """The number of channels of a dot product, as an expression in d_head."""
        return "(d_head // 2)" if self.halves > 1 else "d_head"

    @property
    def repeats(self) -> int:
        """The number of heads that share keys and values."""
        return self.sizes["h"] // self.sizes["g"]

    def length(self, axis: str) -> int:
        """Returns the length of an axis, `(h d)` for concatenated heads."""
        return math.prod(self.sizes[letter] for letter in axis.strip("()").split())

    def cells(self, axes: str) -> int:
        """Returns the number of cells of a matrix with these axes."""
        return math.prod(map(self.length, split_axes(axes)))

    def product(self, axes: str, inner: str) -> int:
        """Returns the operations of a product over the axes `inner`: one multiplication and one addition per term."""
        return 2 * self.cells(axes) * self.length(inner)


def split_axes(axes: str) -> list[str]:
    """Splits `b q (h d)` into `b`, `q`, `(h d)`."""
    return re.findall(r"\(.*?\)|\w", axes)


@dataclass(frozen=True)
class Source:
    """A matrix that a cell depends on; `rule` (RULES in matrices_highlight.js) names the cells of it, `sign` follows it.

    `name` is a matrix or one of its versions: `q` is whatever the last operation made of the queries.
    """

    name: str
    rule: str
    sign: str


Values: TypeAlias = Mapping[str, Tensor]
Text: TypeAlias = str | Callable[[Spec], str]
Symbols: TypeAlias = Mapping[str, str]
Written: TypeAlias = Callable[[str], str]  # writes a symbol of a formula, as itself or as its number


def always(spec: Spec) -> bool:
    """Every pass has this operation."""
    return True


def none_needed(spec: Spec) -> int:
    """The operation has no arithmetic."""
    return 0


@dataclass(frozen=True)
class Operation:
    """An operation of the pass, and the matrix that it makes.

    `name` is its step in links; `axes` has a letter per axis, `(h d)` for concatenated heads; `part`: its place in the diagram.
    `updates` is the matrix of which it makes a new version (`scaled` updates `scores`), `symbol` that version in formulas.
    `formula` is TeX with the indices of a cell, `plain` the same without indices, with its sources as {s0} {s1}, or "" if there
    is none; `term` is that of one score from the one before, `code` lines of PyTorch. `arithmetic` is that of one
    cell, with its head, kv head, row and column as {h} {g} {i} {j}, its value as {value}, its sources as {s0} {s1}, their
    cells as {at0} {at1} and their values as {v0} {v1}. `compute` takes the newest version of every matrix; None: the source
    gives it. `flops`: additions, products and other functions, one each. `kind`: values, parameters, or view, which is
    the memory of its source in another order.
    """

    name: str
    part: str
    axes: str
    title: Text
    lesson: Text
    formula: str | Callable[[Spec, Symbols], str]
    arithmetic: Text = "{name}[{at}] = {value}"
    sources: tuple[Source, ...] | Callable[[Spec], tuple[Source, ...]] = ()
    flops: Callable[[Spec], int] = none_needed
    compute: Callable[[Values, Spec], Tensor] | None = None
    applies: Callable[[Spec], bool] = always
    updates: str = ""
    symbol: str = ""
    term: Callable[[Spec, str, Written], str] | None = None
    code: Text = ""
    kind: str = field(default="values")
    plain: Text = ""

    @property
    def version_of(self) -> str:
        """The matrix of which this is a version: itself, unless it updates another."""
        return self.updates or self.name


def text(value: Text, spec: Spec) -> str:
    """Returns a text of an operation under a spec."""
    return value if isinstance(value, str) else value(spec)
