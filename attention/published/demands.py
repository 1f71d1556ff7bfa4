"""What a row accepts, found by trying it on small cases that differ in one thing each.

To add a trial: a function that makes its case, and its name in `TRIALS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attention.published.case import Case, Form
from attention.published.compare import judged
from attention.published.row import FORMS, Row, added, drawn
from attention.published.weights import Weights

HEADS, CHANNELS, WIDTH, BATCH, TOKENS = 3, 6, 2, 2, 5


@dataclass(frozen=True)
class Demand:
    """What came of a trial: agrees, disagrees, raises (with the error), or "has no such argument"."""

    trial: str
    outcome: str
    error: str


@dataclass(frozen=True)
class Trial:
    """A case to try. `mask`, `cross`: only of rows that take a mask, two inputs. `form`: the mask in another form."""

    case: Callable[[], Case]
    mask: bool = False
    cross: bool = False
    form: Form = None

    def applies(self, row: Row) -> bool:
        """Does the row have the argument that this trial is about?"""
        return (row.crosses or not self.cross) and (FORMS[row.mask] is not None or not self.mask)


def demands(row: Row, printed: bool = False) -> list[Demand]:
    """Every trial on a row, as meant or as printed."""
    return [_tried(name, trial, row, printed) for name, trial in TRIALS.items()]


def _tried(name: str, trial: Trial, row: Row, printed: bool) -> Demand:
    if not trial.applies(row):
        return Demand(name, "has no such argument", "")
    form = trial.form if trial.mask else _no_mask
    found = judged(row, trial.case(), printed, form)
    return Demand(name, found.verdict, found.error)


def small(batch: int = BATCH, tokens: int = TOKENS, heads: int = HEADS, values: int = WIDTH) -> Case:
    """A case of noise that every query sees whole."""
    maps = (drawn(heads, CHANNELS, width, seed=i).double() for i, width in enumerate((WIDTH, WIDTH, values)))
    weights = Weights.of(*maps, drawn(heads, values, CHANNELS, seed=3).double())  # pyright: ignore[reportCallIssue]  as many as there are
    x = drawn(batch, tokens, CHANNELS, seed=4).double()
    return Case.of(x, weights, torch.ones(batch, tokens, tokens, dtype=torch.bool))


def padded(batch: int) -> Case:
    """Sequences that hide another number of keys each."""
    case = small(batch)
    hidden = torch.arange(TOKENS) >= TOKENS - torch.arange(batch)[:, None]
    return replace(case, mask=case.mask & ~hidden[:, None])


def resized(batch: int, tokens: int) -> Case:
    """Other sizes than the layer was built for."""
    case = small(batch, tokens)
    return replace(case, weights=replace(case.weights, batch=BATCH, tokens=TOKENS))


def crossed() -> Case:
    """Queries of one sequence, keys and values of a longer one."""
    other = drawn(BATCH, TOKENS + 2, CHANNELS, seed=5).double()
    return replace(small(), key=other, value=other, mask=torch.ones(BATCH, TOKENS, TOKENS + 2, dtype=torch.bool))


def blind() -> Case:
    """The first query sees nothing."""
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
    "another batch than it was built for": Trial(lambda: resized(BATCH + 1, TOKENS)),
    "another length than it was built for": Trial(lambda: resized(BATCH, TOKENS - 1)),
    "values of another width": Trial(lambda: small(values=WIDTH + 1)),
    "keys of another, longer sequence": Trial(crossed, cross=True),
    "its mask, one sequence": Trial(lambda: padded(1), mask=True),
    "its mask, two sequences, three heads": Trial(lambda: padded(2), mask=True),
    "its mask, as many sequences as heads": Trial(lambda: padded(HEADS), mask=True),
    "a boolean mask with an axis for the heads": Trial(lambda: padded(2), mask=True, form=_four_axes),
    "a mask of floats, to be added": Trial(lambda: padded(2), mask=True, form=added),
    "a query that sees nothing": Trial(blind, mask=True),
}
