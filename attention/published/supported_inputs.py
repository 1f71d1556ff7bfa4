"""Finds the inputs that a row supports, by trying it on small cases that differ in one property each.

To add a trial, write a function that makes its case, and add its name to `TRIALS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attention.published.case import Case, Form
from attention.published.compare import judge
from attention.published.row import FORMS, Row, additive_mask, random_tensor
from attention.published.weights import Weights

HEADS, CHANNELS, WIDTH, BATCH, TOKENS = 3, 6, 2, 2, 5


@dataclass(frozen=True)
class Demand:
    """The outcome of a trial: agrees, disagrees, raises (with the error), or "has no such argument"."""

    trial: str
    outcome: str
    error: str


@dataclass(frozen=True)
class Trial:
    """A case to try. `mask`, `cross`: only for rows that take a mask, or two sequences. `form`: another form of the mask."""

    case: Callable[[], Case]
    mask: bool = False
    cross: bool = False
    form: Form = None

    def applies(self, row: Row) -> bool:
        """Whether the row has the argument that this trial is about."""
        return (row.crosses or not self.cross) and (FORMS[row.mask] is not None or not self.mask)


def demands(row: Row, printed: bool = False) -> list[Demand]:
    """Runs every trial on a row, corrected or as published."""
    return [_try_demand(name, trial, row, printed) for name, trial in TRIALS.items()]


def _try_demand(name: str, trial: Trial, row: Row, printed: bool) -> Demand:
    if not trial.applies(row):
        return Demand(name, "has no such argument", "")
    form = trial.form if trial.mask else _no_mask
    found = judge(row, trial.case(), printed, form)
    return Demand(name, found.verdict, found.error)


def small(batch: int = BATCH, tokens: int = TOKENS, heads: int = HEADS, values: int = WIDTH) -> Case:
    """Returns a case of noise without masked keys."""
    maps = (random_tensor(heads, CHANNELS, width, seed=i).double() for i, width in enumerate((WIDTH, WIDTH, values)))
    weights = Weights.of(*maps, random_tensor(heads, values, CHANNELS, seed=3).double())  # pyright: ignore[reportCallIssue]  as many as there are
    x = random_tensor(batch, tokens, CHANNELS, seed=4).double()
    return Case.of(x, weights, torch.ones(batch, tokens, tokens, dtype=torch.bool))


def with_padding(batch: int) -> Case:
    """Returns sequences each of which has another number of masked keys."""
    case = small(batch)
    hidden = torch.arange(TOKENS) >= TOKENS - torch.arange(batch)[:, None]
    return replace(case, mask=case.mask & ~hidden[:, None])


def with_length(batch: int, tokens: int) -> Case:
    """Returns other sizes than the layer was built for."""
    case = small(batch, tokens)
    return replace(case, weights=replace(case.weights, batch=BATCH, tokens=TOKENS))


def with_cross_attention() -> Case:
    """Returns queries of one sequence, keys and values of a longer one."""
    other = random_tensor(BATCH, TOKENS + 2, CHANNELS, seed=5).double()
    return replace(small(), key=other, value=other, mask=torch.ones(BATCH, TOKENS, TOKENS + 2, dtype=torch.bool))


def blind() -> Case:
    """Returns a case whose first query is fully masked."""
    case = small()
    return replace(case, mask=case.mask & (torch.arange(TOKENS) > 0)[:, None])


def _no_mask(mask: Tensor, like: Tensor) -> None:
    return None


def _four_axes(mask: Tensor, like: Tensor) -> Tensor:
    return mask[:, None]


TRIALS: dict[str, Trial] = {
    "one sequence": Trial(lambda: small(1)),
    "two sequences, three heads": Trial(small),
    "as many sequences as heads": Trial(lambda: small(HEADS)),
    "as many sequences as tokens": Trial(lambda: small(TOKENS)),
    "one head": Trial(lambda: small(heads=1)),
    "one head, one sequence": Trial(lambda: small(1, heads=1)),
    "one token": Trial(lambda: small(tokens=1)),
    "batch size other than built for": Trial(lambda: with_length(BATCH + 1, TOKENS)),
    "length other than built for": Trial(lambda: with_length(BATCH, TOKENS - 1)),
    "values of a different width": Trial(lambda: small(values=WIDTH + 1)),
    "cross-attention to a longer sequence": Trial(with_cross_attention, cross=True),
    "its mask, one sequence": Trial(lambda: with_padding(1), mask=True),
    "its mask, two sequences, three heads": Trial(lambda: with_padding(2), mask=True),
    "its mask, as many sequences as heads": Trial(lambda: with_padding(HEADS), mask=True),
    "a boolean mask with a head axis": Trial(lambda: with_padding(2), mask=True, form=_four_axes),
    "an additive float mask": Trial(lambda: with_padding(2), mask=True, form=additive_mask),
    "a fully masked query": Trial(blind, mask=True),
}
