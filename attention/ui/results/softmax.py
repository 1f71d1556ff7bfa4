"""Results of the Softmax page."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from attention.analysis import number_types, scaling
from attention.analysis.distribution import Distribution
from attention.analysis.distribution import distribution as counted
from attention.analysis.number_types import Rounded
from attention.config import Config
from attention.runtime.executors import Task
from attention.ui.results.heads import after_trace
from attention.ui.results.shared import FORWARD, RESULTS, wait_with_spinner


@RESULTS
def distribution(config: Config) -> Task[Distribution]:
    """The histogram of all weights of every head."""
    return after_trace(config, lambda found: counted(found.weights, found.mask))


def sweep(keys: int) -> list[tuple[scaling.Point, scaling.Point]]:
    """For every width, a point without scaling and one divided by the square root of the width, for this many keys."""
    return [
        wait_with_spinner(_width.begin(keys, width), f"Sampling queries and keys of {width} …")
        for width in scaling.WIDTHS
    ]


@RESULTS
def _width(keys: int, width: int) -> Task[tuple[scaling.Point, scaling.Point]]:
    return FORWARD.submit(scaling.sweep, keys, width)


@RESULTS
def _dots(keys: int, d_head: int) -> Task[Tensor]:
    return FORWARD.submit(scaling.dots, keys, d_head)


@RESULTS
def scaling_point(keys: int, d_head: int, scale: float) -> Task[scaling.Point]:
    """One width under one scale, temperature included."""
    return FORWARD.then(_dots.begin(keys, d_head), lambda dots: scaling.point(dots, d_head, scale))


def number_types_of(config: Config, head: int) -> list[Rounded]:
    """A head in every number type, compared with float64."""
    return wait_with_spinner(_compare_types.begin(config, head), "Computing the head in every number type …")


@RESULTS
def _compare_types(config: Config, head: int) -> Task[list[Rounded]]:
    return after_trace(
        config, lambda found: number_types.compare_number_types(replace(found, config=replace(config, head=head)))
    )
