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

LABELLED = 48  # keys up to which a bar carries its token


@lru_cache(maxsize=64)
def weights(labels: tuple[str, ...], keys: int, colors: str = "linear") -> dict[str, Any]:
    """Bars over the columns key, token, weight of a table, as a Vega-Lite specification; one bar a key.

    The axis is fixed at 0 to 1 (log: 1e-4 to 1); "own maximum" ends at the greatest weight of the row.
    """
    few = keys <= LABELLED
    base = theme.LOG_FLOOR if colors == "log" else 0
    chart = (
        alt.Chart()
        .transform_filter("datum.visible")
        .transform_calculate(base=f"{base}", top=f"max({base}, datum.weight)")
        .mark_bar(color=theme.QUERY, **({} if few else {"width": max(1, 800 // keys)}))  # pyright: ignore[reportArgumentType]  one option, a width
        .encode(
            x=_by_token(labels, keys) if few else _by_position(keys),
            y=alt.Y("top:Q", title="weight", scale=_scale(colors), axis=alt.Axis(tickCount=3)),
            y2="base:Q",
            tooltip=[alt.Tooltip("key:Q"), alt.Tooltip("token:N"), alt.Tooltip("weight:Q", format=".3")],
        )
        .properties(height=theme.ROW_HEIGHT)
    )
    return dataless(chart)


def _by_token(labels: tuple[str, ...], keys: int) -> alt.X:
    axis = alt.Axis(labelAngle=-45, labelLimit=70, labelExpr=names(labels)) if labels else alt.Axis(labelAngle=0)
    return alt.X("key:O", title="key →", axis=axis, scale=alt.Scale(domain=list(range(keys))))


def _by_position(keys: int) -> alt.X:
    return alt.X("key:Q", title="key →", scale=alt.Scale(domain=[-0.5, keys - 0.5], nice=False))


def _scale(colors: str) -> alt.Scale:
    if colors == "log":
        return alt.Scale(type="log", domain=[theme.LOG_FLOOR, 1])
    return alt.Scale(domain=[0, own_end("weight")]) if colors == "own maximum" else alt.Scale(domain=[0, 1])


def own_end(field: str) -> alt.ExprRef:
    """Where an axis ends at the greatest of a column, 1 where there is none.

    As an expression: a browser draws a chart before its data are there, and an end of its own finding would be infinite.
    """
    return alt.ExprRef(f"extent(pluck(data('{DATA}'), '{field}'))[1] || 1")


def names(labels: tuple[str, ...]) -> str:
    """Tokens by position as a Vega expression: every token is a quoted literal, whatever it says."""
    quoted = ", ".join("'" + label.replace("\\", "\\\\").replace("'", "\\'") + "'" for label in labels)
    return f"[{quoted}][datum.value]"
