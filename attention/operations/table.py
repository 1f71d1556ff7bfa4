"""The table of operations in the order of computation, and what is computed from it.

To add an operation, add its record here: it gets a step, a formula, lines of the program, its cost and its checks.
"""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from attention.operations import (
    bias,
    context,
    differential,
    forgetting,
    gate,
    mask,
    output,
    positions,
    project,
    qk_norm,
    query_scale,
    scale,
    scores,
    softcap,
    softmax,
)
from attention.operations.differential import for_second
from attention.operations.operation import Operation, Spec, Values, Written, text

TABLE: list[Operation] = [
    *positions.TO_INPUT,
    *project.OPERATIONS,
    *qk_norm.OPERATIONS,
    *map(for_second, qk_norm.OPERATIONS),
    *positions.TO_HEADS,
    *map(for_second, positions.TO_HEADS),
    *forgetting.OPERATIONS,
    *gate.TO_GATE,
    *scores.OPERATIONS,
    *scale.OPERATIONS,
    *query_scale.OPERATIONS,
    *softcap.OPERATIONS,
    *bias.OPERATIONS,
    *mask.OPERATIONS,
    *map(for_second, (*scores.OPERATIONS, *scale.OPERATIONS, *query_scale.OPERATIONS, *softcap.OPERATIONS)),
    *map(for_second, (bias.BIASED, mask.LOGITS)),
    differential.FIRST_SOFTMAX,
    for_second(differential.FIRST_SOFTMAX),
    *softmax.OPERATIONS,
    differential.DIFFERENCE,
    context.CONTEXT,
    differential.NORMED,
    gate.GATED,
    context.JOINED,
    *output.OPERATIONS,
]


def step_names() -> tuple[str, ...]:
    """Returns the names of all matrices that a pass may have, in the order of computation."""
    return tuple(dict.fromkeys(operation.name for operation in TABLE))


def operations(spec: Spec, first: str = "", stop: str = "") -> list[Operation]:
    """Returns the operations that a pass has, from the step `first` on and before the step `stop`."""
    names = [operation.name for operation in TABLE]
    begin, end = names.index(first) if first else 0, names.index(stop) if stop else len(names)
    return [operation for operation in TABLE[begin:end] if operation.applies(spec)]


def compute(given: Values, spec: Spec, some: list[Operation]) -> dict[str, Tensor]:
    """Returns the matrices of some operations by name, from the newest version of every matrix that they need.

    The dtype of queries and keys is that of all that is computed from them. Pairs of heads need `heads`, their numbers, and
    keys and values repeated for each head.
    """
    newest, found = dict(given), {}
    for operation in some:
        made = operation.compute(newest, spec) if operation.compute else newest[operation.name]
        found[operation.name] = newest[operation.version_of] = made
    return found


def score_term(spec: Spec, score: str, written: Written = str) -> str:
    """Returns the logit of a pair in TeX, from its scaled score, as every later operation changes it."""
    for operation in operations(spec, "lengthened", "weights"):
        score = operation.term(spec, score, written) if operation.term else score
    return score


def program(spec: Spec, some: list[Operation]) -> Iterator[str]:
    """Yields the lines of PyTorch of some operations."""
    for operation in some:
        yield text(operation.code, spec)
