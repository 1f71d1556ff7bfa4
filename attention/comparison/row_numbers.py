"""How much each row of weights differs between two sides: a function per number, listed in `NUMBERS`.

Of rows that are distributions, what is missing to a sum of one (the share of a sink, all of a fully masked row) counts as
one more key. Negative or unnormalised rows have half of their L1 distance instead, and no number that needs a distribution.
All numbers are computed in float64, and are exactly zero for equal rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.comparison.sides import Side, row_entropies

Rows = Float[Tensor, "q k"]
Outputs = Float[Tensor, "q e"]
PerRow = Float[Tensor, " q"]


class HeadRows(NamedTuple):
    """The rows of one head of a side, as `Side` has them; `missing` is zero and there are no entropies if they count alone."""

    rows: Rows
    missing: PerRow
    entropies: PerRow
    largest: Int[Tensor, " q"]

    @classmethod
    def of(cls, side: Side, head: int, distributes: bool) -> HeadRows:
        """Returns the rows of a head; `distributes`: whether what is missing to a sum of one counts."""
        rows, none = side.weights[head].double(), torch.zeros(side.size[1], dtype=torch.float64)
        missing, entropies = (side.missing[head], side.entropies[head]) if distributes else (none, none)
        return cls(rows, missing, entropies, side.largest[head])


class RowNumber(NamedTuple):
    """A number of two rows: its function of the rows of a head of A and of B, label, unit, formula and source.

    `whole`: the number needs distributions.
    """

    of: Callable[[Any, Any], PerRow]
    label: str
    unit: str
    formula: str
    source: str
    whole: bool = True

    @property
    def inside(self) -> str:
        """The label within a sentence."""
        return f"{self.label[0].lower()}{self.label[1:]}"


def half_l1(a: HeadRows, b: HeadRows) -> PerRow:
    """Returns half of the L1 distance; of distributions it is the total variation distance."""
    return ((b.rows - a.rows).abs_().sum(-1) + (b.missing - a.missing).abs()) / 2


def jensen_shannon(a: HeadRows, b: HeadRows) -> PerRow:
    """Returns the Jensen-Shannon distance: the square root of the divergence in bits, from 0 to 1.

    The divergence is the entropy of the middle minus the mean of both entropies.
    """
    middle = row_entropies((a.rows + b.rows).div_(2), (a.missing + b.missing) / 2)
    return ((middle - (a.entropies + b.entropies) / 2) / math.log(2)).clamp(0, 1).sqrt()


def entropy_change(a: HeadRows, b: HeadRows) -> PerRow:
    """Returns the entropy of B minus that of A, in nats."""
    return b.entropies - a.entropies


def largest_moved(a: HeadRows, b: HeadRows) -> PerRow:
    """Returns by how many keys the place of the largest weight moved, towards later keys above zero; 0 for a row of zeros."""
    moved = (b.largest - a.largest).double()
    return moved.masked_fill_((a.largest < 0) | (b.largest < 0), 0)


def output_change(a: Outputs, b: Outputs) -> PerRow:
    """Returns the norm of the change of an output, relative to the larger norm of both: from 0 to 2."""
    larger = torch.maximum(a.norm(dim=-1), b.norm(dim=-1)).clamp(min=torch.finfo(a.dtype).tiny)
    return (b - a).norm(dim=-1) / larger


VARIATION, HALF_L1, OUTPUT = "variation", "half_l1", "output"
NUMBERS: dict[str, RowNumber] = {
    VARIATION: RowNumber(
        half_l1,
        "Total variation",
        "",
        "share of the weight that moved to other keys: half of sum |b - a|, with what is missing to one as one more key",
        "Levin & Peres 2017, section 4.1",
    ),
    HALF_L1: RowNumber(
        half_l1,
        "Half the L1 distance",
        "",
        "half of sum |b - a| over the keys; rows that are negative or have no fixed sum are no distributions",
        "",
        whole=False,
    ),
    "distance": RowNumber(
        jensen_shannon,
        "Jensen-Shannon distance",
        "",
        "how different two rows are, 0 if equal, 1 if no key is shared: "
        "square root of (KL(a | m) + KL(b | m)) / 2 in bits, m = (a + b) / 2",
        "Endres & Schindelin 2003",
    ),
    "entropy": RowNumber(
        entropy_change, "Change of entropy", "nats", "entropy of b minus entropy of a: -sum p ln p", "Shannon 1948"
    ),
    "moved": RowNumber(
        largest_moved,
        "Shift of the largest weight",
        "tokens",
        "key of the largest weight of b minus that of a",
        "",
        whole=False,
    ),
}
OF_OUTPUT = RowNumber(
    output_change, "Change of output", "", "|o_b - o_a| / max(|o_a|, |o_b|), o = weights times values", "", whole=False
)
EVERY = NUMBERS | {OUTPUT: OF_OUTPUT}


def row_numbers(a: Side, b: Side) -> dict[str, Float[Tensor, "h q"]]:
    """Returns every number that applies to the rows of two sides of equal sizes, by name, head by head to save memory."""
    both = a.distributes and b.distributes
    names = [name for name, number in NUMBERS.items() if (both if number.whole else name != HALF_L1 or not both)]
    found: dict[str, list[PerRow]] = {name: [] for name in names}
    for head in range(len(a.weights)):
        rows = [HeadRows.of(side, head, both) for side in (a, b)]
        for name in names:
            found[name].append(NUMBERS[name].of(*rows))
    if a.context is not None and b.context is not None and a.context.shape == b.context.shape:
        outputs = zip(a.context, b.context, strict=True)
        found[OUTPUT] = [output_change(before.double(), after.double()) for before, after in outputs]
    return {name: torch.stack(rows) for name, rows in found.items()}
