"""Cached calls into the core, bounded, with a fair share of the processor for every visitor. Sole owner of st.cache_*.

What is cached is keyed by the knobs that change the tensors, so moving the focus or the colour scale computes nothing
anew. Only a few results are kept: computing most of them again takes milliseconds, keeping them all would be a leak.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, ParamSpec, TypeVar

import streamlit as st
import torch
from torch import Tensor

import attention
from attention import devices as timed
from attention import precision, recordings, scaling, tables
from attention.audit import Finding
from attention.audit import audit as every_path
from attention.blocks import visible
from attention.cells import Cells, pixel_cells
from attention.cells import cells as drawn
from attention.charts import theme
from attention.config import Config
from attention.distribution import Distribution
from attention.distribution import distribution as counted
from attention.effect import hidden as taken
from attention.effect import unmasked
from attention.gallery import Exhibit
from attention.gallery import exhibit as one_mask
from attention.gallery import gallery as every_mask
from attention.grouping import Grouping
from attention.grouping import groupings as every_grouping
from attention.map_numbers import numbers as map_profile
from attention.map_parity import parity as map_against_torch
from attention.maps import HeadMaps, head_maps
from attention.matrices import Matrix
from attention.matrices import drawn as sent
from attention.parity import Parity
from attention.parity import parity as against_torch
from attention.passes import difference, pairs, values
from attention.precision import Rounded
from attention.published import ROWS, Evidence
from attention.published import compare as rows
from attention.published.case import case
from attention.published.cost import Cost, Pace
from attention.published.demands import Demand
from attention.published.demands import demands as tried
from attention.recordings import Timing
from attention.tables import Row
from attention.threads import pool
from attention.trace import Trace
from attention.ui.drawing import Drawing, Studio, asked
from attention.zoom import pooled

KEPT = 4  # traces, of at most 64 MB of weights each
ALL_HEADS = 2**20  # weights of all heads up to which the steps of all are kept, of more those of one head
REACH = 2**30  # multiplications of a map of influence at the most
AT_ONCE = 2  # passes that run at the same time, however many visitors there are
P = ParamSpec("P")
T = TypeVar("T")

# A config is named by its text: Streamlit's own walk through its fields takes a millisecond a call.
_KEYED: dict[str, Any] = {"show_spinner": False, "hash_funcs": {Config: repr}}
resource = partial(st.cache_resource, **_KEYED)
data = partial(st.cache_data, **_KEYED)


@resource()
def settle(page: str) -> None:
    """Once a page and process, when it has been drawn: what its imports left is no garbage any more.

    Walking the modules' objects at every collection costs more than a pass. Some libraries import the most when they are
    first used, hence after drawing.
    """
    tidy()
    gc.freeze()


def tidy() -> None:
    """Collects garbage, where nobody waits. Streamlit would after every run, also between a callback and its rerun."""
    gc.collect()


@resource()
def _workers() -> ThreadPoolExecutor:
    return pool(AT_ONCE, "pass")


@resource()
def _halves() -> ThreadPoolExecutor:
    """Threads of their own, as whoever waits for half of a pass has one of the others."""
    return pool(AT_ONCE, "half")


def shared(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The call's result, computed by one of the few threads that all visitors share.

    Streamlit runs every rerun in a thread of its own, and in a new thread a pass takes up to three times as long: its
    memory is all fresh. These threads stay.
    """
    return _workers().submit(call, *args, **kwargs).result()


def trace(config: Config) -> Trace:
    """The trace of a config, with its own focus."""
    return replace(_trace(config.tensors), config=config)


def begin(config: Config) -> None:
    """Starts the trace of a config, or of as many of its tokens as are shown."""
    _begun(config.traceable.tensors)


def _trace(config: Config) -> Trace:
    return _finished(_begun, config)


def _finished(begin: Any, config: Config) -> Any:
    """What a cached future of a config has come to; where it failed, the next one tries again."""
    try:
        return begin(config).result()
    except Exception:
        begin.clear(config)
        raise


@resource(max_entries=KEPT)
def _begun(config: Config) -> Future[Trace]:
    return _workers().submit(attention.trace, config, _halves())


@resource()
def studio() -> Studio:
    """Where maps of long sequences are drawn."""
    return Studio()


def drawing(config: Config, visitor: str) -> Drawing:
    """The drawing of a config for a visitor, begun if there is none."""
    return studio().ask(config.tensors, theme.side(config.heads), visitor)


@resource(max_entries=4)
def tiles_seen(config: Config, tile: int) -> Tensor:
    """Which tiles of the square the mask does not hide wholly; give `config.tensors`."""
    return shared(visible, config.rule, config.tokens, config.span, tile)


def part(config: Config, drawing: Drawing, maps: HeadMaps, rows: tuple[int, int], cols: tuple[int, int]) -> Cells:
    """The cells of a part of the head in focus.

    All of it is what the maps have; what is smaller is computed from them, as finely as there are pixels.
    """
    everything = (0, config.tokens)
    if rows == cols == everything:
        seen = tiles_seen(config.tensors, maps.tile)
        return pixel_cells(maps.pooled_by(config.pool).pixels, seen, maps.tile, config.tokens)
    return shared(_finer, config, drawing, maps, rows, cols)


def _finer(config: Config, drawing: Drawing, maps: HeadMaps, rows: tuple[int, int], cols: tuple[int, int]) -> Cells:
    high, wide = rows[1] - rows[0], cols[1] - cols[0]
    tile = -(-max(high, wide) // theme.PART)
    query, key = drawing.tensors.result()
    seen = visible(config.rule, config.tokens, config.span, tile, rows, cols)
    return pixel_cells(pooled(maps, query, key, rows, cols, tile, config.pool), seen, tile, high, wide)


def long_row(config: Config, drawing: Drawing) -> Row:
    """The row in focus of a long sequence, exactly."""
    weights, seen = _long_row(config.tensors, drawing, config.head, config.row)
    return tables.described(config, weights, seen)


@resource(max_entries=8)
def _long_row(config: Config, _drawing: Drawing, head: int, at: int) -> tuple[Tensor, Tensor]:
    query, key = _drawing.tensors.result()
    maps = shared(head_maps, query, key, rows=(at, at + 1), tile=1, stats=False, **asked(config))
    seen = config.rule(torch.tensor([[at]]), torch.arange(config.tokens)[None], config.tokens, config.span)
    return maps.mean[head, 0], seen.expand(1, config.tokens)[0]


@data(max_entries=8)
def map_numbers(config: Config, _drawing: Drawing) -> dict[str, list[float]]:
    """The profile of every head of a finished drawing as columns; give `config.tensors`."""
    seeing = visible(config.rule, config.tokens, config.span, config.tokens).any()
    return tables.columns(shared(map_profile, _drawing.maps, *_drawing.tensors.result()), bool(seeing))


@resource(max_entries=8)
def map_parity(config: Config, _drawing: Drawing) -> Parity:
    """Some rows of a finished drawing against PyTorch's own; give `config.tensors`."""
    return shared(map_against_torch, _drawing.maps, *_drawing.tensors.result())


@resource(max_entries=64)
def parity(config: Config) -> Parity:
    """The pass of a config against PyTorch's own; give `config.tensors`."""
    return shared(against_torch, _trace(config))


def cells(config: Config) -> Cells:
    """What the squares of all heads show; give `config.tensors`."""
    return _finished(begin_cells, config)


@resource(max_entries=16)
def begin_cells(config: Config) -> Future[Cells]:
    """Starts what the squares show, after the trace; give `config.tensors`."""
    _begun(config)
    return _workers().submit(_cells, config)


def _cells(config: Config) -> Cells:
    found = _trace(config)
    return drawn(found.weights, found.mask, theme.side(config.heads), _halves())


@resource(max_entries=16)
def gallery(tokens: int, span: int, layers: int) -> list[Exhibit]:
    """Every mask at this length and span, with its reach."""
    return shared(every_mask, tokens, span, layers)


@resource(max_entries=16)
def exhibit(config: Config, layers: int) -> Exhibit:
    """The rule in use, as the gallery shows the others; give `config.tensors`."""
    return shared(one_mask, config.rule_name, config.rule, config.tokens, config.span, layers)


@resource(max_entries=16)
def hidden(config: Config) -> Tensor:
    """The weight that each query of each head loses to the mask; give `config.tensors`."""
    before, after = _trace(unmasked(config)), _trace(config)
    return shared(taken, before, after.mask)


@resource(max_entries=16)
def audit(config: Config, head: int) -> list[Finding]:
    """What each path gives to rows that see nothing, for one head; give `config.tensors`."""
    found = replace(_trace(config), config=replace(config, head=head))
    return shared(every_path, found)


@data(max_entries=16)
def groupings(config: Config) -> list[Grouping]:
    """Every grouping of keys and values against none; give `config.tensors`."""
    return shared(every_grouping, config)


@data(max_entries=64)
def numbers(config: Config) -> dict[str, list[float]]:
    """The profile of every head as columns; give `config.tensors`."""
    found = _trace(config)
    return shared(tables.numbers, found.weights, found.mask)


@resource(max_entries=8)
def distribution(config: Config) -> Distribution:
    """All weights of every head, counted by size; give `config.tensors`."""
    found = _trace(config)
    return shared(counted, found.weights, found.mask, config.softmax == "plus one")


@data(show_spinner="Drawing queries and keys of every width …", max_entries=16)
def sweep(keys: int) -> list[tuple[scaling.Point, scaling.Point]]:
    """Every width without scaling and divided by its square root, for this many keys."""
    return [shared(scaling.sweep, keys, width) for width in scaling.WIDTHS]


@resource(max_entries=4)
def _dots(keys: int, d_head: int) -> Tensor:
    return shared(scaling.dots, keys, d_head)


@data(max_entries=64)
def measured(keys: int, d_head: int, scale: float) -> scaling.Point:
    """One width under one scale, temperature included."""
    return shared(scaling.point, _dots(keys, d_head), d_head, scale)


@resource(show_spinner="Computing the head in every number type …", max_entries=2)
def compared(config: Config, head: int) -> list[Rounded]:
    """A head in every number type against float64; give `config.tensors`."""
    return shared(precision.compared, replace(_trace(config), config=replace(config, head=head)))


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


@resource(max_entries=32)
def _matrices(config: Config, head: int, names: tuple[str, ...]) -> list[Matrix]:
    few = config.heads * config.tokens * (config.keys or config.tokens) <= ALL_HEADS
    found = _values(config, None if few else head)
    return shared(sent, replace(config, head=head), found, names)


@resource(show_spinner="Computing every step of the pass …", max_entries=2)
def _values(config: Config, head: int | None) -> dict[str, Tensor]:
    return shared(values, config, slice(None) if head is None else slice(head, head + 1))


@data(max_entries=64)
def _difference(config: Config) -> float:
    return shared(difference, config, _values(config, 0))


@resource()
def devices() -> dict[str, str]:
    """The devices of this machine, name by key."""
    return {found.key: found.name for found in timed.devices()}


@resource()
def shipped() -> list[Timing]:
    """The recordings that ship with the app."""
    return recordings.shipped()


def recording(data: bytes, name: str) -> list[Timing]:
    """The timings of a visitor's file; raises RecordingError."""
    return recordings.read(data, name)


def published(config: Config) -> Config:
    """The part of a config that published implementations depend on: what their caches are keyed by."""
    return replace(config.tensors, batch=config.batch, keys=config.keys, d_v=config.d_v)


@resource(max_entries=4 * len(ROWS))
def comparison(config: Config, name: str, printed: bool) -> rows.Comparison:
    """One published row against the reference; give `published(config)`."""
    return shared(rows.compare, ROWS[name], config, printed)


def judgements(config: Config) -> dict[tuple[str, bool], rows.Judgement]:
    """Every published row, as meant and as printed; whichever is chosen next is then compared already."""
    return {
        (name, printed): comparison(config, name, printed and bool(row.as_printed)).judgement
        for name, row in ROWS.items()
        for printed in (False, True)
    }


@data(max_entries=len(ROWS))
def evidence(name: str) -> Evidence:
    """Numbers beside the lesson of a published row that has some."""
    return shared(ROWS[name].evidence)


@data(max_entries=64)
def published_costs(config: Config, name: str, printed: bool) -> tuple[Cost, float | None]:
    """What a published row costs, and its leak; give `published(config)`."""
    return shared(rows.costs, ROWS[name], config, printed)


@resource(max_entries=32)
def influences(config: Config, name: str, printed: bool) -> Tensor | None:
    """Influence of tokens on outputs in one published row, over as many first tokens as there is time for."""
    row, most = ROWS[name], max(2, math.isqrt(REACH // (4 * config.batch * config.d_model**2)))
    return shared(lambda: rows.influence(row, case(config, most, row.crosses), printed))


@data(max_entries=2 * len(ROWS))
def demands(name: str, printed: bool) -> list[Demand]:
    """What a published row accepts."""
    return shared(tried, ROWS[name], printed)


@data(max_entries=64)
def pace(config: Config, name: str, printed: bool) -> Pace:
    """A published row's time beside the reference's, measured once; give `published(config)`."""
    return shared(rows.timed, ROWS[name], config, printed)


@resource(max_entries=16)
def published_cells(config: Config, name: str, printed: bool) -> Cells | None:
    """The squares of a published row, None where it raises; what is not a number is drawn as masked."""
    found = comparison(config, name, printed)
    if found.weights is None:
        return None
    visible = found.visible & ~found.weights.isnan()
    return shared(drawn, found.weights.nan_to_num(0).float(), visible, theme.side(len(found.weights)))
