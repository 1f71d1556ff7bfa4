"""The selected row: weight by key (Altair).

The chart is built without data, once for all rows that give the same chart; building takes longer than computing a row.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import altair as alt

from attention.charts import theme
from attention.charts.spec import DATA, dataless
from attention.number_format import weight_text

SIGNED = "signed"  # the scale of weights of both signs: linear, as far on both sides as the largest of them
LABELLED = 48  # maximum number of keys for which bars are labelled with tokens


@lru_cache(maxsize=64)
def weights(
    labels: tuple[str, ...], keys: int, colors: str = "linear", seeing: int = 0, shares: bool = False
) -> dict[str, Any]:
    """Returns bars over the columns key, token, weight of a table, one per key, as a Vega-Lite specification.

    The axis is that of `scale` for a query with `seeing` visible keys; "times even" has a line at the uniform weight. `shares`:
    whether the row is a distribution, whose axis is in percent.
    """
    percent = {"format": ".3~%"} if shares and colors not in ("times even", SIGNED) else {}
    few, base = keys <= LABELLED, bottom(colors, keys, seeing)
    bars = (
        alt.Chart()
        .transform_filter("datum.visible")
        .transform_calculate(
            base=f"{base}",
            top="datum.weight" if colors == SIGNED else f"max({base}, datum.weight)",
            told=weight_text("weight"),
        )
        .mark_bar(color=theme.QUERY, **({} if few else {"width": max(1, 800 // keys)}))  # pyright: ignore[reportArgumentType]  one option, a width
        .encode(
            x=_by_token(labels, keys) if few else _by_position(keys),
            y=axis("top", "weight", colors, keys, seeing, **percent),
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
    """Returns an axis of weights with the `scale` of the column `weight`; "times even" has multiples of the uniform weight."""
    scaled = scale(weight, colors, keys, seeing)
    if colors != "times even":
        return alt.Y(f"{field}:Q", title=title, scale=scaled, axis=alt.Axis(tickCount=3, **more))
    even = 1 / max(1, seeing)
    marks = [10.0**power * even for power in range(-2, 3) if 10.0**power * even <= 1]
    named = f"['1/100', '1/10', '1', '10', '100'][round(log(datum.value / {even}) / LN10) + 2]"
    ticks = alt.Axis(values=marks, labelExpr=named, labelOverlap=False, **more)
    return alt.Y(f"{field}:Q", title="× uniform" if title == "weight" else title, scale=scaled, axis=ticks)


def scale(field: str, colors: str, keys: int, seeing: int = 0) -> alt.Scale:
    """Returns the scale of an axis of weights that matches the colour scale.

    It is fixed at 0 to 1; "log" begins at 1e-4, or at a tenth of the uniform weight of `keys` keys if that is less; "times
    even" goes from 1/100 of the uniform weight of `seeing` visible keys to 100 times that, or to the largest weight if that
    is more; "own maximum" ends at the largest weight, "signed" on both sides at the size of the largest.
    """
    low = bottom(colors, keys, seeing)
    if colors == "times even":
        top = alt.ExprRef(f"max({min(1, theme.TIMES / max(1, seeing))}, {_greatest(field)} || 0)")
        return alt.Scale(type="log", domain=[low, top], clamp=True, nice=False)
    if colors == "log":
        return alt.Scale(type="log", domain=[low, 1], clamp=True)
    if colors == SIGNED:
        end = f"(max(abs({_greatest(field)}), abs({_greatest(field, 0)})) || 1)"
        return alt.Scale(domain=[alt.ExprRef(f"-{end}"), alt.ExprRef(end)], nice=False)
    return alt.Scale(domain=[0, own_end(field) if colors == "own maximum" else 1], nice=False)


def bottom(colors: str, keys: int, seeing: int = 0) -> float:
    """Returns the lower end of the bars on such a scale."""
    if colors == "times even":
        return 1 / (theme.TIMES * max(1, seeing))
    return min(theme.LOG_FLOOR, 1 / (10 * keys)) if colors == "log" else 0


def even_share(colors: str, seeing: int) -> list[alt.Chart]:
    """Returns a line at the uniform weight of `seeing` visible keys for "times even", none for other scales.

    The data is aggregated to one row, so that a single line is drawn.
    """
    if colors != "times even":
        return []
    line = alt.Chart().transform_aggregate(rows="count()").mark_rule(color=theme.HIDDEN, strokeDash=[4, 3], aria=False)
    return [line.encode(y=alt.YDatum(1 / max(1, seeing)))]


def own_end(field: str) -> alt.ExprRef:
    """Returns the end of an axis at the largest value of a column, 1 if there is none.

    It is an expression, because a browser draws a chart before its data arrive, and an automatic end would be infinite.
    """
    return alt.ExprRef(f"{_greatest(field)} || 1")


def _greatest(field: str, end: int = 1) -> str:
    """Returns the largest value of a column, or the smallest for an `end` of 0, as an expression."""
    return f"extent(pluck(data('{DATA}'), '{field}'))[{end}]"


def names(labels: tuple[str, ...]) -> str:
    """Returns tokens by position as a Vega expression, with every token as a quoted literal."""
    quoted = ", ".join("'" + label.replace("\\", "\\\\").replace("'", "\\'") + "'" for label in labels)
    return f"[{quoted}][datum.value]"
