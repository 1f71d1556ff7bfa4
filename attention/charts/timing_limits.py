"""The limits of devices in charts of timings: measured ones as roofs of rates, and those of data sheets as least times."""

from __future__ import annotations

from collections.abc import Mapping
from math import log10

import plotly.graph_objects as go

from attention.charts import open_marks
from attention.charts import timing_marks as marks
from attention.charts.theme import PLOTLY_TEXT
from attention.charts.timing_look import SHEETS
from attention.timing import comparison
from attention.timing.data_sheets import DATA_SHEETS
from attention.timing.recordings import Timing
from attention.timing.units import seconds


def roof(
    figure: go.Figure,
    name: str,
    timings: list[Timing],
    short: str = "",
    by_length: bool = False,
    is_crowded: bool = False,
) -> None:
    """Adds the best operations and bytes per second of a device in one dtype: a thin grey line without marks.

    It is over operations per byte, or (`by_length`) over the length. If a matrix product was slower than one of the timings, as
    on a busy machine, the ceiling is that of the timing. `short`: the name of the device in the chart, if it has several.
    `is_crowded`: whether lines have their names in a legend; that of the limit is above its end all the same.
    """
    peaks = [(t.peak_operations, t.peak_traffic) for t in timings if t.peak_operations and t.peak_traffic]
    if not peaks:
        return
    product, slope = (max(values) for values in zip(*peaks, strict=True))
    ceiling = max(product, *map(comparison.rate, timings))
    if by_length:
        at = dict(sorted((timing.length, comparison.intensity(timing)) for timing in timings))
    else:
        ends = [comparison.intensity(timing) for timing in timings] + [ceiling / slope]
        at = {x: x for x in sorted({min(ends) / 2, ceiling / slope, max(ends) * 2})}
    what = "matrix product" if ceiling == product else "fastest timing"
    best = f"{what} {ceiling / 1e9:,.1f} GFLOP/s, copying {slope / 1e9:,.1f} GB/s"
    named = f"limit of {short}" if short else "limit"
    figure.add_scatter(
        x=list(at),
        y=[min(ceiling, slope * intensity) for intensity in at.values()],
        name=named,
        meta=None if is_crowded else named,
        showlegend=False if is_crowded else None,
        mode="lines",
        line={"color": "gray", "width": 1.5},
        hovertemplate=f"{marks.wrap_hover_label(f'limit: {name}')}<br>{best}<br>%{{y:.3s}}FLOP/s here<extra></extra>",
    )
    if is_crowded:
        x, intensity = max(at.items())
        place = {"x": log10(x), "y": log10(min(ceiling, slope * intensity)), "xanchor": "right", "yanchor": "bottom"}
        figure.add_annotation(text=named, showarrow=False, font={"size": 11, "color": PLOTLY_TEXT}, **place)


def limit(figure: go.Figure, name: str, line: Mapping[int, float]) -> None:
    """Adds the least time that a GPU can take by its data sheet, which nothing was measured to reach."""
    label = f"{DATA_SHEETS[name].name}, limit by its data sheet"
    wrapped = marks.wrap_hover_label(label)
    figure.add_scatter(
        x=list(line),
        y=list(line.values()),
        name=marks.wrap_label(label),
        meta=f"{name}, limit by its data sheet",
        mode="lines",
        line={"dash": "dashdot", "width": 1.5, "color": SHEETS[name]},
        legendrank=open_marks.LAST,
        customdata=[[f"{length:,}", seconds(least)] for length, least in line.items()],
        hovertemplate=f"{wrapped}<br>%{{customdata[0]}} tokens<br>at least %{{customdata[1]}}<extra></extra>",
    )
