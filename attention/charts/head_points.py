"""Heads as points (Altair): over two of their statistics, or on a map of their distances; a click selects a head.

On the map of distances a point has the colour of its cell in the map of layers, over two statistics that of its layer.
The charts are built without data, once for all settings that give the same chart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from math import pi, sqrt
from typing import Any, NamedTuple

import altair as alt

from attention.charts import theme
from attention.charts.layers import CELL, KEY, PERCENT_KEY
from attention.charts.spec import color_key, dataless
from attention.number_format import MEAN, PERCENT

HEIGHT = 360  # pixels
MARGIN, NAME = 0.06, 0.14  # of the range of the data: on both sides, and at the right for a name
WIDTHS = (250, 350, 500, 700, 1000)  # widths of a chart in pixels for which the names that fit are computed
NEVER = 10**6
LETTER, LINE, ASIDE = 6, 11, 11  # pixels of a name: width of a letter, height, and offset from its point
FAR = (
    0.3,
    0.45,
    0.6,
    0.8,
    1.0,
)  # square roots of a bit from the middle of a map to its upper end: the first that fits is used
SIZE, SMALL, MANY = 90, 36, 150  # square pixels of a point, and of one of more than MANY
RADIUS = sqrt(SIZE / pi)  # pixels
COLOUR = "colour: {statistic}"  # above its key
SHARE = "~%"  # format of percentages at an axis: as many decimals as its ticks need


Point = tuple[float, float]
Box = tuple[float, float, float, float]


class Axis(NamedTuple):
    """The title and the ends of an axis or a colour scale, and whether its values are shares, written in percent.

    `key`: the values in the key to colours; if there are none, the ends and the middle. `apart`: these are all values, and
    each has a hue of its own.
    """

    title: str
    top: float
    low: float = 0.0
    percent: bool = False
    key: tuple[float, ...] = ()
    apart: bool = False

    def tooltip(self, column: str) -> alt.Tooltip:
        """Returns the line of a tooltip with the value of a column."""
        return alt.Tooltip(f"{column}:Q", title=self.title, format=PERCENT if self.percent else MEAN)

    def place(self, value: float) -> float:
        """Where a value is on the axis, from 0 to 1."""
        return min(1.0, max(0.0, (value - self.low) / (self.top - self.low)))


def data_axis(title: str, values: Iterable[float], after: float = MARGIN, percent: bool = False) -> Axis:
    """Returns an axis with limits from the data, and a margin on both sides, so that no point is cut: `after` it and `MARGIN`.

    Beyond 0, and beyond 1 of shares, it is `MARGIN` at most.
    """
    every = [*values]
    low, top = min(every), max(every)
    extent = (top - low) or abs(top) or 1.0
    margin = MARGIN * extent
    end = top + after * extent
    return Axis(
        title,
        min(end, max(top, 1.0) + margin) if percent else end,
        low - margin,
        percent,
    )


class Beside(NamedTuple):
    """The chart width from which a name is shown, and whether it is placed to the left of its point."""

    room: int
    left: bool


@lru_cache(maxsize=64)
def numbers(across: Axis, upwards: Axis, color: Axis, heads: int, changed: bool = False) -> dict[str, Any]:
    """Returns `heads` points over the columns layer, head, x, y, value, does, named, left, room, focus, turn of a table.

    `does`: the role of a head in a few words; `named`: the name next to its point, "" for none; `left`: whether it is on
    the left; `room`: the chart width from which it overlaps nothing. The last two are results of `beside`. `changed`: a line
    leads to each point from where it was, the columns `x_before` and `y_before`.
    """
    x, y = (_by_number(name, axis) for name, axis in (("x", across), ("y", upwards)))
    tips = [across.tooltip("x"), upwards.tooltip("y")]
    return _point_layers(alt.X(**x), alt.Y(**y), color, tips, heads, changed)


@lru_cache(maxsize=64)
def places(color: Axis, heads: int, far: float) -> dict[str, Any]:
    """Returns the same points on a map, `x` and `y` in square roots of bits, `far` from its middle to its upper end.

    Both axes have the same scale at any width.
    """
    sides = alt.ExprRef(f"-{far} * width / {HEIGHT}"), alt.ExprRef(f"{far} * width / {HEIGHT}")
    bare = alt.Axis(labels=False, ticks=False, grid=False, domain=False, title=None)
    x = alt.X("x:Q", axis=bare, scale=alt.Scale(domain=list(sides), nice=False, zero=False))
    y = alt.Y("y:Q", axis=bare, scale=alt.Scale(domain=[-far, far], nice=False, zero=False))
    return _point_layers(x, y, color, [], heads)


def beside(names: Sequence[str], first: Sequence[int], places: Callable[[int], Sequence[Point]]) -> list[Beside]:
    """Returns the side of each name, and the chart width from which it overlaps no point and no name placed before it.

    `places`: returns the points in a chart of a given width, in pixels from its upper left corner. Those of `first` are placed
    first, in their order, then all others: a name on another point would seem to be the name of that one. The very first is shown
    in any case: it is the selected head, which has a ring. A name that would be
    cut off on a phone is placed to the left of its point, as is one that covers a point only on the right.
    """
    edge, usual = places(WIDTHS[1]), places(WIDTHS[2])
    left = [
        edge[at][0] + ASIDE + LETTER * len(name) > WIDTHS[1]
        or (
            _covers(name, usual, at, False)
            and not _covers(name, usual, at, True)
            and edge[at][0] > LETTER * len(name) + ASIDE
        )
        for at, name in enumerate(names)
    ]
    return [Beside(room, side) for room, side in zip(_rooms(names, first, places, left), left, strict=True)]


def _rooms(
    names: Sequence[str], first: Sequence[int], places: Callable[[int], Sequence[Point]], left: Sequence[bool]
) -> list[int]:
    found, rest = [NEVER] * len(names), set(range(len(names))) - {*first}
    named = [at for at in (*first, *sorted(rest)) if names[at]]
    for width in reversed(WIDTHS):
        points = places(width)
        taken: list[Box] = []
        for at in named:
            box = _box(names[at], points[at], left[at])
            if at in first[:1] or not (
                _covers(names[at], points, at, left[at]) or any(_over(box, other) for other in taken)
            ):
                taken.append(box)
                found[at] = width
        named = [at for at in named if found[at] == width]
    return found


def _covers(name: str, points: Sequence[Point], at: int, left: bool) -> bool:
    """Whether a name on this side of its point overlaps another point."""
    low, top, high, bottom = _box(name, points[at], left)
    return any(
        low - RADIUS < x < high + RADIUS and top - RADIUS < y < bottom + RADIUS
        for other, (x, y) in enumerate(points)
        if other != at
    )


def _box(name: str, point: Point, left: bool) -> Box:
    """Returns left, top, right and bottom of a name next to its point."""
    wide, y = LETTER * len(name), point[1]
    x = point[0] - ASIDE - wide if left else point[0] + ASIDE
    return x, y - LINE / 2, x + wide, y + LINE / 2


def _over(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def end(most: float) -> float:
    """Returns the end of a map's axes, given the distance `most` of the farthest head from the middle on either axis."""
    return next((far for far in FAR if most <= 0.9 * far), max(FAR[-1], most))


def _by_number(name: str, axis: Axis) -> dict[str, Any]:
    scale = alt.Scale(domain=[axis.low, axis.top], nice=False, clamp=True, zero=False)
    form: dict[str, Any] = {"format": SHARE} if axis.percent else {}
    ticks = alt.Axis(
        tickCount=5, labelFlush=name == "x", labelFlushOffset=-4, **form
    )  # the last one would be cut on a phone
    return {"shorthand": f"{name}:Q", "title": f"{axis.title} →", "scale": scale, "axis": ticks}


def _point_layers(
    x: alt.X, y: alt.Y, color: Axis, tips: list[alt.Tooltip], heads: int, changed: bool = False
) -> dict[str, Any]:
    """Returns the points, a ring around the selected one, and the names next to some."""
    chosen = alt.selection_point(name=CELL, fields=["layer", "head", "turn"], on="click", clear=False, toggle=False)
    ends = [color.low, (color.low + color.top) / 2, color.top]
    if color.apart:
        scale = alt.Scale(domain=list(color.key), range=list(theme.HEADS[: len(color.key)]))
    else:
        scale = alt.Scale(domain=ends, range=list(theme.NUMBERS), clamp=True)
    told = [alt.Tooltip("layer:O"), alt.Tooltip("head:O"), alt.Tooltip("does:N", title="role"), *tips]
    told += [] if color.key else [color.tooltip("value")]  # those with a key of their own are layers
    key = color_key(
        COLOUR.format(statistic=color.title.lower()),
        "top",
        PERCENT_KEY if color.percent else KEY,
        [*(color.key or ends)],
    )
    size = SMALL if heads > MANY else SIZE
    points = (
        alt.Chart(name="points")
        .mark_circle(size=size, opacity=1, cursor="pointer", stroke=theme.HIDDEN, strokeWidth=1)
        .encode(
            x=x, y=y, color=alt.Color("value:O" if color.apart else "value:Q", scale=scale, legend=key), tooltip=told
        )
        .add_params(chosen)
    )
    ring = (
        alt.Chart()
        .transform_filter("datum.focus")
        .mark_point(size=3 * size, fill=None, stroke=theme.QUERY, strokeWidth=3, opacity=1, aria=False)
        .encode(x=x, y=y)
    )
    names = [
        alt.Chart()
        .transform_filter(f"datum.named != '' && {'' if left else '!'}datum.left")
        .mark_text(dx=dx, baseline="middle", fontSize=11, align=align, color="currentColor", aria=False)  # pyright: ignore[reportArgumentType]  left or right
        .encode(x=x, y=y, text="named:N", opacity=alt.condition("datum.room <= width", alt.value(1), alt.value(0)))
        for left, dx, align in ((False, ASIDE, "left"), (True, -ASIDE, "right"))
    ]
    paths = (
        alt.Chart()
        .mark_rule(color=theme.HIDDEN, strokeWidth=1.5, aria=False)
        .encode(x=x, y=y, x2="x_before:Q", y2="y_before:Q")
    )
    starts = (
        alt.Chart()
        .mark_point(size=size / 2, shape="square", stroke=theme.HIDDEN, fill=None, opacity=1, aria=False)
        .encode(x="x_before:Q", y="y_before:Q")
    )
    chart = alt.layer(*([paths, starts] if changed else []), points, ring, *names).properties(height=HEIGHT)
    return dataless(chart) | {"autosize": {"type": "fit-x", "contains": "padding"}}
