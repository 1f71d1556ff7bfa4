"""The map of layers and heads (Altair): one statistic per head, as a colour; a click on a cell selects the head.

The chart is built without data, once for all settings that give the same chart.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import altair as alt

from attention.charts import theme
from attention.charts.spec import color_key, dataless
from attention.number_format import MEAN, PERCENT

CELL = "cell"  # the selection: the layer and the head of the cell that was clicked, and the `turn` of the table
LEAST = 9  # minimum height of a layer in pixels


class Room(NamedTuple):
    """The room of a map in pixels: maximum height of a layer, and of all unless their minimum needs more.

    `key`: whether there is room for the key to the colours if numbers are in the cells. `stretch`: the height of all up to which
    layers are as high as a number needs.
    """

    row: int = 52
    high: int = 440
    key: bool = False
    stretch: int = 0


USUAL = Room()


PADDING = {"left": 0, "top": 4, "right": 2, "bottom": 0}  # pixels around the map and its colours
CROSS = "M-1,-1L1,1M1,-1L-1,1"  # the mark of a head that is off
FAINT = 0.1  # of the end of the scale: smaller shares are never written, so that those of heads that stand out are
BREAK = 26  # by how many pixels a line between layers that are not neighbours goes beyond the axis
KEY, PERCENT_KEY = ".3~r", ".3~%"  # formats of the key to colours
JOINED = 0.45  # opacity of the colour of a head with two kinds of keys
PALE = 0.9  # opacity of the numbers of heads that do not stand out, in the paler half of the colours
LETTERS = 13  # size of the labels of both axes in pixels
FEW = 12  # heads whose cells are wide enough for their numbers, on a phone as well
WIDE, TALL = 24, 13  # minimum size in pixels of a cell that shows its number
AMPLE = 28  # width in pixels from which on the number has the usual size
WORD = 24  # width in pixels from which on a cell has room for a short word


@lru_cache(maxsize=64)
def numbers(
    layers: tuple[int, ...],
    heads: int,
    label: str,
    ends: tuple[float, float],
    digits: int,
    switches: bool = False,
    percent: bool = False,
    room: Room = USUAL,
    title: str = "",
    limit: float = FAINT,
) -> dict[str, Any]:
    """Returns cells over the columns layer, head, value, focus, turn of a table, as a Vega-Lite specification.

    Colours go from one of the `ends` to the other; numbers have `digits` decimals, and are bold in heads that the column `strong`
    marks, paler in others. In `percent`, the table has a column `short`, the text in the cells without its sign, of which shares
    below the `limit` have none. `says`: the tooltips, of one line, as they cover other cells. The selected cell has a frame.
    `switches`: a column `off` says whether the head is switched off; those that are have a cross in place of colour and number.
    `title`: what the map shows, above it, in place of the label at its colours; percentages of few heads are legible without
    these, and have none unless the `room` has a `key` or the colours end below 100%.
    """
    x, y, tall = _axes(layers, heads, "head", room=room)
    low, top = ends
    domain = [low, (low + top) / 2, top]
    scale = alt.Scale(domain=domain, range=list(theme.NUMBERS), clamp=True)
    tips = alt.Tooltip("says:N")
    legible = title and percent and tall and heads <= FEW and not room.key and top >= 1
    color = alt.Color(
        "value:Q",
        scale=scale,
        legend=None
        if legible
        else color_key("" if title else label, "bottom", PERCENT_KEY if percent else KEY, domain),
    )
    cells = _cells(x=x, y=y, color=color, tooltip=tips, description="says:N")
    named = alt.Chart().transform_filter(f"datum.value >= {limit}") if percent else alt.Chart()
    words = named.mark_text(
        fontSize=alt.ExprRef(f"width / {heads} < {WIDE} ? 0 : width / {heads} < {AMPLE} ? 11 : 12") if tall else 0,
        fontWeight=alt.ExprRef("datum.strong ? 'bold' : 'normal'"),
        aria=False,
    ).encode(
        x=x,
        y=y,
        opacity=alt.condition(f"datum.strong || datum.value > {domain[1]}", alt.value(1), alt.value(PALE)),
        text=alt.Text("written:N") if percent else alt.Text("value:Q", format=f".{digits}f"),
        color=alt.value("currentColor"),
    )
    more = _breaks(layers)
    if percent:
        words = words.transform_calculate(written="replace(datum.short, '%', '')")
    unsigned = bool(legible)  # without a key, only the title tells what the numbers are
    if not switches:
        return _titled(_with_frame(cells, words, height(len(layers), room), *more), title, unsigned)
    off = alt.Chart().transform_filter("datum.off").encode(x=x, y=y, tooltip=tips)
    covers = off.mark_rect(cursor="pointer", fill=theme.HIDDEN, aria=False)
    crosses = off.mark_point(
        shape=CROSS, size=60, stroke="white", strokeWidth=2, opacity=1, cursor="pointer", aria=False
    )
    return _titled(_with_frame(cells, words, height(len(layers), room), covers, crosses, *more), title, unsigned)


@lru_cache(maxsize=64)
def kinds(
    layers: tuple[int, ...], heads: int, named: tuple[tuple[str, str], ...], room: Room = USUAL, title: str = ""
) -> dict[str, Any]:
    """Returns cells over the columns layer, head, kind, word, joined, focus, turn, says of a table, as a Vega-Lite specification.

    `named`: the kinds as in the key to the colours, each with its colour; a cell whose kind is null is blank. `word`: the text in
    a cell, where there is room. `joined`: whether the head has a second kind; the colour is paler then.
    """
    x, y, tall = _axes(layers, heads, "head", room=room)
    names, colors = zip(*named, strict=True) if named else ((), ())
    key = alt.Legend(
        title=None,
        orient="bottom",
        columns=1,
        symbolType="square",
        symbolSize=150,
        labelFontSize=12,
        labelLimit=0,
        rowPadding=2,
        symbolStrokeWidth=0,
        offset=4,
    )
    color = alt.Color("kind:N", scale=alt.Scale(domain=list(names), range=list(colors)), legend=key if names else None)
    cells = _cells(
        x=x,
        y=y,
        color=alt.condition("isValid(datum.kind)", color, alt.value("transparent")),
        fillOpacity=alt.condition("datum.joined", alt.value(JOINED), alt.value(1)),
        tooltip=alt.Tooltip("says:N"),
        description="says:N",
    )
    size = alt.ExprRef(f"width / {heads} < {WORD} ? 0 : 11") if tall else 0
    words = alt.Chart().mark_text(fontSize=size, color="currentColor", aria=False).encode(x=x, y=y, text="word:N")
    return _titled(_with_frame(cells, words, height(len(layers), room), *_breaks(layers)), title)


@lru_cache(maxsize=64)
def signed(
    layers: tuple[int, ...],
    columns: int,
    label: str,
    across: str = "head",
    last: str = "",
    digits: int = 2,
    rises: bool = False,
    room: Room = USUAL,
    percent: bool = False,
) -> dict[str, Any]:
    """Returns cells over the columns layer, head, value, share, focus, turn of a table, as a Vega-Lite specification.

    Values below zero are orange, those above green, stronger for a larger `share`, from 0 to 1; the other way round if a value
    that `rises` is for the worse. `across`: what the columns are; `last`: the name of the last one, if it is something else.
    `percent`: whether values are written in percent, without decimals.
    """
    x, y, tall = _axes(layers, columns, across, last, room)
    color = alt.condition(f"datum.value {'>' if rises else '<'} 0", alt.value(theme.LESS), alt.value(theme.MORE))
    tips = [
        alt.Tooltip("layer:O"),
        alt.Tooltip("head:O", title=across),
        alt.Tooltip("value:Q", title=label, format=PERCENT if percent else MEAN),
    ]
    cells = _cells(
        x=x,
        y=y,
        color=color,
        fillOpacity=alt.FillOpacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0, theme.STRONGEST]), legend=None),
        tooltip=tips,
    )
    words = (
        alt.Chart()
        .mark_text(fontSize=alt.ExprRef(f"width / {columns} < {WIDE + 8} ? 0 : 12") if tall else 0, aria=False)
        .encode(
            x=x,
            y=y,
            text=alt.Text("value:Q", format=".0%" if percent else f".{digits}f"),
            color=alt.value("currentColor"),
        )
    )
    return _with_frame(cells, words, height(len(layers), room), *_breaks(layers))


def _axes(
    layers: tuple[int, ...], columns: int, across: str, last: str = "", room: Room = USUAL
) -> tuple[alt.X, alt.Y, bool]:
    """Returns both axes of a map, and whether its rows have room for numbers."""
    named = f"datum.value == {columns - 1} && '{last}' ? '{last}' : datum.label"
    x = alt.X(
        "head:O",
        title=f"{across} →",
        axis=alt.Axis(labelAngle=0, labelExpr=named, labelFontSize=LETTERS, titleFontSize=LETTERS),
        scale=alt.Scale(domain=list(range(columns))),
    )
    tall = height(len(layers), room) // len(layers) >= TALL
    every = alt.Axis(
        labelOverlap=not tall, labelFlush=False, labelBound=False, labelFontSize=LETTERS, titleFontSize=LETTERS
    )
    return x, alt.Y("layer:O", title="← layer", axis=every, scale=alt.Scale(domain=list(layers))), tall


def left_out(layers: tuple[int, ...]) -> list[int]:
    """Returns the layers that do not follow the layer before them, as some are left out in between."""
    return [layer for before, layer in pairwise(layers) if layer != before + 1]


def _breaks(layers: tuple[int, ...]) -> list[alt.Chart]:
    """Returns a double line above each layer that does not follow the layer above it, from left of the axis on."""
    if not (after := left_out(layers)):
        return []
    rows = alt.Chart().transform_filter(f"datum.head == 0 && indexof({after}, datum.layer) >= 0")
    return [
        rows.mark_rule(yOffset=by, color="currentColor", strokeWidth=1, opacity=0.7, aria=False).encode(
            x=alt.value(-BREAK), x2=alt.value("width"), y=alt.Y("layer:O", bandPosition=0)
        )
        for by in (-1.5, 1.5)
    ]


def _cells(**encoding: Any) -> alt.Chart:
    """Returns the cells, which are selected by a click."""
    cells = alt.Chart(name="cells").mark_rect(cursor="pointer", stroke=theme.HIDDEN, strokeOpacity=0.35)
    return cells.encode(**encoding).add_params(_cell_selection())


def _cell_selection() -> alt.Parameter:
    """Returns the selection of a cell by a click."""
    return alt.selection_point(name=CELL, fields=["layer", "head", "turn"], on="click", clear=False, toggle=False)


def _with_frame(cells: alt.Chart, words: alt.Chart, tall: int, *more: alt.Chart) -> dict[str, Any]:
    """Returns the specification of cells, their numbers and `more`, with a frame around the selected cell."""
    frame = (
        alt.Chart()
        .transform_filter("datum.focus")
        .mark_rect(fill=None, stroke=theme.QUERY, strokeWidth=3, aria=False)
        .encode(x=cells.encoding.x, y=cells.encoding.y)
    )
    chart = alt.layer(cells, words, *more, frame).properties(height=tall)
    return dataless(chart) | {"autosize": {"type": "fit-x", "contains": "padding"}, "padding": PADDING}


def _titled(chart: dict[str, Any], title: str, unsigned: bool = False) -> dict[str, Any]:
    """Returns the specification with a title above its cells, if there is one; it ends with "(%)" if `unsigned`."""
    text = f"{title} (%)" if unsigned else title
    look = {
        "text": text,
        "anchor": "start",
        "frame": "group",
        "fontSize": 14,
        "fontWeight": 600,
        "offset": 6,
        "limit": 600,
    }
    return chart | {"title": look} if title else chart


def height(layers: int, room: Room = USUAL) -> int:
    """Returns the height of `layers` layers in pixels."""
    least = TALL if layers * TALL <= room.stretch else LEAST
    return layers * max(least, min(room.row, room.high // layers))


def writes_numbers(layers: int, heads: int, room: Room = USUAL) -> bool:
    """Whether the cells of a map have room for their numbers, on a phone as well."""
    return heads <= FEW and height(layers, room) // layers >= TALL
