"""Timings (Plotly): time, speed-up, roofline, memory and transfer, each against the length.

Every name in a figure comes from `recordings.labels`, so that what was recorded elsewhere says so, with its device.
A colour is an implementation, a symbol a device, a dashed line was recorded, an open mark did not settle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from math import log10
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attention import comparison, footprint
from attention.charts import theme
from attention.comparison import SpeedUp
from attention.implementations import IMPLEMENTATIONS
from attention.recordings import Timing, lines, place

HEIGHT = 460
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "star")
COLORS = (*theme.HEADS, "#a6761d", "#17becf", "#e7298a", "#66a61e", "#ff7f7f", "#8a8a8a")
FAINT = 0.16  # opacity of a band
ERRORS = 12  # lengths at which something ran out of memory that are named in a chart, at the most
PARTS = {"compute": "median", "to the device": "to_device", "results back": "from_device"}


@dataclass(frozen=True)
class Look:
    """How the lines of a figure look, the same in every chart of the same timings."""

    origins: tuple[str, ...]

    def color(self, timing: Timing) -> str:
        names = list(IMPLEMENTATIONS)
        at = names.index(timing.implementation) if timing.implementation in names else len(names)
        return COLORS[at % len(COLORS)]

    def symbol(self, timing: Timing) -> str:
        return SYMBOLS[self.origins.index(timing.origin) % len(SYMBOLS)] + ("" if timing.settled else "-open")

    def dash(self, timing: Timing) -> str:
        return "dash" if timing.source else "solid"


def seconds(timings: Sequence[Timing], lengths: Iterable[int] = ()) -> go.Figure:
    """Median time against length with the band between the quartiles, both axes logarithmic.

    `lengths` fixes the axis while points are still to come. What ran out of memory is named at its length.
    """
    figure, look = _figure(timings, "seconds a call", lengths)
    for label, line in lines(timings).items():
        points = comparison.measured(line)
        _band(figure, label, points, [p.spread.lower for p in points], [p.spread.upper for p in points], look)
        hover = [_told(point) for point in points]
        _line(figure, label, points, [point.spread.median for point in points], hover, look)
    _name_errors(figure, timings)
    figure.update_yaxes(tickformat="~s", ticksuffix="s")
    return figure


def speed_up(timings: Sequence[Timing], transfer: bool = False) -> go.Figure:
    """How many times faster than the CPU each other device is, with its uncertainty; the crossover is a mark at one.

    With `transfer`, the way to the device and back counts.
    """
    figure, look = _figure(timings, "times faster than the CPU", ())
    found = lines(timings)
    for base, other in comparison.across_devices(found, lambda timing: timing.device == "cpu"):
        points = comparison.speed_ups(found[base], found[other], transfer)
        if points:
            label = f"{other} against {found[base][0].origin}"
            like = [timing for timing in found[other] if timing.length in {point.length for point in points}]
            _band(figure, label, like, [p.low for p in points], [p.high for p in points], look)
            hover = [f"{p.ratio:.3g} times ({p.low:.3g} to {p.high:.3g})" for p in points]
            _line(figure, label, like, [p.ratio for p in points], hover, look)
            _mark_crossover(figure, label, points, look.color(like[0]))
    figure.add_hline(y=1, line={"width": 1, "dash": "dot", "color": "gray"})
    figure.update_yaxes(tickformat=",~g")
    return figure


def roofline(timings: Sequence[Timing]) -> go.Figure:
    """Operations a second against operations for each byte that must move, under what the device reached at best.

    The slope is its copying speed, the ceiling its matrix product, both measured in the same run (Williams, Waterman
    and Patterson 2009). A point may stand above the slope, where caches hold what would have to move, and not above
    the ceiling.
    """
    figure, look = _figure(timings, "operations a second", ())
    found = lines(timings)
    for origin, dtype in sorted({(timing.origin, timing.dtype) for timing in timings}):
        here = [timing for timing in timings if (timing.origin, timing.dtype) == (origin, dtype)]
        _roof(figure, f"{origin} · {dtype}", comparison.measured(here))
    for label, line in found.items():
        points = comparison.measured(line)
        xs, ys = [comparison.intensity(p) for p in points], [comparison.rate(p) for p in points]
        _line(figure, label, points, ys, [_told(point) for point in points], look, xs=xs)
    figure.update_xaxes(title="operations a byte", tickvals=None, dtick=1, autorange=True)
    figure.update_yaxes(tickformat="~s", ticksuffix="FLOP/s")
    return figure


def memory(timings: Sequence[Timing], lengths: Iterable[int] = ()) -> go.Figure:
    """Bytes held at the peak beyond the inputs, beside what one matrix of n x n a head takes.

    On a CPU, what is under the resolution of a process's resident size (1 MiB) is left out.
    """
    figure, look = _figure(timings, "peak bytes beyond the inputs", lengths)
    for label, line in lines(timings).items():
        points = [timing for timing in comparison.measured(line) if (timing.peak_bytes or 0) >= _least(timing)]
        peaks = [timing.peak_bytes or 0 for timing in points]
        _line(figure, label, points, peaks, [f"{peak / 2**20:,.1f} MiB" for peak in peaks], look)
    sizes = {timing.length: timing.batch * timing.heads * timing.length**2 * _bytes(timing) for timing in timings}
    xs, ys = sorted(sizes), [sizes[length] for length in sorted(sizes)]
    guide = {"mode": "lines", "line": {"dash": "dot", "width": 1, "color": "gray"}, "hoverinfo": "skip"}
    figure.add_scatter(x=xs, y=ys, name="one n x n matrix a head", **guide)
    figure.update_yaxes(tickformat="~s", ticksuffix="B")
    return figure


def transfer(timings: Sequence[Timing]) -> go.Figure:
    """What share of a call with its transfer is computing, the way to the device and the way back, line by line."""
    found = {label: [t for t in comparison.measured(line) if t.to_device] for label, line in lines(timings).items()}
    found = {label: line for label, line in found.items() if line}
    figure = make_subplots(max(1, len(found)), 1, subplot_titles=[escape(label) for label in found])
    for at, (label, line) in enumerate(found.items(), start=1):
        for color, (part, name) in zip(theme.HEADS, PARTS.items(), strict=False):
            values = [timing.spread.median if name == "median" else getattr(timing, name) for timing in line]
            hover = f"{escape(label)}<br>%{{x}} tokens<br>{part}: %{{customdata}} (%{{y:.0f}} %)<extra></extra>"
            figure.add_bar(
                x=[f"{timing.length:,}" for timing in line],
                y=values,
                customdata=[f"{value:.3e} s" for value in values],
                name=part,
                legendgroup=part,
                showlegend=at == 1,
                marker_color=color,
                hovertemplate=hover,
                row=at,
                col=1,
            )
    height = max(HEIGHT, 90 + 150 * len(found))
    margin = {"t": 40, "b": 10, "l": 10, "r": 10}
    top = {"orientation": "h", "yanchor": "bottom", "y": 1 + 30 / height, "x": 0}
    figure.update_layout(height=height, barmode="stack", barnorm="percent", margin=margin, legend=top)
    figure.update_xaxes(type="category")
    figure.update_yaxes(ticksuffix=" %", nticks=3)
    return figure


LEGEND: dict[str, Any] = {"orientation": "h", "yanchor": "top", "y": -0.18, "x": 0, "xanchor": "left"}


def _figure(timings: Sequence[Timing], y: str, lengths: Iterable[int]) -> tuple[go.Figure, Look]:
    """An empty figure over length, both axes logarithmic."""
    at = sorted({*lengths, *(timing.length for timing in timings)})
    axis: dict[str, Any] = {"type": "log", "title": "length (tokens)"}
    if at:
        ticks = [n for n in at if n & (n - 1) == 0] or at
        ticks = ticks[:: max(1, len(ticks) // 12)]
        axis |= {
            "tickvals": ticks,
            "ticktext": [f"{n:,}" for n in ticks],
            "range": [log10(at[0]) - 0.1, log10(at[-1]) + 0.1],
        }
    margin = {"t": 20, "b": 10, "l": 10, "r": 10}
    legend = LEGEND | ({"title": {"text": f"{escape(place(timings))}  "}} if place(timings) else {})
    layout = {"height": HEIGHT, "margin": margin, "legend": legend, "hovermode": "closest", "xaxis": axis}
    figure = go.Figure(layout=layout)
    figure.update_yaxes(type="log", title=y, exponentformat="power", dtick=1)
    return figure, Look(tuple(dict.fromkeys(timing.origin for timing in timings)))


def _line(
    figure: go.Figure,
    label: str,
    points: Sequence[Timing],
    ys: list,
    hover: list[str],
    look: Look,
    xs: list | None = None,
) -> None:
    if not points:
        return
    color = look.color(points[0])
    figure.add_scatter(
        x=xs if xs is not None else [point.length for point in points],
        y=ys,
        name=label,
        legendgroup=label,
        mode="lines+markers",
        line={"color": color, "width": 2, "dash": look.dash(points[0])},
        marker={"symbol": [look.symbol(point) for point in points], "size": 8, "color": color},
        customdata=[[f"{point.length:,}", text] for point, text in zip(points, hover, strict=True)],
        hovertemplate=f"{escape(label)}<br>%{{customdata[0]}} tokens<br>%{{customdata[1]}}<extra></extra>",
    )


def _band(figure: go.Figure, label: str, points: Sequence[Timing], low: list, high: list, look: Look) -> None:
    """The area between the lower and the upper values, in the colour of its line."""
    if points:
        xs = [point.length for point in points]
        figure.add_scatter(
            x=[*xs, *reversed(xs)],
            y=[*high, *reversed(low)],
            name=label,
            legendgroup=label,
            showlegend=False,
            fill="toself",
            fillcolor=look.color(points[0]),
            opacity=FAINT,
            line={"width": 0},
            mode="lines",
            hoverinfo="skip",
        )


def _mark_crossover(figure: go.Figure, label: str, points: list[SpeedUp], color: str) -> None:
    """A star where the ratio crosses one, with the range that its uncertainty leaves."""
    found = comparison.crossover(points)
    if found is None or found.length is None or found.length <= found.shortest:
        return
    reach = (found.high or found.longest) - found.length, found.length - (found.low or found.shortest)
    figure.add_scatter(
        x=[found.length],
        y=[1],
        name=f"{label}: crossover",
        legendgroup=label,
        showlegend=False,
        mode="markers",
        marker={"symbol": "star", "size": 15, "color": color, "line": {"width": 1, "color": "white"}},
        error_x={"type": "data", "symmetric": False, "array": [reach[0]], "arrayminus": [reach[1]], "color": color},
        hovertemplate=f"{escape(label)}<br>{found.sentence}<extra></extra>",
    )


def _roof(figure: go.Figure, name: str, timings: list[Timing]) -> None:
    peaks = [(t.peak_operations, t.peak_traffic) for t in timings if t.peak_operations and t.peak_traffic]
    if not peaks:
        return
    ceiling, slope = (max(values) for values in zip(*peaks, strict=True))
    ends = [comparison.intensity(timing) for timing in timings] + [ceiling / slope]
    xs = sorted({min(ends) / 2, ceiling / slope, max(ends) * 2})
    ys = [min(ceiling, slope * x) for x in xs]
    style = {"color": "gray", "width": 1.5, "dash": "dash" if timings[0].source else "solid"}
    figure.add_scatter(
        x=xs, y=ys, name=f"roof: {name}", mode="lines", line=style, hovertemplate="%{y:.3s}FLOP/s<extra></extra>"
    )


def _told(timing: Timing) -> str:
    """What is said about a point: median, quartiles, rate and share, and whether it settled."""
    found = timing.spread
    parts = [f"{found.median:.3e} s ({found.lower:.3e} to {found.upper:.3e}) over {found.repeats} blocks"]
    if (share := comparison.share(timing)) is not None:
        parts.append(f"{comparison.rate(timing) / 1e9:,.1f} GFLOP/s, {share:.0%} of the measured matrix product")
    if not timing.settled:
        parts.append("the quartiles stayed over 10 % of the median apart")
    return "<br>".join(parts)


def _name_errors(figure: go.Figure, timings: Sequence[Timing]) -> None:
    found: dict[int, list[str]] = {}
    for label, line in lines(timings).items():
        for timing in line:
            if (timing.error or "").startswith("out of memory"):
                found.setdefault(timing.length, []).append(escape(label))
    for length in sorted(found)[:ERRORS]:
        figure.add_annotation(
            x=log10(length),
            y=0.01,
            yref="paper",
            yanchor="bottom",
            textangle=-90,
            text=f"{len(found[length])} out of memory",
            hovertext="<br>".join(found[length]),
            showarrow=False,
            font={"size": 11, "color": "gray"},
        )


def _least(timing: Timing) -> int:
    return footprint.RESOLUTION if timing.device == "cpu" else 1


def _bytes(timing: Timing) -> int:
    return {"float32": 4}.get(timing.dtype, 2)


CHARTS: dict[str, Callable[..., go.Figure]] = {
    "time": seconds,
    "speed-up": speed_up,
    "roofline": roofline,
    "memory": memory,
    "transfer": transfer,
}
