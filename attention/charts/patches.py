"""An image with the weights of one of its patches (Vega-Lite): patches that it attends to are bright, the others dark."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from attention.charts import theme

CELL = "patch"  # the selection: row, column and `turn` of the patch that was clicked
DARK = 0.82  # opacity over a patch without weight
WIDE = 352  # pixels that fit on a phone


ENDS = {"width": {"expr": "width"}, "height": {"expr": "height"}}


def spotlight(picture: bytes, rows: int, cols: int, height: int, width: int) -> dict[str, Any]:
    """Returns patches over a PNG of `height` x `width` pixels.

    Columns of the table: row, col, weight, share (weight relative to the largest), focus, most, turn.
    """
    high = round(WIDE * height / width)
    place = {
        "x": {"field": "col", "type": "ordinal", "axis": None, "scale": {"paddingInner": 0, "paddingOuter": 0}},
        "y": {"field": "row", "type": "ordinal", "axis": None, "scale": {"paddingInner": 0, "paddingOuter": 0}},
    }
    uri = f"data:image/png;base64,{b64encode(picture).decode()}"
    frame = {"type": "image", "url": uri, "x": 0, "y": 0, "align": "left"} | ENDS
    tips = [
        {"field": "row", "type": "ordinal", "title": "row"},
        {"field": "col", "type": "ordinal", "title": "column"},
        {"field": "weight", "type": "quantitative", "format": ".4f"},
    ]
    dark = {"field": "share", "type": "quantitative", "legend": None, "scale": {"domain": [0, 1], "range": [DARK, 0]}}
    chosen = {"type": "point", "fields": ["row", "col", "turn"], "on": "click", "clear": False, "toggle": False}
    cells = {
        "name": "patches",
        "mark": {"type": "rect", "cursor": "pointer", "fill": "black"},
        "params": [{"name": CELL, "select": chosen}],
        "encoding": place | {"fillOpacity": dark, "tooltip": tips},
    }
    return {
        "width": WIDE,
        "height": high,
        "config": {"view": {"stroke": None}},
        "layer": [
            {"data": {"values": [{}]}, "mark": frame | {"baseline": "top", "aspect": False}},
            cells,
            _frame_mark("most", theme.KEY, place, [5, 3]),
            _frame_mark("focus", theme.QUERY, place, []),
        ],
    }


def _frame_mark(flag: str, color: str, place: dict[str, Any], dash: list[int]) -> dict[str, Any]:
    """Returns a frame around the patches for which the column `flag` is true."""
    mark = {"type": "rect", "fill": None, "stroke": color, "strokeWidth": 3, "strokeDash": dash, "aria": False}
    return {"transform": [{"filter": f"datum.{flag}"}], "mark": mark, "encoding": place}
