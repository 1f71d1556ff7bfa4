"""The trace of a config and what follows from it for every head: what the Heads page shows, and other pages begin with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from torch import Tensor

from attention.analysis.head_roles import Role
from attention.analysis.head_roles import roles as what_they_do
from attention.analysis.kv_groups import Grouping
from attention.analysis.kv_groups import groupings as every_grouping
from attention.analysis.parity import Parity
from attention.analysis.parity import parity as against_torch
from attention.analysis.weighted_values import WeightedValues
from attention.analysis.weighted_values import weighted_values as multiplied
from attention.charts import theme
from attention.config import GENERATED, Config, shape
from attention.machine.lanes import Lane, Work
from attention.maps.blocks import kept
from attention.sources.generated import early
from attention.sources.given import Given
from attention.sources.origins import given, unit
from attention.tables import rows as tables
from attention.trace import Trace, attended, check_size
from attention.ui.compute.owner import KEPT, LATER, PASSES, PIECES
from attention.wire.cells import Cells
from attention.wire.cells import cells as drawn

T = TypeVar("T")
ACROSS = Role("", "looks from one sequence at another: roles are told by places in one and the same.")
Window = tuple[tuple[int, int], tuple[int, int]]  # of queries and of keys: the first, and the one after the last


def trace(config: Config) -> Trace:
    """The trace of a config, with its own focus."""
    return replace(_trace(config.tensors), config=config)


def trace_by_rule(config: Config) -> Trace:
    """The trace under the mask rule of the settings, also if the source has a mask of its own; with its own focus."""
    return replace(traced_by_rule(config.tensors).result(), config=config)


def begin(config: Config) -> None:
    """Starts the trace of a config, or of as many of its tokens as are shown."""
    _trace.begin(config.traceable.tensors)


@KEPT
def _trace(config: Config) -> Work[Trace]:
    check_size(config)
    return PASSES.after(_given.begin(early(config)), lambda found: attended(_under(found, config), PIECES))


def traced_by_rule(config: Config) -> Work[Trace]:
    """Work that gives this trace; give `config.tensors`."""
    sizes = shape(config.source)
    return (_by_rule if sizes and sizes.square else _trace).begin(config)


@KEPT
def _by_rule(config: Config) -> Work[Trace]:
    check_size(config)
    given = _given.begin(early(config))
    return PASSES.after(given, lambda found: attended(replace(found, config=config, rule=config.rule), PIECES))


@KEPT
def _given(config: Config) -> Work[Given]:
    return PASSES.submit(given, config)


def _under(found: Given, config: Config) -> Given:
    """The same under the mask and the scale of a config that has both; a square of the source's own stays."""
    return replace(found, config=config, rule=found.rule if isinstance(found.rule, Tensor) else config.rule)


def traced(config: Config, call: Callable[[Trace], T], lane: Lane = PASSES) -> Work[T]:
    """Work that begins with the trace of a config; give `config.tensors`."""
    return lane.after(_trace.begin(config), call)


@KEPT
def parity(config: Config) -> Work[Parity]:
    """The pass of a config against PyTorch's own; give `config.tensors`."""
    return traced(config, against_torch, LATER)


@KEPT
def fully_masked(config: Config) -> Work[int]:
    """How many queries see no key; give `config.tensors`. Of a rule at any length, without the square."""
    if config.source != GENERATED and config.traceable is config:
        return traced(config, lambda found: int((~found.mask.any(-1)).sum()))
    queries = config.tokens if config.crosses else None
    return PASSES.submit(
        lambda: int((kept(config.rule, config.columns, config.span, config.columns, queries)[1] == 0).sum())
    )


@KEPT
def cells(config: Config) -> Work[Cells]:
    """What the squares of all heads show; give `config.tensors`."""
    side = theme.side(config.heads)
    return traced(config, lambda found: drawn(found.weights, found.mask, side, PIECES))


@KEPT
def lines(config: Config, head: int, window: Window) -> Work[Cells]:
    """The cells of a part of one head, a cell a pair; give `config.tensors`."""
    rows, cols = (slice(*ends) for ends in window)
    side = max(last - first for first, last in window)
    return traced(
        config, lambda found: drawn(found.weights[head : head + 1, rows, cols], found.mask[rows, cols], side), LATER
    )


@KEPT
def weighted_values(config: Config, head: int, query: int) -> Work[WeightedValues]:
    """A row times the values; give `config.tensors`, of a source that has them."""
    return traced(config, lambda found: multiplied(found, head, query), LATER)


@KEPT
def numbers(config: Config) -> Work[dict[str, list[float]]]:
    """The profile of every head as columns; give `config.tensors`."""
    return traced(config, tables.numbers, LATER)


@KEPT
def roles(config: Config) -> Work[list[Role | None]]:
    """What each head does, in words; None where nothing stands out; give `config.tensors`."""
    return traced(config, _roles)


def _roles(found: Trace) -> list[Role | None]:
    if found.config.crosses:
        return [ACROSS] * found.config.heads
    return what_they_do(found.weights, found.mask, found.texts, unit(found.config), line=found.queries.line)


@KEPT
def groupings(config: Config) -> Work[list[Grouping]]:
    """Every grouping of keys and values against none; give `config.tensors`."""
    return LATER.submit(every_grouping, config)
