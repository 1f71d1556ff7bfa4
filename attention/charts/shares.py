"""One number a head, from 0 to 1, as bars (Altair). Made without data, so that it is built once."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import altair as alt

from attention.charts import theme


@lru_cache(maxsize=64)
def by_head(heads: int, focus: int, title: str) -> dict[str, Any]:
    """Bars over the columns `head` and `share` of a table, as a Vega-Lite specification; the axis is 0 to 1."""
    colors = [theme.HEADS[h % len(theme.HEADS)] for h in range(heads)]
    chart = (
        alt.Chart()
        .mark_bar(strokeWidth=2)
        .encode(
            x=alt.X("head:O", title="head", axis=alt.Axis(labelAngle=0), scale=alt.Scale(domain=list(range(heads)))),
            y=alt.Y("share:Q", title=title, axis=alt.Axis(format="%", tickCount=5), scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("head:O", legend=None, scale=alt.Scale(domain=list(range(heads)), range=colors)),
            stroke=alt.condition(f"datum.head == {focus}", alt.value(theme.QUERY), alt.value(None)),
            tooltip=[alt.Tooltip("head:O"), alt.Tooltip("share:Q", format=".2%", title=title)],
        )
        .properties(height=theme.SMALL_HEIGHT - 60)
    )
    return {name: part for name, part in chart.to_dict().items() if name not in ("data", "datasets")}
