"""The trace of a config and what follows from it for every head: what the Heads page shows, and other pages begin with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from attention.analysis.kv_groups import Grouping
from attention.analysis.kv_groups import groupings as every_grouping
from attention.analysis.parity import Parity
from attention.analysis.parity import parity as against_torch
from attention.charts import theme
from attention.config import Config
from attention.config import layers as every_layer
from attention.machine.lanes import Lane, Work
from attention.sources.generated import early
from attention.sources.given import Given
from attention.sources.origins import given
from attention.tables import rows as tables
from attention.trace import Trace, attended, check_size
from attention.trace import trace as passed
from attention.ui.compute.owner import KEPT, LATER, PASSES, PIECES, told
from attention.wire.cells import Cells
from attention.wire.cells import cells as drawn

T = TypeVar("T")


def trace(config: Config) -> Trace:
    """The trace of a config, with its own focus."""
    return replace(_trace(config.tensors), config=config)


def begin(config: Config) -> None:
    """Starts the trace of a config, or of as many of its tokens as are shown."""
    _trace.begin(config.traceable.tensors)


@KEPT
def _trace(config: Config) -> Work[Trace]:
    check_size(config)
    return PASSES.after(_given.begin(early(config)), lambda found: attended(_under(found, config), PIECES))


@KEPT
def _given(config: Config) -> Work[Given]:
    return PASSES.submit(given, config)


def _under(found: Given, config: Config) -> Given:
    """The same queries and keys under the mask and the scale of a config that has both."""
    return replace(found, config=config, rule=config.rule)


def traced(config: Config, call: Callable[[Trace], T], lane: Lane = PASSES) -> Work[T]:
    """Work that begins with the trace of a config; give `config.tensors`."""
    return lane.after(_trace.begin(config), call)


@KEPT
def parity(config: Config) -> Work[Parity]:
    """The pass of a config against PyTorch's own; give `config.tensors`."""
    return traced(config, against_torch, LATER)


@KEPT
def cells(config: Config) -> Work[Cells]:
    """What the squares of all heads show; give `config.tensors`."""
    side = theme.side(config.heads)
    return traced(config, lambda found: drawn(found.weights, found.mask, side, PIECES))


@KEPT
def numbers(config: Config) -> Work[dict[str, list[float]]]:
    """The profile of every head as columns; give `config.tensors`."""
    return traced(config, _numbers, LATER)


def layers(config: Config) -> dict[int, dict[str, list[float]]]:
    """The same of each layer of its source, by the layer's number."""
    works = {layer: _layer.begin(replace(config.tensors, layer=layer)) for layer in every_layer(config.source)}
    return {layer: told(work, "Computing the other layers …") for layer, work in works.items()}


@KEPT
def _layer(config: Config) -> Work[dict[str, list[float]]]:
    """Of one layer that nobody has asked to see: its trace is made here, after what others wait for, and not kept."""
    return LATER.submit(lambda: _numbers(passed(config)))


def _numbers(found: Trace) -> dict[str, list[float]]:
    return tables.numbers(found.weights, found.mask)


@KEPT
def groupings(config: Config) -> Work[list[Grouping]]:
    """Every grouping of keys and values against none; give `config.tensors`."""
    return LATER.submit(every_grouping, config)
