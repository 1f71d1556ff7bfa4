"""Compares a row with the reference: whether it agrees, how large the error is, and what it costs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.attend import Attention
from attention.config import Config
from attention.published.case import Case, Form, case, masks, reference
from attention.published.cost import Cost, Pace, cost, pace
from attention.published.record import Step, record_run
from attention.published.row import Row

WITHIN = 1e-6  # relative error of outputs and weights up to which a row agrees; everything is computed in float64
ROUNDING = 1e-6  # a difference of one number below this is rounding, and has no visible colour


@dataclass(frozen=True)
class Error:
    """Errors of a tensor: the largest difference from the reference, and the norm of the difference over the reference's."""

    greatest: float
    relative: float

    @property
    def agrees(self) -> bool:
        """Whether the relative error is within `WITHIN`; False if it is NaN."""
        return self.relative <= WITHIN


@dataclass(frozen=True)
class Judgement:
    """Whether a row agrees. `output` and `square` are the errors of outputs and weights over the whole batch.

    If the row raises, both are None and `error` has the message.
    """

    verdict: str
    error: str
    output: Error | None
    square: Error | None


@dataclass(frozen=True, eq=False)
class Comparison:
    """One row at one setting. Tensors are float32, which is enough for pictures; the judgement is computed in float64.

    `weights` (None if the row raises), `reference` and `difference` are those of the first sequence, `(h q k)`, and so is its
    `mask (q k)`. `target (q c)` is its output by the reference, and `apart` the difference of the row's output from that.
    `raised_at` is the line that raised. `pooled`: a single row of weights and a single output apply to all queries.
    """

    judgement: Judgement
    raised_at: str
    weights: Float[Tensor, "h q k"] | None
    reference: Float[Tensor, "h q k"]
    difference: Float[Tensor, "h q k"] | None
    mask: Bool[Tensor, "q k"]
    target: Float[Tensor, "q c"]
    apart: Float[Tensor, "q c"] | None
    pooled: bool
    steps: tuple[Step, ...]
    source: str
    parameters: int

    @property
    def visible(self) -> Bool[Tensor, "h q k"]:
        """The pairs to be drawn: those that the mask allows, and those that have a weight although they are masked."""
        return self.mask | (self.weights != 0) if self.weights is not None else self.mask.expand(self.reference.shape)

    @property
    def unmasked(self) -> Bool[Tensor, "h q k"]:
        """The pairs that the code does not mask: those with a weight, and those whose weight is zero by rounding.

        The reference rounds these to zero too. A weight of NaN counts as masked.
        """
        if self.weights is None or self.weights.shape != self.reference.shape:
            return self.visible
        return (self.weights.nan_to_num(0) != 0) | (self.mask & (self.reference == 0))


@torch.no_grad()
def judge(row: Row, case: Case, printed: bool = False, form: Form = None) -> Judgement:
    """Returns only whether a row agrees on a case, which is the fastest check."""
    try:
        found = row.version(printed)(**case.inputs(row, form))
    except Exception as problem:
        return _judgement(None, reference(row, case), f"{type(problem).__name__}: {problem}")
    return _judgement(found, reference(row, case), "")


def compare(row: Row, config: Config, printed: bool = False) -> Comparison:
    """Compares a row, corrected or as published, at the settings; long sequences are cut to their first tokens (see `case`)."""
    return compare_case(row, case(config, crosses=row.crosses), printed)


@torch.no_grad()
def rows_apart(difference: Tensor) -> int:
    """The number of rows of a difference (rows, columns) that are not zero, but for rounding, or that are NaN."""
    return int((~(difference.abs() < ROUNDING)).any(-1).sum())


def compare_case(row: Row, case: Case, printed: bool = False, form: Form = None) -> Comparison:
    """Compares a row on a given case. An exception of the row is part of the result and never raised."""
    target = reference(row, case)
    run, inputs = row.version(printed), case.inputs(row, form)
    record = record_run(run, **inputs)
    found: Attention | None = record.result
    shown = apart = None
    if found is not None and _fits(found.weights, target.weights):
        shown = found.weights.expand(target.weights.shape)[0]  # a single row of weights applies to all queries
    if found is not None and _fits(found.output, target.output):
        apart = (found.output - target.output)[0]
    return Comparison(
        judgement=_judgement(found, target, record.error),
        raised_at=record.raised_at,
        weights=None if shown is None else shown.float(),
        reference=target.weights[0].float(),
        difference=None if shown is None else (shown - target.weights[0]).float(),
        mask=_visible_pairs(row, case),
        target=target.output[0].float(),
        apart=None if apart is None else apart.float(),
        pooled=found is not None and found.output.shape[1] < target.output.shape[1],
        steps=record.steps,
        source=record.source,
        parameters=row.parameters(case.weights),
    )


@torch.no_grad()
def influence(row: Row, case: Case, printed: bool = False) -> Float[Tensor, "q k"] | None:
    """How much the output at q changes if token k is replaced: norm of the change over the mean norm of the outputs.

    It is computed for the first sequence by replacing one token after another (of the key sequence for cross-attention).
    Returns None if the row raises, or has no output for each query.
    """
    try:
        before = row.version(printed)(**case.inputs(row)).output[0]
    except Exception:  # `compare_case` reports the error
        return None
    if len(before) != case.query.shape[1]:
        return None
    columns = []
    for token in range(case.key.shape[1]):
        after = row.version(printed)(**_change_token(case, token).inputs(row)).output[0]
        columns.append((after - before).norm(dim=-1))
    return torch.stack(columns, -1) / before.norm(dim=-1).mean()


@torch.no_grad()
def leak(row: Row, case: Case, printed: bool = False) -> float | None:
    """The largest change of outputs whose queries must not attend to the last token, if that token is replaced.

    The last token's own output may change, as its query does. Returns None if all queries may attend to it or the row raises.
    """
    mask = masks(row, case)
    if mask is None:
        return None
    blind = ~mask[:, 0, :, -1]
    if case.query is case.key:
        blind[:, -1] = False
    try:
        before, after = (row.version(printed)(**given.inputs(row)).output for given in (case, _change_token(case, -1)))
    except Exception:  # `compare_case` reports the error
        return None
    return float((after - before).abs().amax(-1)[blind].max()) if blind.any() else None


def costs(row: Row, config: Config, printed: bool = False) -> tuple[Cost, float | None]:
    """Returns the cost of a row at the settings, and its `leak`."""
    given = case(config, crosses=row.crosses)
    inputs = given.inputs(row)
    found = [cost(lambda: row.version(printed)(**inputs)) for _ in range(2)]  # the first creates the weight layouts
    return found[-1], leak(row, given, printed)


def time_row(row: Row, config: Config, printed: bool = False, rounds: int = 15) -> Pace:
    """Measures the times of a row and of the reference on the same case, in turns. Raises what the row raises."""
    given = case(config, crosses=row.crosses)
    inputs = given.inputs(row)
    return pace(lambda: row.version(printed)(**inputs), lambda: reference(row, given), rounds)


def _judgement(found: Attention | None, target: Attention, error: str) -> Judgement:
    if found is None:
        return Judgement("raises", error, None, None)
    output, square = _error(found.output, target.output), _error(found.weights, target.weights)
    return Judgement("agrees" if output.agrees and square.agrees else "disagrees", "", output, square)


def _fits(mine: Tensor, theirs: Tensor) -> bool:
    return mine.ndim == theirs.ndim and all(a in (1, b) for a, b in zip(mine.shape, theirs.shape, strict=True))


def _error(mine: Tensor, theirs: Tensor) -> Error:
    """Errors of `mine` against `theirs`; infinite if the shapes do not even broadcast."""
    if not _fits(mine, theirs):
        return Error(math.inf, math.inf)
    apart, least = mine - theirs, torch.finfo(theirs.dtype).tiny
    return Error(float(apart.abs().max()), float(apart.norm() / theirs.norm().clamp(min=least)))


def _visible_pairs(row: Row, case: Case) -> Bool[Tensor, "q k"]:
    """The mask of the first sequence; all True for a row that has no mask."""
    mask = masks(row, case)
    return torch.ones_like(case.mask[0]) if mask is None else mask[0, 0]


def _change_token(case: Case, token: int) -> Case:
    """Returns the case with another vector at one token of every key sequence."""
    x = case.key.clone()
    x[:, token] = 1 - x[:, token]
    return replace(case, query=x if case.query is case.key else case.query, key=x, value=x)
