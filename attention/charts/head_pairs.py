"""What the absence of heads costs, alone (on the diagonal) and in pairs (Altair): the sign as a colour."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import altair as alt

from attention.charts import theme
from attention.charts.spec import dataless
from attention.number_format import MEAN

ROW = 30  # pixels


@lru_cache(maxsize=16)
def costs(rows: tuple[str, ...], columns: tuple[str, ...], across: str, label: str) -> dict[str, Any]:
    """Returns cells over the columns row, column, value, share, said of a table, as a Vega-Lite specification.

    Values below zero are orange, those above green, stronger for a larger `share`, from 0 to 1. `said` names the cell.
    """
    x = alt.X("column:N", title=across, axis=alt.Axis(labelAngle=0), scale=alt.Scale(domain=list(columns)))
    y = alt.Y("row:N", title=None, scale=alt.Scale(domain=list(rows)))
    strength = alt.FillOpacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0, theme.STRONGEST]), legend=None)
    color = alt.condition("datum.value < 0", alt.value(theme.LESS), alt.value(theme.MORE))
    tips = [alt.Tooltip("said:N", title="off"), alt.Tooltip("value:Q", title=label, format=MEAN)]
    cells = (
        alt.Chart()
        .mark_rect(stroke=theme.HIDDEN, strokeOpacity=0.35)
        .encode(x=x, y=y, color=color, fillOpacity=strength, tooltip=tips)
    )
    numbers = (
        alt.Chart()
        .mark_text(fontSize=11, aria=False)
        .encode(x=x, y=y, text=alt.Text("value:Q", format=".2f"), color=alt.value("currentColor"))
    )
    chart = alt.layer(cells, numbers).properties(height=ROW * len(rows))
    return dataless(chart) | {"autosize": {"type": "fit-x", "contains": "padding"}}
