"""A row against the reference: does it agree, by how much does it not, and what does it cost?"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attention.attend import Attention
from attention.config import Config
from attention.published.case import Case, case, masks, reference
from attention.published.cost import Cost, Pace, cost, pace
from attention.published.record import Record, Step, recorded
from attention.published.row import Row

WITHIN = 1e-6  # relative error of outputs and weights up to which a row agrees; what is computed here is float64
VERDICTS = ("agrees", "disagrees", "raises")


@dataclass(frozen=True)
class Error:
    """How far a tensor is from the reference: the greatest difference, and the norm of all over the reference's."""

    greatest: float
    relative: float

    @property
    def agrees(self) -> bool:
        """Within what counts as equal; not so where anything is not a number."""
        return self.relative <= WITHIN


@dataclass(frozen=True, eq=False)
class Comparison:
    """One row at one setting.

    `weights`, `reference` and `difference` are those of the first sequence, `(h q k)`; `output` and `square` are the
    errors of outputs and weights over the whole batch. Where the row raises they are None, but for `reference`, and
    `error` says what, `raised_at` in which line. `leak` is the greatest change of the earlier outputs when the last
    token becomes another, None where the mask lets it be seen.
    """

    verdict: str
    error: str
    raised_at: str
    output: Error | None
    square: Error | None
    weights: Float[Tensor, "h q k"] | None
    reference: Float[Tensor, "h q k"]
    difference: Float[Tensor, "h q k"] | None
    leak: float | None
    steps: tuple[Step, ...]
    source: str
    parameters: int
    cost: Cost


def compare(row: Row, config: Config, printed: bool = False) -> Comparison:
    """A row, as meant or as printed, at the settings; past a million weights on the first tokens only (`case`)."""
    return compared(row, case(config), printed)


@torch.no_grad()
def compared(row: Row, case: Case, printed: bool = False, form: Any = None) -> Comparison:
    """A row on a case of your own. What it raises is a result, never raised."""
    target = reference(row, case)
    run, inputs = row.version(printed), case.inputs(row, form)
    record = recorded(run, **inputs)
    found: Attention | None = record.result
    square = found and _error(found.weights, target.weights)
    output = found and _error(found.output, target.output)
    shown = found and found.weights[0].expand(target.weights.shape[1:]) if _same(found, target) else None
    return Comparison(
        verdict=_verdict(output, square),
        error=record.error,
        raised_at=record.raised_at,
        output=output,
        square=square,
        weights=shown,
        reference=target.weights[0],
        difference=None if shown is None else shown - target.weights[0],
        leak=_leak(row, case, printed, record),
        steps=record.steps,
        source=record.source,
        parameters=row.parameters(case.weights),
        cost=cost(lambda: run(**inputs)),
    )


def timed(row: Row, config: Config, printed: bool = False, rounds: int = 15) -> Pace:
    """A row's time beside the reference's on the same case, in turns. Raises what the row raises."""
    given = case(config)
    inputs = given.inputs(row)
    return pace(lambda: row.version(printed)(**inputs), lambda: reference(row, given), rounds)


def _verdict(*errors: Error | None) -> str:
    if None in errors:
        return "raises"
    return "agrees" if all(error.agrees for error in errors) else "disagrees"


def _same(found: Attention | None, target: Attention) -> bool:
    """Can the weights be laid beside the reference's? One row of weights for all queries can."""
    return found is not None and _fits(found.weights, target.weights)


def _fits(mine: Tensor, theirs: Tensor) -> bool:
    return mine.ndim == theirs.ndim and all(a in (1, b) for a, b in zip(mine.shape, theirs.shape, strict=True))


def _error(mine: Tensor, theirs: Tensor) -> Error:
    """Differences of the one to the other; infinite where the shapes don't even broadcast."""
    if not _fits(mine, theirs):
        return Error(math.inf, math.inf)
    apart, least = mine - theirs, torch.finfo(theirs.dtype).tiny
    return Error(float(apart.abs().max()), float(apart.norm() / theirs.norm().clamp(min=least)))


def _leak(row: Row, case: Case, printed: bool, record: Record) -> float | None:
    """What earlier outputs learn of the last token, where no earlier query may see it."""
    mask = masks(row, case)
    if mask is None or record.result is None or case.query.shape[1] < 2 or bool(mask[..., :-1, -1].any()):
        return None
    changed = case.query.clone()
    changed[:, -1] = -changed[:, -1] + 1
    other = replace(case, query=changed, key=changed, value=changed)
    before, after = record.result.output, row.version(printed)(**other.inputs(row)).output
    return float((after - before)[:, :-1].abs().max())
