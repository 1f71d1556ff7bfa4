"""Heads as points (Altair): over two of their numbers, or on a map of how far they are apart; a click on one chooses it.

A point has the colour of its cell in the map of layers. Made without their data, so that they are built once for all settings
that look alike.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import altair as alt

from attention.charts import theme
from attention.charts.layers import CELL
from attention.charts.spec import dataless

HEIGHT = 360  # pixels
FAR = (
    0.3,
    0.45,
    0.6,
    0.8,
    1.0,
)  # square roots of a bit from the middle of a map to its upper end: the first that has room
SIZE, SMALL, MANY = 90, 36, 150  # square pixels of a point, of one of MANY


class Axis(NamedTuple):
    """What an axis or a scale of colours is of, and where it ends; it begins at 0."""

    title: str
    top: float
    digits: int


@lru_cache(maxsize=64)
def numbers(across: Axis, upwards: Axis, color: Axis, heads: int) -> dict[str, Any]:
    """So many points over the columns layer, head, x, y, value, does, named, focus, turn of a table.

    `does`: what a head does, in a few words; `named`: what stands beside its point, "" for nothing.
    """
    x, y = (_by_number(name, axis) for name, axis in (("x", across), ("y", upwards)))
    tips = [alt.Tooltip(f"{name}:Q", title=axis.title, format=f".{axis.digits + 1}f") for name, axis in
            (("x", across), ("y", upwards))]  # fmt: skip
    return _drawn(alt.X(**x), alt.Y(**y), color, tips, heads)


@lru_cache(maxsize=64)
def places(color: Axis, heads: int, far: float) -> dict[str, Any]:
    """The same on a map, `x` and `y` in square roots of bits, `far` from its middle to its upper end.

    As far is as long both ways, whatever its width.
    """
    sides = alt.ExprRef(f"-{far} * width / {HEIGHT}"), alt.ExprRef(f"{far} * width / {HEIGHT}")
    bare = alt.Axis(labels=False, ticks=False, grid=False, domain=False, title=None)
    x = alt.X("x:Q", axis=bare, scale=alt.Scale(domain=list(sides), nice=False, zero=False))
    y = alt.Y("y:Q", axis=bare, scale=alt.Scale(domain=[-far, far], nice=False, zero=False))
    return _drawn(x, y, color, [], heads)


def end(most: float) -> float:
    """How far a map reaches whose farthest head is so far from its middle, on either axis."""
    return next((far for far in FAR if most <= 0.9 * far), max(FAR[-1], most))


def _by_number(name: str, axis: Axis) -> dict[str, Any]:
    scale = alt.Scale(domain=[0, axis.top], nice=False, clamp=True)
    ticks = alt.Axis(tickCount=5, labelFlush=name == "x")  # the last one would be cut on a phone
    return {"shorthand": f"{name}:Q", "title": f"{axis.title} →", "scale": scale, "axis": ticks}


def _drawn(x: alt.X, y: alt.Y, color: Axis, tips: list[alt.Tooltip], heads: int) -> dict[str, Any]:
    """The points, the ring of the one in focus, and the names beside some."""
    chosen = alt.selection_point(name=CELL, fields=["layer", "head", "turn"], on="click", clear=False, toggle=False)
    scale = alt.Scale(domain=[0, color.top], range=list(theme.NUMBERS), clamp=True)
    told = [alt.Tooltip("layer:O"), alt.Tooltip("head:O"), alt.Tooltip("does:N", title="what it does"), *tips]
    told.append(alt.Tooltip("value:Q", title=color.title, format=f".{color.digits + 1}f"))
    size = SMALL if heads > MANY else SIZE
    points = (
        alt.Chart(name="points")
        .mark_circle(size=size, opacity=1, cursor="pointer", stroke=theme.HIDDEN, strokeWidth=1)
        .encode(x=x, y=y, color=alt.Color("value:Q", scale=scale, legend=_bar(color)), tooltip=told)
        .add_params(chosen)
    )
    ring = (
        alt.Chart()
        .transform_filter("datum.focus")
        .mark_point(size=3 * size, fill=None, stroke=theme.QUERY, strokeWidth=3, opacity=1, aria=False)
        .encode(x=x, y=y)
    )
    names = (
        alt.Chart()
        .transform_filter("datum.named != ''")
        .mark_text(dx=9, dy=-8, fontSize=11, align="left", color="currentColor", aria=False)
        .encode(x=x, y=y, text="named:N")
    )
    chart = alt.layer(points, ring, names).properties(height=HEIGHT)
    return dataless(chart) | {"autosize": {"type": "fit-x", "contains": "padding"}}


def _bar(color: Axis) -> alt.Legend:
    return alt.Legend(title=color.title, orient="top", gradientLength=140, gradientThickness=10, tickCount=3)
