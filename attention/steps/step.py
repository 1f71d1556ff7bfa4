"""One step of a pass: what is known of a matrix before its numbers, and how long its axes are in some settings."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from attention.config import Config, shape

FLOAT, BOOL = 4, 1  # bytes of a number in float32, and of a cell of a mask


@dataclass(frozen=True)
class Source:
    """A matrix that a step is computed from; `rule` (lit.RULES) says which cells of it, `sign` stands after it."""

    name: str
    rule: str
    sign: str


@dataclass(frozen=True)
class Step:
    """One matrix of a pass.

    `axes`: a letter each, `(h d)` for heads side by side; `sizes`: their lengths. `formula` is KaTeX; `says` is one cell's
    arithmetic in words, with its head, the kv head of that, row and column as {h} {g} {i} {j}, its value as {value}, and
    the first and second source's cell as {at0} {at1}, their values as {v0} {v1}. `kind`: values, parameters, or view: the
    memory of its source, read in another order. `flops`: additions, products, and every other function of a number as one.
    """

    name: str
    title: str
    axes: str
    sizes: tuple[int, ...]
    formula: str
    says: str = "{name}[{at}] = {value}"
    sources: tuple[Source, ...] = ()
    flops: int = 0
    kind: str = "values"

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes but the batch, which is of one sequence: the shape of the step's tensor."""
        return self.sizes[1:] if self.axes.startswith("b ") else self.sizes

    @property
    def by_head(self) -> bool:
        """Does every head have a matrix of its own?"""
        return len(self.shape) == 3

    @property
    def bytes(self) -> int:
        """Size of the tensor in memory."""
        return math.prod(self.sizes) * (BOOL if self.name == "mask" else FLOAT)

    @property
    def new_bytes(self) -> int:
        """Bytes that the step adds to what was there before: none for a view."""
        return 0 if self.kind == "view" else self.bytes


def lengths(config: Config) -> dict[str, int]:
    """The length of every axis: b q k c h g d e, as the map of the package names them."""
    d, sizes = config.d_head, shape(config.source)
    return {"b": 1, "q": config.tokens, "k": config.keys or config.n_keys, "c": config.d_model} | {
        "h": config.heads,
        "g": config.n_kv_heads,
        "d": d,
        "e": config.d_v or (sizes.d_v if sizes else 0) or d,
    }


def matrix_product(config: Config, axes: str, inner: str) -> int:
    """Operations of a product over the axes `inner`: one multiplication and one addition for each term."""
    return 2 * cells_of(config, axes) * length_of(config, inner)


def make_step(config: Config, name: str, title: str, axes: str, formula: str, *rest, **more) -> Step:
    """A step, with the lengths of its axes in these settings."""
    return Step(name, title, axes, tuple(length_of(config, axis) for axis in _split_axes(axes)), formula, *rest, **more)


def _split_axes(axes: str) -> list[str]:
    """`b q (h d)` as `b`, `q`, `(h d)`."""
    return re.findall(r"\(.*?\)|\w", axes)


def length_of(config: Config, axis: str) -> int:
    """The length of an axis, `(h d)` for heads side by side."""
    sizes = lengths(config)
    return math.prod(sizes[letter] for letter in axis.strip("()").split())


def cells_of(config: Config, axes: str) -> int:
    """How many cells a matrix of these axes has."""
    return math.prod(length_of(config, axis) for axis in _split_axes(axes))
