"""The row in focus: weight by key (Altair).

The chart is made without its data, so that it is built once for all rows that look alike; building takes longer than
computing the row.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import altair as alt

from attention.charts import theme
from attention.charts.spec import DATA, dataless
from attention.number_format import weight_text

LABELLED = 48  # keys up to which a bar carries its token


@lru_cache(maxsize=64)
def weights(labels: tuple[str, ...], keys: int, colors: str = "linear", seeing: int = 0) -> dict[str, Any]:
    """Bars over the columns key, token, weight of a table, as a Vega-Lite specification; one bar a key.

    The axis is that of `scale`, of a query that sees so many keys; "times even" has a line at the even share.
    """
    few, base = keys <= LABELLED, bottom(colors, keys, seeing)
    bars = (
        alt.Chart()
        .transform_filter("datum.visible")
        .transform_calculate(base=f"{base}", top=f"max({base}, datum.weight)", told=weight_text("weight"))
        .mark_bar(color=theme.QUERY, **({} if few else {"width": max(1, 800 // keys)}))  # pyright: ignore[reportArgumentType]  one option, a width
        .encode(
            x=_by_token(labels, keys) if few else _by_position(keys),
            y=axis("top", "weight", colors, keys, seeing),
            y2="base:Q",
            tooltip=[alt.Tooltip("key:Q"), alt.Tooltip("token:N"), alt.Tooltip("told:N", title="weight")],
        )
    )
    line = even_share(colors, seeing)
    chart = alt.layer(bars, *line) if line else bars
    return dataless(chart.properties(height=theme.ROW_HEIGHT))


def _by_token(labels: tuple[str, ...], keys: int) -> alt.X:
    axis = alt.Axis(labelAngle=-45, labelLimit=70, labelExpr=names(labels)) if labels else alt.Axis(labelAngle=0)
    return alt.X("key:O", title="key →", axis=axis, scale=alt.Scale(domain=list(range(keys))))


def _by_position(keys: int) -> alt.X:
    return alt.X("key:Q", title="key →", scale=alt.Scale(domain=[-0.5, keys - 0.5], nice=False))


def axis(field: str, weight: str, colors: str, keys: int, seeing: int = 0, title: str = "weight", **more: Any) -> alt.Y:
    """An axis of weights, on the `scale` of the column `weight`; under "times even" it says how many times that."""
    scaled = scale(weight, colors, keys, seeing)
    if colors != "times even":
        return alt.Y(f"{field}:Q", title=title, scale=scaled, axis=alt.Axis(tickCount=3, **more))
    even = 1 / max(1, seeing)
    marks = [10.0**power * even for power in range(-2, 3) if 10.0**power * even <= 1]
    named = f"['1/100', '1/10', 'even', '10', '100'][round(log(datum.value / {even}) / LN10) + 2]"
    ticks = alt.Axis(values=marks, labelExpr=named, labelOverlap=False, **more)
    return alt.Y(f"{field}:Q", title="× even" if title == "weight" else title, scale=scaled, axis=ticks)


def scale(field: str, colors: str, keys: int, seeing: int = 0) -> alt.Scale:
    """The scale of an axis of weights, after that of the colours.

    Fixed at 0 to 1; "log" begins at 1e-4, or at a tenth of the even share of `keys` where that is less; "times even" goes
    from a hundredth of the even share of a query that sees so many keys to a hundred times that, or to the greatest
    weight where that is more; "own maximum" ends at the greatest weight.
    """
    low = bottom(colors, keys, seeing)
    if colors == "times even":
        top = alt.ExprRef(f"max({min(1, theme.TIMES / max(1, seeing))}, {_greatest(field)} || 0)")
        return alt.Scale(type="log", domain=[low, top], clamp=True, nice=False)
    if colors == "log":
        return alt.Scale(type="log", domain=[low, 1], clamp=True)
    return alt.Scale(domain=[0, own_end(field) if colors == "own maximum" else 1], nice=False)


def bottom(colors: str, keys: int, seeing: int = 0) -> float:
    """Where the bars of such a scale begin."""
    if colors == "times even":
        return 1 / (theme.TIMES * max(1, seeing))
    return min(theme.LOG_FLOOR, 1 / (10 * keys)) if colors == "log" else 0


def even_share(colors: str, seeing: int) -> list[alt.Chart]:
    """A line at the even share of a query that sees so many keys, where that has a place; one, whatever the data."""
    if colors != "times even":
        return []
    line = alt.Chart().transform_aggregate(rows="count()").mark_rule(color=theme.HIDDEN, strokeDash=[4, 3], aria=False)
    return [line.encode(y=alt.YDatum(1 / max(1, seeing)))]


def own_end(field: str) -> alt.ExprRef:
    """Where an axis ends at the greatest of a column, 1 where there is none.

    As an expression: a browser draws a chart before its data are there, and an end of its own finding would be infinite.
    """
    return alt.ExprRef(f"{_greatest(field)} || 1")


def _greatest(field: str) -> str:
    return f"extent(pluck(data('{DATA}'), '{field}'))[1]"


def names(labels: tuple[str, ...]) -> str:
    """Tokens by position as a Vega expression: every token is a quoted literal, whatever it says."""
    quoted = ", ".join("'" + label.replace("\\", "\\\\").replace("'", "\\'") + "'" for label in labels)
    return f"[{quoted}][datum.value]"
