"""Training curves (Altair): loss and accuracy over the steps, and a statistic of every head; a rule at the selected step.

Charts are built without data; from the first step on, the axes are those of the whole training, so that curves grow into
them. Only the axis of the loss adapts, in few large steps, because the largest loss is not known in advance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from typing import Any

import altair as alt

from attention.charts import theme
from attention.charts.spec import dataless
from attention.number_format import MEAN, PERCENT, format_head

NOW, EARLIER = "now", "earlier"  # the series of the selected step, and of a statistic that has to grow first
HEIGHT, LOW = 180, 70
SHARES = [0, 0.25, 0.5, 0.75, 1]  # ticks of an axis in percent
PADDING = {"left": 5, "top": 5, "right": 12, "bottom": 5}
ROOM = 0.2  # of the steps: room to the right of the curves for their names
LINE = 13  # pixels between the names of two curves
NAMED, HIGH = 7, 0.2  # most heads with a name at their curve, and the value from which one may have it
DASHES = [[1, 0], [5, 3], [2, 2]]  # dashes of the layers
ACCURACY, LOSS, HIGHEST = "accuracy", "loss (nats)", "highest head"
CURVES = {ACCURACY: theme.DIVIDED, LOSS: theme.RAW, HIGHEST: theme.HEADS[0]}
EVEN = 5  # nats up to which the axis of the loss is linear
ROUND = [
    0,
    1,
    2,
    *(first * 10**power for power, first in product(range(39), (5, 10, 20))),
]  # losses with ticks, up to the largest float32


def ceiling(loss: float) -> float:
    """Returns the end of the loss axis for a loss: the next of a few marks, so that it rarely changes."""
    return next((mark for mark in ROUND[3:] if mark >= loss), math.inf)


def _curves() -> alt.Chart:
    """Returns a line chart to be filtered by series."""
    return alt.Chart().mark_line(strokeWidth=2, clip=True)


@lru_cache(maxsize=64)
def accuracy(steps: int) -> dict[str, Any]:
    """Returns the accuracy over the columns series, step, value of a table."""
    axis = alt.Axis(values=SHARES, format="%")
    return _progress(ACCURACY, steps, PERCENT, scale=alt.Scale(domain=[0, 1]), axis=axis)


@lru_cache(maxsize=64)
def highest(steps: int) -> dict[str, Any]:
    """Returns the highest share of a head, in a low chart, over the columns series, step, value of a table."""
    axis = alt.Axis(values=SHARES[::2], format="%")
    return _progress(HIGHEST, steps, PERCENT, scale=alt.Scale(domain=[0, 1]), axis=axis) | {"height": LOW}


@lru_cache(maxsize=64)
def loss(steps: int, most: float) -> dict[str, Any]:
    """Returns the loss, up to a `ceiling`, over the columns series, step, value of a table.

    Its axis is linear for good trainings, and for diverged ones symlog, nearly linear up to one nat and logarithmic above.
    """
    marks = [mark for mark in ROUND if mark <= most] if most > EVEN else list(range(EVEN + 1))
    scale = alt.Scale(domain=[0, most], nice=False)
    if most > EVEN:
        scale = alt.Scale(type="symlog", constant=1, domain=[0, most], nice=False)
    return _progress(
        LOSS, steps, MEAN, scale=scale, axis=alt.Axis(values=marks[:: math.ceil(len(marks) / 7)], format="~s")
    )


def _progress(name: str, steps: int, places: str, **axis: Any) -> dict[str, Any]:
    """Returns the curve of one series of a table."""
    line = (
        _curves()
        .transform_filter(f"datum.series == '{name}'")
        .encode(
            x=_steps(steps),
            y=alt.Y("value:Q", title=name, **axis),
            color=alt.value(CURVES[name]),
            tooltip=[alt.Tooltip("step:Q"), alt.Tooltip("value:Q", title=name, format=places)],
        )
    )
    return _curve_layers([line], steps)


@lru_cache(maxsize=64)
def heads(
    layers: int, per: int, steps: int, label: str, earlier: str = "", domain: tuple[float, float] = (0.0, 1.0)
) -> dict[str, Any]:
    """Returns a statistic of every head over the columns series, layer, step, value, name, place of a table.

    `series`: the head; `name`: what is written at the end of its curve, with the names of those that end beside it, at the
    height `place`; "" for nothing (`place_names`).
    `earlier`: the name of a statistic that has to grow first, in the series EARLIER; a broad grey line behind the others.
    `domain`: the ends of the axis, below 0 or above 1 if weights are.
    """
    names = [format_head(head, layer) for layer in range(layers) for head in range(per)]
    colors = theme.head_colors(len(names))
    color = alt.Color("series:N", legend=None, scale=alt.Scale(domain=names, range=colors))
    axis = alt.Axis(values=SHARES, format="%") if domain == (0.0, 1.0) else alt.Axis(tickCount=4, format="%")
    y = alt.Y("value:Q", title=label, scale=alt.Scale(domain=list(domain)), axis=axis)
    lines = (
        _curves()
        .transform_filter(f"datum.series != '{NOW}' && datum.series != '{EARLIER}'")
        .encode(
            x=_steps(steps, ROOM),
            y=y,
            color=color,
            strokeDash=alt.StrokeDash(
                "layer:O", legend=None, scale=alt.Scale(domain=list(range(layers)), range=DASHES[:layers])
            ),
            tooltip=[
                alt.Tooltip("series:N", title="head"),
                alt.Tooltip("step:Q"),
                alt.Tooltip("value:Q", title=label, format=PERCENT),
            ],
        )
    )
    ends = (
        alt.Chart()
        .transform_filter("datum.name != ''")
        .mark_text(align="left", dx=5, fontSize=11, fontWeight="bold", aria=False)
        .encode(x=_steps(steps, ROOM), y=alt.Y("place:Q", title=label), text="name:N", color=alt.value("currentColor"))
    )
    if not earlier:
        return _curve_layers([lines, ends], steps, ROOM)
    first = (
        alt.Chart()
        .transform_filter(f"datum.series == '{EARLIER}'")
        .mark_line(strokeWidth=5, opacity=0.5, color=theme.HIDDEN)
        .encode(
            x=_steps(steps, ROOM),
            y=y,
            tooltip=[alt.Tooltip("step:Q"), alt.Tooltip("value:Q", title=earlier, format=PERCENT)],
        )
    )
    return _curve_layers([first, lines, ends], steps, ROOM)


def place_names(ends: Mapping[str, float]) -> dict[tuple[str, ...], float]:
    """Returns the heights of the names at the ends of curves, the highest first; ends on one line are named together.

    Only high curves have names: others would share a place at the bottom.
    """
    gap = LINE / HEIGHT
    high = sorted((name for name in ends if ends[name] >= HIGH), key=lambda name: -ends[name])[:NAMED]
    lines: list[list[str]] = []
    for name in high:
        if lines and ends[lines[-1][0]] - ends[name] < gap:
            lines[-1].append(name)
        else:
            lines.append([name])
    found: dict[tuple[str, ...], float] = {}
    above = 1 + gap / 2
    for line in lines:
        above = found[tuple(line)] = min(ends[line[0]], above - gap)
    return found


def _steps(steps: int, room: float = 0.0) -> alt.X:
    """Returns the axis of steps; `room`: the share of it that is left free on the right."""
    marks = [steps * at / 4 for at in range(5)]
    axis = alt.Axis(values=marks, format=",d", grid=False, labelFlush=True)
    return alt.X("step:Q", title="step", scale=alt.Scale(domain=[0, steps * (1 + room)], nice=False), axis=axis)


def _curve_layers(lines: list[alt.Chart], steps: int, room: float = 0.0) -> dict[str, Any]:
    now = (
        alt.Chart()
        .transform_filter(f"datum.series == '{NOW}'")
        .mark_rule(color=theme.HIDDEN, strokeWidth=2, aria=False)
        .encode(x=_steps(steps, room))
    )
    spec = dataless(alt.layer(now, *lines).properties(height=HEIGHT))
    return spec | {"autosize": {"type": "fit-x", "contains": "padding"}, "padding": PADDING}
