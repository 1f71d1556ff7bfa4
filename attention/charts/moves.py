"""How a token's vector moves towards words (Altair). The chart is built once, without data."""

from __future__ import annotations

from functools import cache
from typing import Any

import altair as alt

from attention.charts import theme
from attention.charts.spec import dataless

BEFORE, HEAD, LAYERS = STAGES = ("before", "after this head", "after all six layers")
LINE = 54  # pixels per word


@cache
def by_word(words: tuple[str, ...]) -> dict[str, Any]:
    """Returns three points per word over the columns `word`, `stage`, `cosine` and `change`, as a Vega-Lite specification."""
    y = alt.Y("word:N", title=None, sort=list(words), axis=alt.Axis(labelFontSize=13, ticks=False, domain=False))
    x = alt.X(
        "cosine:Q",
        title="cosine similarity to the word",
        scale=alt.Scale(zero=False, nice=True),
        axis=alt.Axis(tickCount=5, labelFontSize=12, titleFontSize=12, titleFontWeight="normal"),
    )
    stage = {
        "sort": list(STAGES),
        "scale": alt.Scale(domain=list(STAGES), range=[theme.HIDDEN, theme.QUERY, theme.MORE]),
    }
    shapes = alt.Scale(domain=list(STAGES), range=["circle", "circle", "diamond"])
    legend = alt.Legend(title=None, orient="top", symbolSize=90, labelFontSize=12)
    points = (
        alt.Chart()
        .mark_point(filled=True, size=90, opacity=1)
        .encode(
            x=x,
            y=y,
            color=alt.Color("stage:N", legend=legend, **stage),
            shape=alt.Shape("stage:N", sort=list(STAGES), scale=shapes),
            tooltip=[alt.Tooltip("word:N"), alt.Tooltip("stage:N"), alt.Tooltip("cosine:Q", format=".3f")],
        )
    )
    ranges = alt.Chart().mark_rule(opacity=0.5, color=theme.HIDDEN).encode(x="min(cosine):Q", x2="max(cosine):Q", y=y)
    changes = (
        alt.Chart()
        .transform_filter(alt.datum.stage == HEAD)
        .mark_text(dy=-14, fontSize=12, fontWeight="bold")
        .encode(
            x=x,
            y=y,
            text=alt.Text("change:Q", format="+.3f"),
            color=alt.condition("datum.change < 0", alt.value(theme.LESS), alt.value(theme.MORE)),
        )
    )
    return dataless(alt.layer(ranges, points, changes).properties(height=LINE * len(words)))
