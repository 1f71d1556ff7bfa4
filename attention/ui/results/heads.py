"""The trace of a config and what follows from it for every head, for the Heads page and others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from torch import Tensor

from attention.analysis.head_kinds import Role
from attention.analysis.head_roles import roles as what_they_do
from attention.analysis.kv_groups import Grouping
from attention.analysis.kv_groups import groupings as every_grouping
from attention.analysis.map_numbers import hidden_by_pooling
from attention.analysis.parity import Parity
from attention.analysis.parity import parity as against_torch
from attention.analysis.weighted_values import WeightedValues
from attention.analysis.weighted_values import weighted_values as multiplied
from attention.charts import theme
from attention.comparison.head_changes import Changes, compare_sides
from attention.comparison.nearest_heads import nearest_heads
from attention.comparison.pooling import Differences, pool_differences
from attention.comparison.sides import Side, side_of
from attention.config import Config
from attention.fitting import shape
from attention.heads import greatest
from attention.heads import rows as rows_of
from attention.knobs import GENERATED
from attention.maps.blocks import count_pairs
from attention.masks import Rule
from attention.operations.softmax import SOFTMAXES
from attention.runtime.executors import RankedExecutor, Task
from attention.runtime.result_cache import Cached
from attention.sources.generated import early
from attention.sources.layer_inputs import LayerInputs
from attention.sources.providers import built_rules, distributes, has_scores, layer_inputs, unit
from attention.tables import rows as tables
from attention.trace import Trace, check_size, run_pass
from attention.ui.results.shared import CHUNKS, FORWARD, LOW_PRIORITY, RESULTS
from attention.wire.cells import Cells, mean_cells
from attention.wire.cells import cells as drawn

T = TypeVar("T")
NO_ROLE = "has rows that sum to more than one; roles are shares of a row's weight."
ACROSS = Role("", "attends to another sequence; roles are only defined for self-attention.")
Pairs = tuple[tuple[int, int], ...]  # heads of A and of B
Window = tuple[tuple[int, int], tuple[int, int]]  # of queries and of keys: start and end, exclusive


def trace(config: Config) -> Trace:
    """The trace of a config, with its own selected head and query."""
    return replace(_trace(config), config=config)


def trace_by_rule(config: Config) -> Trace:
    """The trace under the mask rule of the settings, even if the source has its own mask; with the config's own selection."""
    return replace(traced_by_rule(config).result(), config=config)


def begin(config: Config) -> None:
    """Starts the trace of a config, or of as many of its tokens as are shown."""
    _trace.begin(config.truncated)


@RESULTS
def _trace(config: Config) -> Task[Trace]:
    check_size(config)
    return FORWARD.then(_layer_work.begin(early(config)), lambda found: run_pass(_under(found, config), CHUNKS))


def traced_by_rule(config: Config) -> Task[Trace]:
    """A task that returns the trace under the mask rule of the settings."""
    sizes = shape(config.source)
    return (_by_rule if sizes and sizes.square else _trace).begin(config)


@RESULTS
def _by_rule(config: Config) -> Task[Trace]:
    check_size(config)
    given = _layer_work.begin(early(config))
    return FORWARD.then(given, lambda found: run_pass(replace(found, config=config, rule=config.rule), CHUNKS))


@RESULTS
def _layer_work(config: Config) -> Task[LayerInputs]:
    return FORWARD.submit(layer_inputs, config)


def _under(found: LayerInputs, config: Config) -> LayerInputs:
    """The inputs under the mask and the scale of the config, if it has both; a source's own mask is kept."""
    return replace(found, config=config, rule=found.rule if isinstance(found.rule, Tensor) else config.rule)


def after_trace(config: Config, call: Callable[[Trace], T], lane: RankedExecutor = FORWARD) -> Task[T]:
    """A task that calls `call` with the trace of a config."""
    return lane.then(_trace.begin(config), call)


@RESULTS
def parity(config: Config) -> Task[Parity]:
    """Compares the pass of a config with PyTorch's."""
    return after_trace(config, against_torch, LOW_PRIORITY)


def fully_masked(config: Config) -> int:
    """The number of fully masked rows. For a rule at any length, without the square."""
    if config.source != GENERATED and config.truncated is config:
        return _fully_masked_in_trace(config)
    return _fully_masked_by_rule(config.rule, config.span, config.n_keys, config.tokens if config.is_cross else None)


@RESULTS
def _fully_masked_in_trace(config: Config) -> Task[int]:
    return after_trace(config, lambda found: int((~found.mask.any(-1)).sum()))


@RESULTS
def _fully_masked_by_rule(rule: Rule, span: int, keys: int, queries: int | None) -> Task[int]:
    return FORWARD.submit(lambda: int((count_pairs(rule, keys, span, keys, queries)[1] == 0).sum()))


@RESULTS
def cells(config: Config) -> Task[Cells]:
    """The cells of the maps of all heads."""
    side = theme.side(config.heads)
    softmax = SOFTMAXES[config.softmax]
    sums = has_scores(config.source) and not softmax.sums_to_one
    return after_trace(config, lambda found: drawn(found.weights, found.mask, side, CHUNKS, sums, softmax.signed))


def shown_cells(config: Config) -> Cells:
    """The cells of the grid: each the largest of its weights, or their mean on a logarithmic scale."""
    return _pooled_cells(config)(config)


def begin_shown_cells(config: Config) -> None:
    """Starts the task of these cells."""
    _pooled_cells(config).begin(config)


def _pooled_cells(config: Config) -> Cached[[Config], Cells]:
    return _mean_cells if is_pooled_by_mean(config) else cells


@RESULTS
def _mean_cells(config: Config) -> Task[Cells]:
    return after_trace(config, lambda found: mean_cells(found.weights, found.mask, theme.side(config.heads)))


def is_pooled_by_mean(config: Config) -> bool:
    """Whether the pixels of the grid are means, which a logarithmic scale shows well; the largest weights are on a linear one."""
    return tokens_per_pixel(config) > 1 and config.color_scale in theme.LOGARITHMIC and distributes(config)


def tokens_per_pixel(config: Config) -> int:
    """The tokens per side of a pixel of the maps."""
    return -(-max(config.tokens, config.n_keys) // theme.side(config.heads))


def is_pattern_hidden(config: Config) -> bool:
    """Whether the map of the selected head in the grid does not show on which keys its large weights are."""
    return tokens_per_pixel(config) > 1 and not is_pooled_by_mean(config) and _is_hidden_by_pooling(config, config.head)


@RESULTS
def _is_hidden_by_pooling(config: Config, head: int) -> Task[bool]:
    tile = tokens_per_pixel(config)
    return after_trace(config, lambda found: hidden_by_pooling(found.weights[head], found.mask, tile))


@RESULTS
def differences(a: Config, b: Config, heads: Pairs | None) -> Task[Differences]:
    """The differences of the maps of two configs, of all heads or of these pairs of A and B."""
    side = theme.side(len(heads) if heads else b.heads)
    return after_both(a, b, lambda before, after: pool_differences(*_with_heads(before, after, heads), side, CHUNKS))


@RESULTS
def part_differences(a: Config, b: Config, heads: tuple[int, int], window: Window, side: int) -> Task[Differences]:
    """The differences of a part of one head of A and one of B, at most `side` cells per side."""

    def pool_part(before: Side, after: Side) -> Differences:
        one, two = (each.part(*window) for each in _with_heads(before, after, (heads,)))
        return pool_differences(one, two, side)

    return after_both(a, b, pool_part)


@RESULTS
def line_differences(a: Config, b: Config, heads: tuple[int, int], window: Window) -> Task[Cells]:
    """The cells of a part of one head of B minus one of A, one cell per pair, of both signs."""
    side = max(last - first for first, last in window)

    def encode_part(before: Side, after: Side) -> Cells:
        one, two = (each.part(*window) for each in _with_heads(before, after, (heads,)))
        return drawn(two.weights - one.weights, one.mask | two.mask, side, signed=True)

    return after_both(a, b, encode_part, LOW_PRIORITY)


@RESULTS
def changes(a: Config, b: Config, heads: Pairs | None) -> Task[Changes]:
    """How much every head of B differs from that of A."""
    return after_both(a, b, lambda before, after: compare_sides(before, after, heads), LOW_PRIORITY)


@RESULTS
def nearest(a: Config, b: Config, head: int) -> Task[int]:
    """The head of A that is nearest to a head of B; the same number if rows are no distributions."""

    def find(before: Side, after: Side) -> int:
        return nearest_heads(before, after, [head])[0][0] if before.distributes and after.distributes else head

    return after_both(a, b, find)


def after_both(a: Config, b: Config, call: Callable[[Side, Side], T], lane: RankedExecutor = FORWARD) -> Task[T]:
    """A task that calls `call` with both sides of a comparison."""
    return lane.then(lane.all_of(_side.begin(a), _side.begin(b)), lambda found: call(*found))


@RESULTS
def _side(config: Config) -> Task[Side]:
    """A config as a side, which keeps what it knows of its rows while the other side changes."""
    return after_trace(config, side_of)


def _with_heads(a: Side, b: Side, heads: Pairs | None) -> tuple[Side, Side]:
    """Both sides with these heads alone; all if there are none."""
    return (
        (a, b) if heads is None else (a.of_heads([pair[0] for pair in heads]), b.of_heads([pair[1] for pair in heads]))
    )


def lines(config: Config, head: int, window: Window) -> Cells:
    """The cells of a part of one head, one cell per pair."""
    return part(config, head, window, max(last - first for first, last in window))


@RESULTS
def part(config: Config, head: int, window: Window, side: int) -> Task[Cells]:
    """The cells of a part of one head, at most `side` cells per side."""
    rows, cols = (slice(*ends) for ends in window)
    return after_trace(
        config,
        lambda found: drawn(
            found.weights[head : head + 1, rows, cols],
            found.mask[rows, cols],
            side,
            signed=SOFTMAXES[config.softmax].signed,
            seeing=found.mask[rows].sum(-1),
        ),
        LOW_PRIORITY,
    )


@RESULTS
def mean_largest_weight(config: Config, head: int) -> Task[float]:
    """The mean over the rows of a head of their largest weight."""
    return after_trace(config, lambda found: float(greatest(rows_of(found.weights[head : head + 1], found.mask))))


@RESULTS
def weighted_values(config: Config, head: int, query: int) -> Task[WeightedValues]:
    """One row of weights times the values, for a source that has values."""
    return after_trace(config, lambda found: multiplied(found, head, query), LOW_PRIORITY)


@RESULTS
def numbers(config: Config) -> Task[dict[str, list[float]]]:
    """The head statistics of every head, as columns."""
    return after_trace(config, tables.numbers, LOW_PRIORITY)


@RESULTS
def roles(config: Config) -> Task[list[Role | None]]:
    """What each head does, in words; None for a head without a clear role."""
    return after_trace(config, _roles)


def _roles(found: Trace) -> list[Role | None]:
    if found.config.is_cross:
        return [ACROSS] * found.config.heads
    if not distributes(found.config):
        return [no_role(found.config)] * found.config.heads
    config, line = found.config, found.queries.line
    return what_they_do(found.weights, found.mask, found.texts, unit(config), line=line, rules=built_rules(config))


def no_role(config: Config) -> Role:
    """Why a head whose rows are no distributions has no role."""
    return Role("", SOFTMAXES[config.softmax].no_role if has_scores(config.source) else NO_ROLE)


@RESULTS
def groupings(config: Config) -> Task[list[Grouping]]:
    """Compares every grouping of keys and values with none."""
    return LOW_PRIORITY.submit(every_grouping, config)
