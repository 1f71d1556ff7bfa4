"""One step of a pass: the description of a matrix without its values, and the lengths of its axes under a config."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from attention.config import Config, shape

FLOAT, BOOL = 4, 1  # bytes per number in float32, and per cell of a mask


@dataclass(frozen=True)
class Source:
    """A matrix that a step is computed from; `rule` (RULES in matrices_highlight.js) names its cells, `sign` follows it."""

    name: str
    rule: str
    sign: str


@dataclass(frozen=True)
class Step:
    """One matrix of a pass.

    `axes`: one letter each, `(h d)` for concatenated heads; `sizes`: their lengths. `formula` is KaTeX; `says` is the
    arithmetic of one cell as a template, with its head, kv head, row and column as {h} {g} {i} {j}, its value as {value},
    and the cells of the first and second source as {at0} {at1}, their values as {v0} {v1}. `kind`: values, parameters, or
    view, which is the memory of its source in another order. `flops`: additions, products and other functions, one each.
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
        """The shape of the step's tensor: the lengths of the axes without the batch, which is 1."""
        return self.sizes[1:] if self.axes.startswith("b ") else self.sizes

    @property
    def by_head(self) -> bool:
        """Whether every head has its own matrix."""
        return len(self.shape) == 3

    @property
    def bytes(self) -> int:
        """The size of the tensor in memory."""
        return math.prod(self.sizes) * (BOOL if self.name == "mask" else FLOAT)

    @property
    def new_bytes(self) -> int:
        """The bytes that the step allocates: 0 for a view."""
        return 0 if self.kind == "view" else self.bytes


def lengths(config: Config) -> dict[str, int]:
    """Returns the length of every axis: b q k c h g d e, as in the docstring of the package."""
    d, sizes = config.d_head, shape(config.source)
    return {"b": 1, "q": config.tokens, "k": config.keys or config.n_keys, "c": config.d_model} | {
        "h": config.heads,
        "g": config.n_kv_heads,
        "d": d,
        "e": config.d_v or (sizes.d_v if sizes else 0) or d,
    }


def matrix_product(config: Config, axes: str, inner: str) -> int:
    """Returns the operations of a product over the axes `inner`: one multiplication and one addition per term."""
    return 2 * cells_of(config, axes) * length_of(config, inner)


def make_step(config: Config, name: str, title: str, axes: str, formula: str, *rest, **more) -> Step:
    """Returns a step with the lengths of its axes under a config."""
    return Step(name, title, axes, tuple(length_of(config, axis) for axis in _split_axes(axes)), formula, *rest, **more)


def _split_axes(axes: str) -> list[str]:
    """Splits `b q (h d)` into `b`, `q`, `(h d)`."""
    return re.findall(r"\(.*?\)|\w", axes)


def length_of(config: Config, axis: str) -> int:
    """Returns the length of an axis, `(h d)` for concatenated heads."""
    sizes = lengths(config)
    return math.prod(sizes[letter] for letter in axis.strip("()").split())


def cells_of(config: Config, axes: str) -> int:
    """Returns the number of cells of a matrix with these axes."""
    return math.prod(length_of(config, axis) for axis in _split_axes(axes))
