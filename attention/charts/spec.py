"""Altair charts as Vega-Lite specifications that are built once and get their data with each use."""

from __future__ import annotations

from typing import Any

import altair as alt

from attention.charts import theme

VALIDATE = False  # against Vega-Lite's schema, which takes longer than building the chart: the tests do
DATA = "source"  # the name that Streamlit gives to the data of a chart
# The text of a chart has the text colour of the page, in either theme: Streamlit's grey is too faint on a light page.
INK = {"labelColor": "currentColor", "titleColor": "currentColor", "labelOpacity": 0.8, "titleOpacity": 0.8}


def dataless(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """Returns the specification of a chart without data."""
    spec = _bare(chart.to_dict(validate=VALIDATE))
    return spec | {"config": spec.get("config", {}) | {"axis": INK, "legend": INK}}


def color_key(title: str | None, orient: str, form: str | None = None, values: list[float] | None = None) -> alt.Legend:
    """Returns the key of a scale of colours, with a square per value: `values`, or round ones.

    A gradient vanishes once the address of the page changes, as Vega refers to it by the address.
    """
    more: dict[str, Any] = ({"format": form} if form else {}) | ({"values": values} if values else {})
    return alt.Legend(
        title=title or None,
        orient=orient,  # pyright: ignore[reportArgumentType]  "top" or "bottom"
        type="symbol",
        symbolType="square",
        symbolSize=150,
        symbolStrokeColor=theme.HIDDEN,
        symbolStrokeWidth=1,
        tickCount=3,
        offset=4,
        **more,
    )


def channel(encoded: alt.X | alt.Y) -> dict[str, Any]:
    """Returns a channel as a dictionary."""
    found: Any = encoded.to_dict()
    return found


def layer(chart: alt.Chart) -> dict[str, Any]:
    """Returns a chart as a layer of one that is written as dictionaries."""
    return {name: part for name, part in dataless(chart).items() if name not in ("$schema", "config")}


def finish(parts: dict[str, Any]) -> dict[str, Any]:
    """Returns the specification of a chart whose parts were written as dictionaries, which takes Altair much longer."""
    spec = {"$schema": alt.SCHEMA_URL, "config": {"axis": INK, "legend": INK}} | parts
    if VALIDATE:
        alt.Root.validate(spec)
    return spec


def empty(spec: dict[str, Any]) -> dict[str, Any]:
    """Returns the specification for a fully masked row: it has no marks, so it must not describe them as images to ARIA."""
    return spec | {"config": spec["config"] | {"mark": {"aria": False}}}


def _bare(spec: dict[str, Any]) -> dict[str, Any]:
    """Removes the empty data that every part of such a chart contains."""
    kept = {name: part for name, part in spec.items() if name not in ("data", "datasets")}
    parts = {name: [_bare(part) for part in kept[name]] for name in ("layer", "vconcat") if name in kept}
    return kept | parts
