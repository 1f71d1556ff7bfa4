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
from attention.charts.spec import dataless
from attention.number_format import PERCENT, weight_text

LABELLED = 48  # maximum number of keys for which the axis shows tokens
TITLES = {"dots": "q · k", "scaled": "scaled", "logits": "logit", "operand": "logit − t", "weights": "weight"}
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
def differences(
    columns: tuple[str, ...],
    labels: tuple[str, ...],
    keys: int,
    ends: tuple[float, ...],
    colors: str = "linear",
    seeing: int = 0,
) -> dict[str, Any]:
    """Returns the row, v0, and below it what several softmaxes add to it, v1, v2, …, one panel each with its title.

    `ends`: those of the axes of differences, on both sides of zero.
    """
    first, last = _weight_panel("v0", columns[0], colors, keys, seeing), len(columns) - 1
    steps = [
        _signed_panel(f"v{i}", name, end, keys, labels if i == last else (), i == last)
        for i, (name, end) in enumerate(zip(columns[1:], ends, strict=True), 1)
    ]
    return _stack([first, *steps], keys)


@lru_cache(maxsize=64)
def single_step(name: str, labels: tuple[str, ...], keys: int, dots: float) -> dict[str, Any]:
    """Returns a chart of a single step: the dot products or the weights."""
    y = axis(name, name, "linear", keys, **ROOM) if name == "weights" else _step(name, TITLES[name], _around_zero(dots))
    return bare(_panel(name, keys, y, labels, last=True, height=theme.ROW_HEIGHT), keys)


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
    """Returns panels below each other. Altair would copy all of them several times, which takes half a second."""
    shared = {name: panels[0][name] for name in ("$schema", "config")}
    parts = [{name: part for name, part in panel.items() if name not in shared} for panel in panels]
    return _fit(shared | {"vconcat": parts, "spacing": 8}, keys)


def _signed_panel(
    name: str, title: str, end: float, keys: int, labels: tuple[str, ...] = (), last: bool = False
) -> dict[str, Any]:
    """Returns a panel whose axis goes from −`end` to `end`."""
    panel, ends = _unit_panel(name, title, keys, labels, last), {"domain": [-end, end]}
    return panel | {"layer": [_with_scale(layer, ends) for layer in panel["layer"]]}


def _with_scale(layer: dict[str, Any], scale: dict[str, Any]) -> dict[str, Any]:
    """Returns a layer with another scale of its y axis, if it has one."""
    y = layer["encoding"].get("y", {})
    if "scale" not in y:
        return layer
    return layer | {"encoding": layer["encoding"] | {"y": y | {"scale": y["scale"] | scale}}}


@lru_cache(maxsize=128)
def _unit_panel(name: str, title: str, keys: int, labels: tuple[str, ...], last: bool) -> dict[str, Any]:
    """Returns a panel whose axis goes from −1 to 1."""
    return dataless(_panel(name, keys, _step(name, title, _around_zero(1)), labels, last))


@lru_cache(maxsize=128)
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
    return dataless(_panel(name, keys, y, labels, last, even_share(colors, seeing)))


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
    even: Sequence[alt.Chart] = (),
    height: int = theme.STEP_HEIGHT,
) -> alt.LayerChart | alt.FacetChart:
    """Returns bars for visible keys, marks for masked ones, and the key under the pointer; `even`: the uniform weight.

    The value under the pointer is written above the bars, where it covers none.
    """
    y["scale"].range = [height, TOP]  # pyright: ignore[reportAttributeAccessIssue]  its scale, as `_step` and `axis` set it
    across = alt.Scale(domain=[-0.5, keys - 0.5], nice=False)
    axis = _keys(labels, keys) if last else alt.Axis(labels=False, ticks=False, grid=False)
    title = "key →" if last else None
    base = alt.Chart().encode(x=alt.X("place:Q", title=title, scale=across, axis=axis))
    upright = y.to_dict()["scale"]  # pyright: ignore[reportArgumentType, reportCallIssue]  a dict, once it is made
    floor = alt.Y2Datum(upright["domain"][0] if upright.get("type") == "log" else 0)
    left = alt.X("left:Q", title=title, scale=across, axis=axis)
    wide = alt.Chart().transform_calculate(left=f"datum.place - {HALF}", right=f"datum.place + {HALF}")
    bars = wide.encode(x=left, x2="right:Q", y=y, y2=floor)
    seen = bars.transform_filter("datum.visible").mark_rect(color=theme.QUERY)
    if name in ("dots", "scaled"):
        hidden = bars.transform_filter("!datum.visible").mark_rect(color=theme.HIDDEN, opacity=0.45, aria=False)
    else:
        middle = name in ("logits", "operand") or upright["domain"][0] != 0
        low = (height + TOP) / 2 if middle and upright.get("type") != "log" else height - 4
        cross = base.transform_filter("!datum.visible").mark_text(
            text="×", color=theme.HIDDEN, size=_size(keys), aria=False
        )
        hidden = cross.encode(y=alt.value(low))
    seen = seen.encode(color=_sets()) if name == "weights" else seen
    return alt.layer(hidden, seen, *even, _nearest_key(base, name), *_pointer_rule(base, name)).properties(
        height=height
    )


def _size(keys: int) -> int:
    """Returns the size of the mark of a masked key in pixels."""
    return max(4, min(12, 400 // keys))


def _nearest_key(base: alt.Chart, name: str) -> alt.Chart:
    """Returns the invisible points that the pointer selects, one per key."""
    return (
        base.mark_point(opacity=0, aria=False)
        .encode(y=alt.value(theme.STEP_HEIGHT / 2))
        .properties(name=f"touch_{name}")
    )


def _pointer_rule(base: alt.Chart, name: str) -> list[alt.Chart]:
    """Returns a line through the key under the pointer, and its value as text."""
    here = base.transform_filter({"param": "pointer", "empty": False})
    number = f"format(datum.{name}, '.4')" if name in SIGNED else f"({weight_text(name)})"
    value = f"isValid(datum.{name}) ? {number} : '−∞'"
    token = "datum.token == datum.key ? 'key ' + datum.key : '“' + datum.token + '” (' + datum.key + ')'"
    says = f"({token}) + ': ' + ({value})"
    return [
        here.mark_rule(color=theme.KEY, strokeDash=[4, 3], aria=False),
        here.transform_calculate(says=says)
        .mark_text(align="right", dx=-3, baseline="top", color=theme.KEY, fontSize=12, fontWeight="bold", aria=False)
        .encode(x=alt.value("width"), y=alt.value(2), text="says:N"),
    ]


def _sets() -> alt.Color:
    legend = alt.Legend(orient="bottom", direction="horizontal", title="largest weights that hold")
    shades = [f"{theme.QUERY}{alpha}" for alpha in SETS.values()]
    return alt.Color("set:N", scale=alt.Scale(domain=list(SETS), range=shades), legend=legend)


def _keys(labels: tuple[str, ...], keys: int) -> alt.Axis:
    if not labels or keys > LABELLED:
        return _whole(keys)
    return alt.Axis(
        values=list(range(keys)), labelExpr=names(labels), labelAngle=-45, labelLimit=70, grid=False, labelOverlap=False
    )
