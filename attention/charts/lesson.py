"""The chart of a lesson (Altair): lines over a width that doubles."""

from __future__ import annotations

from typing import Any

import altair as alt

from attention.charts import theme
from attention.charts.spec import dataless


def lines(x: str, y: str, series: list[str], widths: list[float]) -> dict[str, Any]:
    """Returns lines over the columns series, x, y of a table, as a Vega-Lite specification; y is fixed at 0 to 1."""
    color = alt.Color("series:N", title=None, scale=alt.Scale(domain=series, range=list(theme.HEADS[: len(series)])))
    chart = (
        alt.Chart()
        .mark_line(point=True)
        .encode(
            x=alt.X(
                "x:Q",
                title=x,
                scale=alt.Scale(type="log", base=2, domain=[widths[0], widths[-1]], nice=False),
                axis=alt.Axis(values=widths, grid=False),
            ),
            y=alt.Y("y:Q", title=y, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=4)),
            color=color.legend(orient="top"),
            tooltip=[alt.Tooltip("series:N"), alt.Tooltip("x:Q"), alt.Tooltip("y:Q", format=".3")],
        )
        .properties(height=theme.LESSON_HEIGHT)
    )
    return dataless(chart)
