"""The map of layers and heads (Altair): one number a head, coloured; a click on a cell chooses it.

Made without its data, so that it is built once for all settings that look alike.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import altair as alt

from attention.charts import theme
from attention.charts.spec import dataless
from attention.number_format import MEAN

CELL = "cell"  # the selection: the layer and the head of the cell that was clicked, and the `turn` of the table
ROW, LEAST, HIGH = 24, 9, 440  # pixels of a layer, of one of very many, and of all that are not more than that
WIDE, TALL = 26, 13  # pixels of a cell from which it carries its number
BRIGHT = 0.5  # of the scale, from which black words are read better than white ones


@lru_cache(maxsize=64)
def numbers(layers: tuple[int, ...], heads: int, label: str, top: float, digits: int) -> dict[str, Any]:
    """Cells over the columns layer, head, value, focus, turn of a table, as a Vega-Lite specification.

    Colours go from 0 to `top`; numbers have so many `digits`. The cell that is in focus has a frame.
    """
    x = alt.X("head:O", title="head →", axis=alt.Axis(labelAngle=0), scale=alt.Scale(domain=list(range(heads))))
    row = height(len(layers)) // len(layers)
    every = alt.Axis(labelOverlap=row < TALL)
    y = alt.Y("layer:O", title="← layer", axis=every, scale=alt.Scale(domain=list(layers)))
    chosen = alt.selection_point(name=CELL, fields=["layer", "head", "turn"], on="click", clear=False, toggle=False)
    scale = alt.Scale(domain=[0, top], range=list(theme.NUMBERS), clamp=True)
    tips = [
        alt.Tooltip("layer:O"),
        alt.Tooltip("head:O"),
        alt.Tooltip("value:Q", title=label, format=MEAN),
    ]
    cells = (
        alt.Chart(name="cells")
        .mark_rect(cursor="pointer", stroke="white", strokeOpacity=0.25)
        .encode(
            x=x, y=y, color=alt.Color("value:Q", scale=scale, legend=_bar(label, height(len(layers)))), tooltip=tips
        )
        .add_params(chosen)
    )
    words = (
        alt.Chart()
        .mark_text(fontSize=alt.ExprRef(f"width / {heads} < {WIDE} ? 0 : 10") if row >= TALL else 0, aria=False)
        .encode(
            x=x,
            y=y,
            text=alt.Text("value:Q", format=f".{digits}f"),
            color=alt.condition(f"datum.value > {BRIGHT * top}", alt.value("black"), alt.value("white")),
        )
    )
    frame = (
        alt.Chart()
        .transform_filter("datum.focus")
        .mark_rect(fill=None, stroke=theme.QUERY, strokeWidth=3, aria=False)
        .encode(x=x, y=y)
    )
    chart = alt.layer(cells, words, frame).properties(height=height(len(layers)))
    return dataless(chart) | {"autosize": {"type": "fit-x", "contains": "padding"}}


def height(layers: int) -> int:
    """Pixels of so many layers."""
    return layers * max(LEAST, min(ROW, HIGH // layers))


def _bar(label: str, high: int) -> alt.Legend:
    """The scale of the colours, beside the cells and as high."""
    return alt.Legend(title=label, gradientLength=max(60, high - 24), gradientThickness=12, tickCount=3)
