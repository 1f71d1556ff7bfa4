"""A row against the reference: does it agree, by how much does it not, and what does it cost?"""

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

WITHIN = 1e-6  # relative error of outputs and weights up to which a row agrees; what is computed here is float64


@dataclass(frozen=True)
class Error:
    """How far a tensor is from the reference: the greatest difference, and the norm of all over the reference's."""

    greatest: float
    relative: float

    @property
    def agrees(self) -> bool:
        """Within what counts as equal; not so where anything is not a number."""
        return self.relative <= WITHIN


@dataclass(frozen=True)
class Judgement:
    """Does a row agree? `output` and `square` are the errors of outputs and of weights over the whole batch.

    Where the row raises, both are None and `error` says what.
    """

    verdict: str
    error: str
    output: Error | None
    square: Error | None


@dataclass(frozen=True, eq=False)
class Comparison:
    """One row at one setting, in float32, as pictures need no more; what is judged is float64.

    `weights` (None where it raises), `reference` and `difference` of the first sequence, `(h q k)`, and its `mask
    (q k)`; `target (q c)` is its output by the reference, and `apart` how far the row's is from that. `raised_at` is
    the line that raised. `pooled`: one row of weights, and one output, stand for all queries.
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
        """Where anything is to be seen: what the mask lets through, and what gets weight although it should not."""
        return self.mask | (self.weights != 0) if self.weights is not None else self.mask.expand(self.reference.shape)


@torch.no_grad()
def judge(row: Row, case: Case, printed: bool = False, form: Form = None) -> Judgement:
    """Whether a row agrees on a case, and no more: the shortest way to know."""
    try:
        found = row.version(printed)(**case.inputs(row, form))
    except Exception as problem:
        return _judgement(None, reference(row, case), f"{type(problem).__name__}: {problem}")
    return _judgement(found, reference(row, case), "")


def compare(row: Row, config: Config, printed: bool = False) -> Comparison:
    """A row, as meant or as printed, at the settings; on the first tokens only where there are many (`case`)."""
    return compare_case(row, case(config, crosses=row.crosses), printed)


@torch.no_grad()
def compare_case(row: Row, case: Case, printed: bool = False, form: Form = None) -> Comparison:
    """A row on a case of your own. What it raises is a result, never raised."""
    target = reference(row, case)
    run, inputs = row.version(printed), case.inputs(row, form)
    record = record_run(run, **inputs)
    found: Attention | None = record.result
    shown = apart = None
    if found is not None and _fits(found.weights, target.weights):
        shown = found.weights.expand(target.weights.shape)[0]  # one row of weights for all queries is a square, too
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
    """How much the output at q changes when token k becomes another: norm of the change over the mean norm of outputs.

    Of the first sequence, by trying token after token, those of the keys where they are of another sequence; None where
    the row raises, or gives no output for each query.
    """
    try:
        before = row.version(printed)(**case.inputs(row)).output[0]
    except Exception:  # `compared` tells which
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
    """The greatest change of outputs whose queries must not see the last token, when that becomes another.

    None where all may see it, and where the row raises. The last token's own output may change, as its query does.
    """
    mask = masks(row, case)
    if mask is None:
        return None
    blind = ~mask[:, 0, :, -1]
    if case.query is case.key:
        blind[:, -1] = False
    try:
        before, after = (row.version(printed)(**given.inputs(row)).output for given in (case, _change_token(case, -1)))
    except Exception:  # `compared` tells which
        return None
    return float((after - before).abs().amax(-1)[blind].max()) if blind.any() else None


def costs(row: Row, config: Config, printed: bool = False) -> tuple[Cost, float | None]:
    """What a row costs at the settings, and its `leak`."""
    given = case(config, crosses=row.crosses)
    inputs = given.inputs(row)
    found = [cost(lambda: row.version(printed)(**inputs)) for _ in range(2)]  # the first makes the layouts of the maps
    return found[-1], leak(row, given, printed)


def time_row(row: Row, config: Config, printed: bool = False, rounds: int = 15) -> Pace:
    """A row's time beside the reference's on the same case, in turns. Raises what the row raises."""
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
    """Differences of the one to the other; infinite where the shapes don't even broadcast."""
    if not _fits(mine, theirs):
        return Error(math.inf, math.inf)
    apart, least = mine - theirs, torch.finfo(theirs.dtype).tiny
    return Error(float(apart.abs().max()), float(apart.norm() / theirs.norm().clamp(min=least)))


def _visible_pairs(row: Row, case: Case) -> Bool[Tensor, "q k"]:
    """The mask of the first sequence; all True for a row that has none."""
    mask = masks(row, case)
    return torch.ones_like(case.mask[0]) if mask is None else mask[0, 0]


def _change_token(case: Case, token: int) -> Case:
    """The same case with another vector at one token of every sequence that keys are of."""
    x = case.key.clone()
    x[:, token] = 1 - x[:, token]
    return replace(case, query=x if case.query is case.key else case.query, key=x, value=x)
