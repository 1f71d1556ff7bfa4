"""One step of a pass: the description of a matrix without its values."""

from __future__ import annotations

import math
from dataclasses import dataclass

from attention.operations.operation import BOOL, FLOAT, Source


@dataclass(frozen=True)
class Step:
    """One matrix of a pass: an `Operation` under a config (its docstring explains the fields).

    `sizes`: the lengths of `axes`; `says`: the arithmetic of a cell; `plain`: the formula without indices.
    """

    name: str
    title: str
    axes: str
    sizes: tuple[int, ...]
    formula: str
    says: str
    sources: tuple[Source, ...]
    flops: int
    kind: str
    part: str
    lesson: str
    plain: str

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
