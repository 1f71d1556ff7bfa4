"""A pass as a list of matrices: what each is, how it is computed from the others, and what it costs.

It has only the operations of the table (`attention/operations`) that the config has: no bias without a position rule that
adds one, no mask if all pairs are visible. If queries and keys come from a source, the pass begins with them and ends with
the last step that can be computed. Nothing is computed here; the tensors are in `values.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from attention.config import Config
from attention.operations.operation import Operation, Spec, split_axes, text
from attention.operations.table import operations
from attention.sources.spec import spec_of
from attention.steps.step import Step


@lru_cache(maxsize=64)  # called whenever a matrix is drawn, counted or highlighted
def steps(config: Config) -> tuple[Step, ...]:
    """Returns every matrix of the pass of a config, in the order of computation (Vaswani et al. 2017, section 3.2)."""
    spec, found, newest = spec_of(config), [], {}
    for operation in operations(spec):
        found.append(_step(operation, spec, newest))
        newest[operation.version_of] = operation
    return tuple(found)


def by_name(config: Config) -> dict[str, Step]:
    """Returns the steps by name."""
    return {step.name: step for step in steps(config)}


def made_here(config: Config) -> bool:
    """Whether the source has the tokens and the projections from which queries, keys and values are computed."""
    return spec_of(config).made_here


def _step(operation: Operation, spec: Spec, newest: Mapping[str, Operation]) -> Step:
    """Returns an operation under a spec; `newest`: the last operation that made a version of each matrix."""
    wanted = operation.sources if isinstance(operation.sources, tuple) else operation.sources(spec)
    sources = tuple(replace(each, name=newest[each.name].name) for each in wanted)
    says, plain = text(operation.arithmetic, spec), text(operation.plain, spec)
    for at, source in enumerate(sources):
        says = says.replace(f"{{s{at}}}", source.name)
        plain = plain.replace(f"{{s{at}}}", rf"\text{{{source.name}}}")
    symbols = {name: made.symbol or name for name, made in newest.items()}
    formula = operation.formula if isinstance(operation.formula, str) else operation.formula(spec, symbols)
    return Step(
        operation.name,
        text(operation.title, spec),
        operation.axes,
        tuple(map(spec.length, split_axes(operation.axes))),
        formula,
        says,
        sources,
        operation.flops(spec),
        operation.kind,
        operation.part,
        text(operation.lesson, spec),
        plain or formula,
    )
