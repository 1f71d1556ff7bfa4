"""Cached calls into the core, bounded, with a fair share of the processor for every visitor. Sole owner of what is kept.

What is kept is keyed by the knobs that change the tensors, so moving the focus or the colour scale computes nothing
anew. All results together have so many bytes (`KEPT`); computing most of them again takes milliseconds.

Passes run in threads that all visitors share and that stay: Streamlit runs every rerun in a thread of its own, and in a
new thread a pass takes up to three times as long, as its memory is all fresh. The lanes say who may wait for whom.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import TimeoutError as NotYet
from dataclasses import replace
from functools import cache, partial
from typing import ParamSpec, TypeVar

import streamlit as st
import torch
from torch import Tensor

import attention
from attention.analysis import number_types, scaling
from attention.analysis.blind_rows import Finding
from attention.analysis.blind_rows import audit as every_path
from attention.analysis.distribution import Distribution
from attention.analysis.distribution import distribution as counted
from attention.analysis.kv_groups import Grouping
from attention.analysis.kv_groups import groupings as every_grouping
from attention.analysis.map_numbers import numbers as map_profile
from attention.analysis.mask_effect import hidden as taken
from attention.analysis.mask_effect import unmasked
from attention.analysis.mask_gallery import Exhibit
from attention.analysis.mask_gallery import exhibit as one_mask
from attention.analysis.mask_gallery import gallery as every_mask
from attention.analysis.number_types import Rounded
from attention.analysis.parity import Parity
from attention.analysis.parity import map_parity as map_against_torch
from attention.analysis.parity import parity as against_torch
from attention.charts import theme
from attention.config import Config
from attention.machine.kept import Kept
from attention.machine.lanes import Lane, Work
from attention.maps.blocks import visible
from attention.maps.exact import HeadMaps, head_maps
from attention.maps.zoom import pooled
from attention.published import ROWS, Evidence
from attention.published import compare as rows
from attention.published.case import case
from attention.published.cost import Cost, Pace
from attention.published.demands import Demand
from attention.published.demands import demands as tried
from attention.steps.values import difference, pairs, values
from attention.tables import rows as tables
from attention.tables.rows import Row
from attention.timing import devices as timed
from attention.timing import recordings
from attention.timing.recordings import Timing
from attention.trace import Trace
from attention.ui.drawing import Drawing, Studio, asked
from attention.wire.cells import Cells, pixel_cells
from attention.wire.cells import cells as drawn
from attention.wire.matrix_cells import Matrix
from attention.wire.matrix_cells import drawn as sent

MOST = 2**28  # bytes of results that are kept
ALL_HEADS = 2**20  # weights of all heads up to which the steps of all are kept, of more those of one head
REACH = 2**30  # multiplications of a map of influence at the most
AT_ONCE = 2  # passes that run at the same time, however many visitors there are
SPINNER = 0.3  # seconds after which whoever waits is told for what
P = ParamSpec("P")
T = TypeVar("T")

PIECES = Lane(
    "piece", 0, AT_ONCE
)  # of a pass; a lane of their own, as whoever waits for one has a thread of the passes
PASSES = Lane("pass", 1, AT_ONCE)
KEPT = Kept(MOST)
STUDIO = Studio()


def shared(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The call's result, computed by one of the few threads that all visitors share."""
    return PASSES.submit(call, *args, **kwargs).result()


def told(work: Work[T], what: str) -> T:
    """What came of work that may take long: whoever waits is told for what."""
    try:
        return work.result(SPINNER)
    except NotYet:
        if work.done():
            raise
    with st.spinner(what):
        return work.result()


def trace(config: Config) -> Trace:
    """The trace of a config, with its own focus."""
    return replace(_trace(config.tensors), config=config)


def begin(config: Config) -> None:
    """Starts the trace of a config, or of as many of its tokens as are shown."""
    _trace.begin(config.traceable.tensors)


@KEPT
def _trace(config: Config) -> Work[Trace]:
    return PASSES.submit(attention.trace, config, PIECES)


def traced(config: Config, call: Callable[[Trace], T]) -> Work[T]:
    """Work that begins with the trace of a config; give `config.tensors`."""
    return PASSES.after(_trace.begin(config), call)


def drawing(config: Config, visitor: str) -> Drawing:
    """The drawing of a config for a visitor, begun if there is none."""
    return STUDIO.ask(config.tensors, theme.side(config.heads), visitor)


@KEPT
def tiles_seen(config: Config, tile: int) -> Work[Tensor]:
    """Which tiles of the square the mask does not hide wholly; give `config.tensors`."""
    return PASSES.submit(visible, config.rule, config.tokens, config.span, tile)


def part(config: Config, drawing: Drawing, maps: HeadMaps, rows: tuple[int, int], cols: tuple[int, int]) -> Cells:
    """The cells of a part of the head in focus.

    All of it is what the maps have; what is smaller is computed from them, as finely as there are pixels.
    """
    everything = (0, config.tokens)
    if rows == cols == everything:
        seen = tiles_seen(config.tensors, maps.tile)
        return pixel_cells(maps.pooled_by(config.pool).pixels, seen, maps.tile, config.tokens)
    return shared(_finer, config, drawing.tensors.result(), maps, rows, cols)


def _finer(
    config: Config, tensors: tuple[Tensor, Tensor], maps: HeadMaps, rows: tuple[int, int], cols: tuple[int, int]
) -> Cells:
    high, wide = rows[1] - rows[0], cols[1] - cols[0]
    tile = -(-max(high, wide) // theme.PART)
    seen = visible(config.rule, config.tokens, config.span, tile, rows, cols)
    return pixel_cells(pooled(maps, *tensors, rows, cols, tile, config.pool), seen, tile, high, wide)


def long_row(config: Config, drawing: Drawing) -> Row:
    """The row in focus of a long sequence, exactly."""
    given = config.tensors, config.head, config.row
    found = KEPT.ask(("row", *given), lambda: PASSES.after(drawing.tensors, partial(_long_row, *given)))
    return tables.described(config, *found.result())


def _long_row(config: Config, head: int, at: int, tensors: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    maps = head_maps(*tensors, rows=(at, at + 1), tile=1, stats=False, **asked(config))
    seen = config.rule(torch.tensor([[at]]), torch.arange(config.tokens)[None], config.tokens, config.span)
    return maps.mean[head, 0].clone(), seen.expand(1, config.tokens)[0]


def map_numbers(config: Config, drawing: Drawing) -> dict[str, list[float]]:
    """The profile of every head of a finished drawing as columns; give `config.tensors`."""
    return _of_maps("numbers", config, drawing, _map_columns)


def _map_columns(maps: HeadMaps, query: Tensor, key: Tensor, config: Config) -> dict[str, list[float]]:
    seeing = visible(config.rule, config.tokens, config.span, config.tokens).any()
    return tables.columns(map_profile(maps, query, key), bool(seeing))


def map_parity(config: Config, drawing: Drawing) -> Parity:
    """Some rows of a finished drawing against PyTorch's own; give `config.tensors`."""
    return _of_maps("parity", config, drawing, lambda maps, query, key, _: map_against_torch(maps, query, key))


def _of_maps(name: str, config: Config, drawing: Drawing, call: Callable[..., T]) -> T:
    """What follows from the maps of a finished drawing; what is kept of it does not hold on to the drawing."""
    return KEPT.ask(
        (name, config),
        lambda: PASSES.after(drawing.tensors, lambda tensors: call(drawing.maps, *tensors, config)),
    ).result()


@KEPT
def parity(config: Config) -> Work[Parity]:
    """The pass of a config against PyTorch's own; give `config.tensors`."""
    return traced(config, against_torch)


@KEPT
def cells(config: Config) -> Work[Cells]:
    """What the squares of all heads show; give `config.tensors`."""
    side = theme.side(config.heads)
    return traced(config, lambda found: drawn(found.weights, found.mask, side, PIECES))


@KEPT
def gallery(tokens: int, span: int, layers: int) -> Work[list[Exhibit]]:
    """Every mask at this length and span, with its reach."""
    return PASSES.submit(every_mask, tokens, span, layers)


@KEPT
def exhibit(config: Config, layers: int) -> Work[Exhibit]:
    """The rule in use, as the gallery shows the others; give `config.tensors`."""
    return PASSES.submit(one_mask, config.rule_name, config.rule, config.tokens, config.span, layers)


@KEPT
def hidden(config: Config) -> Work[Tensor]:
    """The weight that each query of each head loses to the mask; give `config.tensors`."""
    n, span = config.tokens, config.span
    return traced(unmasked(config), lambda before: taken(before, config.rule.square(n, n, span)))


@KEPT
def audit(config: Config, head: int) -> Work[list[Finding]]:
    """What each path gives to rows that see nothing, for one head; give `config.tensors`."""
    return traced(config, lambda found: every_path(replace(found, config=replace(config, head=head))))


@KEPT
def groupings(config: Config) -> Work[list[Grouping]]:
    """Every grouping of keys and values against none; give `config.tensors`."""
    return PASSES.submit(every_grouping, config)


@KEPT
def numbers(config: Config) -> Work[dict[str, list[float]]]:
    """The profile of every head as columns; give `config.tensors`."""
    return traced(config, lambda found: tables.numbers(found.weights, found.mask))


@KEPT
def distribution(config: Config) -> Work[Distribution]:
    """All weights of every head, counted by size; give `config.tensors`."""
    return traced(config, lambda found: counted(found.weights, found.mask))


def sweep(keys: int) -> list[tuple[scaling.Point, scaling.Point]]:
    """Every width without scaling and divided by its square root, for this many keys."""
    return [told(_width.begin(keys, width), f"Drawing queries and keys of {width} …") for width in scaling.WIDTHS]


@KEPT
def _width(keys: int, width: int) -> Work[tuple[scaling.Point, scaling.Point]]:
    return PASSES.submit(scaling.sweep, keys, width)


@KEPT
def _dots(keys: int, d_head: int) -> Work[Tensor]:
    return PASSES.submit(scaling.dots, keys, d_head)


@KEPT
def measured(keys: int, d_head: int, scale: float) -> Work[scaling.Point]:
    """One width under one scale, temperature included."""
    return PASSES.after(_dots.begin(keys, d_head), lambda dots: scaling.point(dots, d_head, scale))


def compared(config: Config, head: int) -> list[Rounded]:
    """A head in every number type against float64; give `config.tensors`."""
    return told(_compared.begin(config, head), "Computing the head in every number type …")


@KEPT
def _compared(config: Config, head: int) -> Work[list[Rounded]]:
    return traced(config, lambda found: number_types.compared(replace(found, config=replace(config, head=head))))


def matrices(config: Config, names: tuple[str, ...]) -> list[Matrix]:
    """What these steps of the pass show, with the other sequence and the width of values that the Steps page has."""
    return _matrices(crossed(config), config.head, names)


def torch_difference(config: Config) -> float:
    """How far the context of cross-attention, or of values of another width, is from PyTorch's."""
    return _difference(crossed(config))


def crossed(config: Config) -> Config:
    """The tensors of a config with those of its other sequence."""
    return replace(config.tensors, keys=config.keys, d_v=config.d_v)


def blind(config: Config) -> int:
    """How many queries see no key, of the sequence that the Steps page has."""
    return int((~pairs(crossed(config)).any(-1)).sum())


def _matrices(config: Config, head: int, names: tuple[str, ...]) -> list[Matrix]:
    few = config.heads * config.tokens * (config.keys or config.tokens) <= ALL_HEADS
    found = _values.begin(config, None if few else head)
    told(found, "Computing every step of the pass …")
    given = replace(config, head=head)
    return KEPT.ask(
        ("matrices", given, names), lambda: PASSES.after(found, lambda made: sent(given, made, names))
    ).result()


@KEPT
def _values(config: Config, head: int | None) -> Work[dict[str, Tensor]]:
    return PASSES.submit(values, config, slice(None) if head is None else slice(head, head + 1))


@KEPT
def _difference(config: Config) -> Work[float]:
    return PASSES.after(_values.begin(config, 0), partial(difference, config))


@cache
def devices() -> dict[str, str]:
    """The devices of this machine, name by key."""
    return {found.key: found.name for found in timed.devices()}


@cache
def shipped() -> list[Timing]:
    """The recordings that ship with the app."""
    return recordings.shipped()


def recording(data: bytes, name: str) -> list[Timing]:
    """The timings of a visitor's file; raises RecordingError."""
    return recordings.read(data, name)


def published(config: Config) -> Config:
    """The part of a config that published implementations depend on: what their results are kept by."""
    return replace(config.tensors, batch=config.batch, keys=config.keys, d_v=config.d_v)


@KEPT
def comparison(config: Config, name: str, printed: bool) -> Work[rows.Comparison]:
    """One published row against the reference; give `published(config)`."""
    return PASSES.submit(rows.compare, ROWS[name], config, printed)


def judgements(config: Config) -> dict[tuple[str, bool], rows.Judgement]:
    """Every published row, as meant and as printed; whichever is chosen next is then compared already."""
    return {
        (name, printed): comparison(config, name, printed and bool(row.as_printed)).judgement
        for name, row in ROWS.items()
        for printed in (False, True)
    }


@KEPT
def evidence(name: str) -> Work[Evidence]:
    """Numbers beside the lesson of a published row that has some."""
    return PASSES.submit(ROWS[name].evidence)


@KEPT
def published_costs(config: Config, name: str, printed: bool) -> Work[tuple[Cost, float | None]]:
    """What a published row costs, and its leak; give `published(config)`."""
    return PASSES.submit(rows.costs, ROWS[name], config, printed)


@KEPT
def influences(config: Config, name: str, printed: bool) -> Work[Tensor | None]:
    """Influence of tokens on outputs in one published row, over as many first tokens as there is time for."""
    row, most = ROWS[name], max(2, math.isqrt(REACH // (4 * config.batch * config.d_model**2)))
    return PASSES.submit(lambda: rows.influence(row, case(config, most, row.crosses), printed))


@KEPT
def demands(name: str, printed: bool) -> Work[list[Demand]]:
    """What a published row accepts."""
    return PASSES.submit(tried, ROWS[name], printed)


@KEPT
def pace(config: Config, name: str, printed: bool) -> Work[Pace]:
    """A published row's time beside the reference's, measured once; give `published(config)`."""
    return PASSES.submit(rows.timed, ROWS[name], config, printed)


@KEPT
def published_cells(config: Config, name: str, printed: bool) -> Work[Cells | None]:
    """The squares of a published row, None where it raises; what is not a number is drawn as masked."""
    return PASSES.after(comparison.begin(config, name, printed), _published_cells)


def _published_cells(found: rows.Comparison) -> Cells | None:
    if found.weights is None:
        return None
    visible = found.visible & ~found.weights.isnan()
    return drawn(found.weights.nan_to_num(0).float(), visible, theme.side(len(found.weights)))
