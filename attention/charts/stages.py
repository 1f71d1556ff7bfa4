"""The computation of one row of weights (Altair): one panel per step over the same keys, with a shared order and pointer.

Charts are built without data, once for all rows that give the same chart. The columns of the table are those of
`tables.softmax.stages`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import altair as alt

from attention.charts import theme
from attention.charts.row import axis, even_share, names
from attention.charts.spec import channel, dataless, finish, layer
from attention.number_format import PERCENT, weight_text

LABELLED = 48  # maximum number of keys for which the axis shows tokens
TITLES = {"dots": "score", "scaled": "scaled", "logits": "logit", "operand": "logit − t", "weights": "weight"}
TITLES |= {"first": "first", "second": "second"}  # softmaxes of differential attention
# A canvas can't use the text colour of the page, so it keeps Streamlit's.
MANY = {"usermeta": {"embedOptions": {"renderer": "canvas"}}, "config": {"aria": False}}
POINTER = {
    "name": "pointer",
    "select": {"type": "point", "fields": ["place"], "on": "pointermove", "clear": "pointerout", "nearest": True},
}
ROOM: dict[str, Any] = {
    "minExtent": 36,
    "maxExtent": 36,
}  # width of the axis labels in pixels, so that panels are aligned
SIGNED = "dots", "scaled", "logits", "operand"
SAME = "scaled = logit"
TOP = 16  # pixels above the bars of a panel, for the value under the pointer
HALF = 0.42  # half of a bar's width, in keys
SHARES = (0, 0.5, 0.9, 0.99)
SETS = {"50%": "", "90%": "b0", "99%": "70", "rest": "40"}  # opacity of a key, as a hexadecimal alpha
SET_COLORS = {
    "field": "set",
    "type": "nominal",
    "scale": {"domain": [*SETS], "range": [f"{theme.QUERY}{alpha}" for alpha in SETS.values()]},
    "legend": {"orient": "bottom", "direction": "horizontal", "title": "largest weights that hold"},
}


def reach(greatest: float) -> float:
    """Returns the next of 1, 2, 5, 10, 20 …: the end of an axis that stays the same while a slider moves a little."""
    if not 0 < greatest < math.inf:
        return 1.0
    power = 10.0 ** math.floor(math.log10(greatest))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= greatest * (1 - 1e-9))


@lru_cache(maxsize=64)
def panels(
    labels: tuple[str, ...],
    keys: int,
    dots: float,
    logits: float,
    colors: str = "linear",
    seeing: int = 0,
    operand: float = 0.0,
    softmaxes: tuple[str, ...] = (),
    same: bool = False,
) -> dict[str, Any]:
    """Returns dot products, scaled scores, logits and weights over the keys, as one Vega-Lite specification.

    `same`: scaled scores and logits are the same of all visible keys, so they share a panel.

    `labels`: the tokens in the order shown, () for none; `dots`, `logits` and `operand`: the ends of those axes on both
    sides, 0 for an operand that is not shown; `colors` and `seeing`: the axis of weights (`row.scale`); `softmaxes`: the
    columns of those of which the weights are a difference.
    """
    ends = {"dots": dots, "scaled": logits, "logits": logits} | ({"operand": operand} if operand else {})
    titles = TITLES | ({"logits": SAME} if same else {})
    shown = {name: end for name, end in ends.items() if not (same and name == "scaled")}
    steps = [_signed_panel(name, titles[name], end, keys) for name, end in shown.items()]
    steps += [_weight_panel(name, TITLES[name], "linear", keys) for name in softmaxes]
    return _stack([*steps, _weight_panel("weights", "weight", colors, keys, seeing, labels, True)], keys)


@lru_cache(maxsize=64)
def rows(
    columns: tuple[str, ...], labels: tuple[str, ...], keys: int, colors: str = "linear", seeing: int = 0
) -> dict[str, Any]:
    """Returns the weights v0, v1, … of a row by several softmaxes, one panel each with its title, all on one scale."""
    last = len(columns) - 1
    panels = [
        _weight_panel(f"v{i}", name, colors, keys, seeing, labels if i == last else (), i == last)
        for i, name in enumerate(columns)
    ]
    return _stack(panels, keys)


@lru_cache(maxsize=64)
def single_step(name: str, labels: tuple[str, ...], keys: int, dots: float) -> dict[str, Any]:
    """Returns a chart of a single step: the dot products or the weights."""
    y = axis(name, name, "linear", keys, **ROOM) if name == "weights" else _step(name, TITLES[name], _around_zero(dots))
    return _fit(finish(_panel(name, keys, y, labels, last=True, height=theme.ROW_HEIGHT)), keys)


@lru_cache(maxsize=32)
def mass(keys: int) -> dict[str, Any]:
    """Returns the share of the weight on the heaviest keys, over the columns `count`, `held` and `holds`.

    `holds` names the shares for which this number of keys is the smallest, None if there is none.
    """
    x = alt.X("count:Q", title="keys, largest first", scale=alt.Scale(domain=[0, keys], nice=False), axis=_whole(keys))
    axis = alt.Axis(format="%", values=SHARES, labelOverlap=False)
    y = alt.Y("held:Q", title="share of weight", scale=alt.Scale(domain=[0, 1.08]), axis=axis)
    tips = [alt.Tooltip("count:Q", title="keys"), alt.Tooltip("held:Q", format=PERCENT), alt.Tooltip("holds:N")]
    base = alt.Chart().encode(x=x, y=y, tooltip=tips)
    held = base.mark_line(interpolate="step-after", color=theme.QUERY)
    sets = base.transform_filter("datum.holds").mark_point(color=theme.KEY, size=60, filled=True, opacity=1, aria=False)
    return bare(alt.layer(held, sets).properties(height=theme.MASS_HEIGHT), keys)


def bare(chart: alt.TopLevelMixin, marks: int = 0) -> dict[str, Any]:
    """Returns the specification of a chart without data that fits the available width.

    With more than `LABELLED` marks along an axis the browser draws on a canvas, without ARIA descriptions. Every panel
    with a named layer tracks the pointer, and all share the key nearest to it.
    """
    return _fit(dataless(chart), marks)


def _fit(spec: dict[str, Any], marks: int) -> dict[str, Any]:
    """Returns the specification of `bare` from that of the chart."""
    spec = spec | {"autosize": {"type": "fit-x", "contains": "padding"}}
    if marks > LABELLED:
        spec |= MANY
    touched = [layer["name"] for panel in spec.get("vconcat", [spec]) for layer in panel["layer"] if "name" in layer]  # pyright: ignore[reportArgumentType]  a dict, once it is made
    return spec | {"params": [POINTER | {"views": touched}]} if touched else spec


def _whole(keys: int) -> alt.Axis:
    return alt.Axis(tickMinStep=1, grid=False, format="d", tickCount=min(keys, 10))


def _stack(panels: Sequence[dict[str, Any]], keys: int) -> dict[str, Any]:
    """Returns the specification of panels below each other."""
    return _fit(finish({"vconcat": [*panels], "spacing": 8}), keys)


def _signed_panel(
    name: str, title: str, end: float, keys: int, labels: tuple[str, ...] = (), last: bool = False
) -> dict[str, Any]:
    """Returns a panel whose axis goes from −`end` to `end`."""
    return _panel(name, keys, _step(name, title, _around_zero(end)), labels, last)


def _weight_panel(
    name: str,
    title: str,
    colors: str,
    keys: int,
    seeing: int = 0,
    labels: tuple[str, ...] = (),
    last: bool = False,
) -> dict[str, Any]:
    """Returns a panel of weights; its axis is that of `row.axis`."""
    y = axis(name, name, colors, keys, seeing, title, **ROOM)
    even = [layer(line) for line in even_share(colors, seeing)]
    return _panel(name, keys, y, labels, last, even)


def _around_zero(end: float) -> alt.Scale:
    return alt.Scale(domain=[-end, end], nice=False)


def _step(name: str, title: str, scale: alt.Scale) -> alt.Y:
    return alt.Y(f"{name}:Q", title=title, scale=scale, axis=alt.Axis(tickCount=3, **ROOM))


def _panel(
    name: str,
    keys: int,
    y: alt.Y,
    labels: tuple[str, ...],
    last: bool,
    even: Sequence[dict[str, Any]] = (),
    height: int = theme.STEP_HEIGHT,
) -> dict[str, Any]:
    """Returns bars for visible keys, marks for masked ones, and the key under the pointer; `even`: the uniform weight.

    The value under the pointer is written above the bars, where it covers none. The layers are written as Vega-Lite, as there
    are up to nine panels for each length and Altair takes 0.1 s for each.
    """
    ticks = _keys(labels, keys) if last else alt.Axis(labels=False, ticks=False, grid=False)
    across = alt.Scale(domain=[-0.5, keys - 0.5], nice=False)
    x = channel(alt.X("place:Q", title="key →" if last else None, scale=across, axis=ticks))
    up = channel(y)
    up["scale"]["range"] = [height, TOP]
    low, log = up["scale"]["domain"][0], up["scale"].get("type") == "log"
    bars = {"x": x | {"field": "left"}, "x2": {"field": "right"}, "y": up, "y2": {"datum": low if log else 0}}
    sides = [{"calculate": f"datum.place {sign} {HALF}", "as": side} for sign, side in (("-", "left"), ("+", "right"))]
    hidden: dict[str, Any] = {"transform": [{"filter": "!datum.visible"}]}
    if name in ("dots", "scaled"):
        faint = {"type": "rect", "color": theme.HIDDEN, "opacity": 0.45, "aria": False}
        hidden = {"mark": faint, "encoding": bars, "transform": [*sides, *hidden["transform"]]}
    else:
        middle = (name in ("logits", "operand") or low != 0) and not log
        cross = {"type": "text", "text": "×", "color": theme.HIDDEN, "size": _size(keys), "aria": False}
        at = {"value": (height + TOP) / 2 if middle else height - 4}
        hidden |= {"mark": cross, "encoding": {"x": x, "y": at}}
    seen = {
        "mark": {"type": "rect", "color": theme.QUERY},
        "encoding": bars | ({"color": SET_COLORS} if name == "weights" else {}),
        "transform": [*sides, {"filter": "datum.visible"}],
    }
    return {"layer": [hidden, seen, *even, _nearest_key(x, name), *_pointer_rule(x, name)], "height": height}


def _size(keys: int) -> int:
    """Returns the size of the mark of a masked key in pixels."""
    return max(4, min(12, 400 // keys))


def _nearest_key(x: dict[str, Any], name: str) -> dict[str, Any]:
    """Returns the invisible points that the pointer selects, one per key."""
    mark = {"type": "point", "opacity": 0, "aria": False}
    return {"mark": mark, "encoding": {"x": x, "y": {"value": theme.STEP_HEIGHT / 2}}, "name": f"touch_{name}"}


def _pointer_rule(x: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Returns a line through the key under the pointer, and its value as text."""
    here = {"filter": {"param": "pointer", "empty": False}}
    number = f"format(datum.{name}, '.4')" if name in SIGNED else f"({weight_text(name)})"
    value = f"isValid(datum.{name}) ? {number} : '−∞'"
    token = "datum.token == datum.key ? 'key ' + datum.key : '“' + datum.token + '” (' + datum.key + ')'"
    says = {"calculate": f"({token}) + ': ' + ({value})", "as": "says"}
    rule = {"type": "rule", "color": theme.KEY, "strokeDash": [4, 3], "aria": False}
    text = {"type": "text", "align": "right", "dx": -3, "baseline": "top", "color": theme.KEY, "fontSize": 12}
    place = {"x": {"value": "width"}, "y": {"value": 2}, "text": {"field": "says", "type": "nominal"}}
    return [
        {"mark": rule, "encoding": {"x": x}, "transform": [here]},
        {"mark": text | {"fontWeight": "bold", "aria": False}, "encoding": place, "transform": [here, says]},
    ]


def _keys(labels: tuple[str, ...], keys: int) -> alt.Axis:
    if not labels or keys > LABELLED:
        return _whole(keys)
    return alt.Axis(
        values=list(range(keys)), labelExpr=names(labels), labelAngle=-45, labelLimit=70, grid=False, labelOverlap=False
    )
