"""How a row of weights came about: a panel a step over the same keys, with one order and one pointer (Altair).

Charts are made without their data, so that they are built once for all rows that look alike. The columns of the table
are those of `tables.stages`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import altair as alt

from attention.charts import theme
from attention.charts.row import quoted

LABELLED = 48  # keys up to which the axis carries their tokens
TITLES = {"dots": "q · k", "scaled": "scaled", "logits": "logit", "weights": "weight"}
SETS = ("50 %", "90 %", "99 %", "rest")
STRENGTH = (1.0, 0.7, 0.45, 0.25)


def reach(greatest: float) -> float:
    """The next of 1, 2, 5, 10, 20 … above: where an axis ends, so that it stands still while a slider moves a little."""
    if not 0 < greatest < math.inf:
        return 1.0
    power = 10 ** math.floor(math.log10(greatest))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= greatest * (1 - 1e-12))


@lru_cache(maxsize=64)
def panels(labels: tuple[str, ...], keys: int, dots: float, logits: float, colors: str = "linear") -> dict[str, Any]:
    """Dot products, scaled, logits and weights over the keys, as one Vega-Lite specification.

    `labels`: the tokens in the order drawn, () for none; `dots` and `logits`: where those axes end on both sides.
    """
    pointer = alt.selection_point(
        name="pointer", fields=["place"], on="pointermove", clear="pointerout", nearest=True, empty=False
    )
    ends = {"dots": dots, "scaled": logits, "logits": logits}
    views = [_panel(name, keys, alt.Scale(domain=[-end, end]), pointer, ()) for name, end in ends.items()]
    views.append(_panel("weights", keys, _weights(colors), pointer, labels, last=True))
    chart = alt.vconcat(*views, spacing=6).resolve_scale(x="shared")
    return bare(chart)


def bare(chart: Any) -> dict[str, Any]:
    """The specification of a chart without data, which gives way to the width that it gets."""
    spec = {name: part for name, part in chart.to_dict().items() if name not in ("data", "datasets")}
    return spec | {"autosize": {"type": "fit-x", "contains": "padding"}} if "vconcat" in spec else spec


def _weights(colors: str) -> alt.Scale:
    if colors == "log":
        return alt.Scale(type="log", domain=[theme.LOG_FLOOR, 1], clamp=True)
    return alt.Scale(zero=True, nice=False) if colors == "own maximum" else alt.Scale(domain=[0, 1])


def _panel(name: str, keys: int, scale: alt.Scale, pointer: Any, labels: tuple[str, ...], last: bool = False) -> Any:
    x = alt.X(
        "place:Q",
        title="key →" if last else None,
        scale=alt.Scale(domain=[-0.5, keys - 0.5], nice=False),
        axis=_axis(labels, keys) if last else alt.Axis(labels=False, ticks=False, grid=False),
    )
    title = f"log {TITLES[name]}" if getattr(scale, "type", None) == "log" else TITLES[name]
    y = alt.Y(f"{name}:Q", title=title, scale=scale, axis=alt.Axis(tickCount=3, minExtent=34, maxExtent=34))
    base = alt.Chart().encode(x=x)
    wide = {"width": {"band": 0.8}} if keys <= LABELLED else {"width": max(1, 560 // keys)}
    fine = f"isValid(datum.{name}) && datum.visible"
    shown = base.transform_filter(fine).mark_bar(color=theme.QUERY, **_width(keys)).encode(y=y)
    if last:
        shown = shown.encode(opacity=_sets())
    del wide
    hidden = base.transform_filter("!datum.visible").mark_tick(color=theme.HIDDEN, thickness=1.5, **_tick(keys))
    if name in ("dots", "scaled"):
        hidden = base.transform_filter("!datum.visible").mark_bar(color=theme.HIDDEN, opacity=0.4, **_width(keys))
        hidden = hidden.encode(y=y)
    else:
        hidden = hidden.encode(y=alt.YDatum(theme.LOG_FLOOR if getattr(scale, "type", None) == "log" else 0))
    rule = base.transform_filter(pointer).mark_rule(color=theme.KEY, strokeDash=[4, 3])
    said = (
        base.transform_filter(pointer)
        .transform_calculate(says=_said(name))
        .mark_text(align="right", baseline="top", color=theme.KEY, fontSize=12, fontWeight="bold")
        .encode(x=alt.value("width"), y=alt.value(2), text="says:N")
    )
    touch = base.mark_point(opacity=0).encode(y=alt.value(theme.STEP_HEIGHT / 2))
    views = [hidden, shown, touch.add_params(pointer) if name == "dots" else touch, rule, said]
    return alt.layer(*views).properties(height=theme.STEP_HEIGHT, width="container")


def _width(keys: int) -> dict[str, Any]:
    return {"width": max(1, min(24, 500 // keys))}


def _tick(keys: int) -> dict[str, Any]:
    return {"orient": "horizontal", "size": max(2, min(12, 400 // keys))}


def _said(name: str) -> str:
    value = f"isValid(datum.{name}) ? format(datum.{name}, '.4') : 'hidden'"
    return f"'key ' + datum.key + ' ' + datum.token + ':  ' + ({value})"


def _sets() -> alt.Opacity:
    scale = alt.Scale(domain=list(SETS), range=list(STRENGTH))
    legend = alt.Legend(orient="bottom", direction="horizontal", title="smallest set that holds")
    return alt.Opacity("set:N", scale=scale, legend=legend)


def _axis(labels: tuple[str, ...], keys: int) -> alt.Axis:
    if not labels:
        return alt.Axis(tickMinStep=1, grid=False)
    places = list(range(keys))
    names = ", ".join(quoted(label) for label in labels)
    return alt.Axis(
        values=places, labelExpr=f"[{names}][datum.value]", labelAngle=-45, labelLimit=70, grid=False, labelOverlap=True
    )
