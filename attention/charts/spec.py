"""A chart of Altair as a Vega-Lite specification that is made once and gets its data with each use."""

from __future__ import annotations

from typing import Any

import altair as alt

DATA = "source"  # what Streamlit calls the data of a chart
# Words of a chart have the colour of the page's own, in either theme: Streamlit's grey is too faint on a light page.
INK = {"labelColor": "currentColor", "titleColor": "currentColor", "labelOpacity": 0.8, "titleOpacity": 0.8}


def dataless(chart: alt.TopLevelMixin, validate: bool = True) -> dict[str, Any]:
    """The specification of a chart that was made without data; to `validate` one of many layers takes long."""
    spec = _bare(chart.to_dict(validate=validate))
    return spec | {"config": spec.get("config", {}) | {"axis": INK, "legend": INK}}


def empty(spec: dict[str, Any]) -> dict[str, Any]:
    """The same for a row that sees nothing: marks that are not there are no pictures, which would need names."""
    return spec | {"config": spec["config"] | {"mark": {"aria": False}}}


def _bare(spec: dict[str, Any]) -> dict[str, Any]:
    """Without the empty data that every part of such a chart brings along."""
    kept = {name: part for name, part in spec.items() if name not in ("data", "datasets")}
    parts = {name: [_bare(part) for part in kept[name]] for name in ("layer", "vconcat") if name in kept}
    return kept | parts
