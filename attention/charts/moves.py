"""How a token's vector moves towards words (Altair). The chart is built once, without data."""

from __future__ import annotations

from functools import cache
from typing import Any

import altair as alt

from attention.charts import theme
from attention.charts.spec import dataless

BEFORE, HEAD, LAYERS = "before", "after this head", "after all six layers"
RECORDED = "six layers, as recorded"  # in place of `LAYERS`: the settings differ from the model's own
FONT = "Source Sans, sans-serif"  # that of the app, which bold letters otherwise lack
LINE = 54  # pixels per word
EDGE = 24  # pixels between the ends of the axis and the border, for a number above a point there


@cache
def by_word(words: tuple[str, ...], low: float, high: float, last: str = LAYERS) -> dict[str, Any]:
    """Returns three points per word, as a Vega-Lite specification; the axis goes from `low` to `high`.

    `last` is the name of the last stage, `LAYERS` or `RECORDED`.

    The columns are `word`, `stage`, `cosine`, `change`, and `least` and `most`, the ends of the line of a word.
    """
    y = alt.Y(
        "word:N",
        title=None,
        sort=list(words),
        axis=alt.Axis(labelFontSize=13, labelFont=FONT, ticks=False, domain=False),
    )
    x = alt.X(
        "cosine:Q",
        title="cosine similarity to the word",
        scale=alt.Scale(domain=[low, high], padding=EDGE),
        axis=alt.Axis(
            tickCount=5, labelFontSize=12, labelFont=FONT, titleFontSize=12, titleFont=FONT, titleFontWeight="normal"
        ),
    )
    stages = [BEFORE, HEAD, last]
    stage = {
        "sort": stages,
        "scale": alt.Scale(domain=stages, range=[theme.HIDDEN, theme.QUERY, theme.MORE]),
    }
    shapes = alt.Scale(domain=stages, range=["circle", "circle", "diamond"])
    legend = alt.Legend(title=None, orient="top", symbolSize=90, labelFontSize=12, labelFont=FONT)
    points = (
        alt.Chart()
        .mark_point(filled=True, size=90, opacity=1)
        .encode(
            x=x,
            y=y,
            color=alt.Color("stage:N", legend=legend, **stage),
            shape=alt.Shape("stage:N", sort=stages, scale=shapes),
            tooltip=[alt.Tooltip("word:N"), alt.Tooltip("stage:N"), alt.Tooltip("cosine:Q", format=".3f")],
        )
    )
    ranges = (
        alt.Chart()
        .mark_rule(opacity=0.5, color=theme.HIDDEN)
        .encode(x=alt.X("least:Q", scale=alt.Scale(domain=[low, high], padding=EDGE)), x2="most:Q", y=y)
    )
    changes = (
        alt.Chart()
        .transform_filter(alt.datum.stage == HEAD)
        .mark_text(dy=-14, fontSize=12, font=FONT, fontWeight="bold", color="currentColor", aria=False)
        .encode(
            x=x,
            y=y,
            text=alt.Text("change:N"),
        )
    )
    return dataless(alt.layer(ranges, points, changes).properties(height=LINE * len(words)))
