"""What the Softmax page asks."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from attention.analysis import number_types, scaling
from attention.analysis.distribution import Distribution
from attention.analysis.distribution import distribution as counted
from attention.analysis.number_types import Rounded
from attention.config import Config
from attention.machine.lanes import Work
from attention.ui.compute.heads import traced
from attention.ui.compute.owner import KEPT, PASSES, told


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
