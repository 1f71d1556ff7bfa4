"""The selected row of two sides: the weights of A and B by key, and B minus A (Altair)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import altair as alt

from attention.charts import theme
from attention.charts.row import LABELLED, names
from attention.charts.spec import dataless
from attention.charts.stages import reach
from attention.number_format import share_text, weight_text

HEIGHT, BELOW = 110, 90  # pixels of a chart, and of the labels of its keys
TIP = [
    alt.Tooltip("key:Q"),
    alt.Tooltip("token:N"),
    alt.Tooltip("told_a:N", title="A"),
    alt.Tooltip("told_b:N", title="B"),
    alt.Tooltip("told_change:N", title="B − A"),
]
POINTS = "format(100 * datum.change, '+.3~g') + ' points'"


@lru_cache(maxsize=64)
def both_rows(keys: int, ends: tuple[float, float], shares: bool = False) -> dict[str, Any]:
    """Returns the weights of B as bars and those of A as ticks, over the columns key, token, a, b, change of a table.

    `ends`: those of the axis of weights (see `weight_ends`). `shares`: whether weights are shares of a row, in percent.
    """
    x, width = _keys((), keys, bare=True), _width(keys)
    marks = [
        chart.encode(x=x, y=_weights(field, ends, shares), tooltip=TIP)
        for field, chart in (
            ("b", _base(shares).mark_bar(color=theme.QUERY, opacity=0.55, **width)),
            ("a", _base(shares).mark_tick(color=theme.HIDDEN, thickness=2, **width)),
        )
    ]
    return dataless(alt.layer(*marks).properties(height=HEIGHT))


@lru_cache(maxsize=64)
def change(labels: tuple[str, ...], keys: int, end: float, shares: bool = False) -> dict[str, Any]:
    """Returns B minus A as bars from zero, in the colours of differences, over the same columns.

    `end`: that of the axis on both sides of zero (see `change_end`). `shares`: whether it is in percentage points.
    """
    color = alt.condition("datum.change < 0", alt.value(theme.LESS), alt.value(theme.MORE))
    scale = alt.Scale(domain=[-end, end], nice=False)
    form: dict[str, Any] = {"labelExpr": "format(100 * datum.value, '~g')"} if shares else {"format": "~g"}
    axis = alt.Axis(tickCount=3, minExtent=34, **form)
    y = alt.Y("change:Q", title="B − A, points" if shares else "B − A", scale=scale, axis=axis)
    bars = _base(shares).mark_bar(**_width(keys)).encode(x=_keys(labels, keys), y=y, color=color, tooltip=TIP)
    return dataless(bars.properties(height=HEIGHT + BELOW * (keys <= LABELLED)))


def weight_ends(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """Returns the ends of an axis of the weights of both sides: from zero, or from below it where a weight is negative."""
    least, most = min((*a, *b), default=0.0), max((*a, *b), default=0.0)
    return (-reach(-least) if least < 0 else 0.0), reach(most)


def change_end(changes: Sequence[float]) -> float:
    """Returns the end of an axis of changes, on both sides of zero."""
    return reach(max(map(abs, changes), default=0.0))


def _base(shares: bool) -> alt.Chart:
    told = {f"told_{side}": share_text(side) if shares else weight_text(side) for side in ("a", "b")}
    return alt.Chart().transform_calculate(**told, told_change=POINTS if shares else "format(datum.change, '+.3g')")


def _weights(field: str, ends: tuple[float, float], shares: bool) -> alt.Y:
    scale = alt.Scale(domain=list(ends), nice=False)
    percent: dict[str, Any] = {"format": ".3~%"} if shares else {}
    return alt.Y(f"{field}:Q", title="A (line), B", scale=scale, axis=alt.Axis(tickCount=3, minExtent=34, **percent))


def _width(keys: int) -> dict[str, Any]:
    return {} if keys <= LABELLED else {"width": max(1, 800 // keys)}


def _keys(labels: tuple[str, ...], keys: int, bare: bool = False) -> alt.X:
    """Returns the axis of keys; a `bare` one has no labels, as it is above another one."""
    if keys > LABELLED:
        scale = alt.Scale(domain=[-0.5, keys - 0.5], nice=False)
        return alt.X("key:Q", title=None if bare else "key →", scale=scale, axis=alt.Axis(labels=not bare))
    shown: dict[str, Any] = (
        {"labelAngle": -45, "labelLimit": 70, "labelExpr": names(labels)} if labels else {"labelAngle": 0}
    )
    axis = alt.Axis(labels=False, ticks=False) if bare else alt.Axis(**shown)
    return alt.X("key:O", title=None if bare else "key →", axis=axis, scale=alt.Scale(domain=list(range(keys))))
