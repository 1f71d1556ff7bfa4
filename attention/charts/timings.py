"""Timings (Plotly): time, speed-up, roofline, memory and transfer, each against the length.

Every name in a figure comes from `recordings.labels`, so that what was recorded elsewhere says so, with its device.
What they are drawn with is in `timing_marks.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attention.charts import theme
from attention.charts import timing_marks as marks
from attention.charts.timing_marks import HEIGHT
from attention.timing import comparison, footprint
from attention.timing.recordings import Timing, lines

GUIDES = ("dot", "dashdot", "longdashdot")  # how the matrices are drawn that memory stands beside
PARTS = {"compute": "median", "to the device": "to_device", "results back": "from_device"}


def seconds(timings: Sequence[Timing], lengths: Iterable[int] = ()) -> go.Figure:
    """Median time against length with the band between the quartiles, both axes logarithmic.

    `lengths` fixes the axis while points are still to come. What ran out of memory is named at its length.
    """
    figure, look = marks.figure(timings, "seconds a call", lengths)
    for label, line in lines(timings).items():
        points = comparison.measured(line)
        quartiles = [(p.spread.lower, p.spread.upper) if p.spread.banded else None for p in points]
        marks.band(figure, label, points, quartiles, look)
        hover = [marks.told(point) for point in points]
        marks.line(figure, label, points, [point.spread.median for point in points], hover, look)
    marks.errors(figure, timings)
    figure.update_yaxes(tickformat="~s", ticksuffix="s")
    return figure


def speed_up(timings: Sequence[Timing], transfer: bool = False) -> go.Figure:
    """How many times faster than the CPU each other device is, with its uncertainty; the crossover is a mark at one.

    With `transfer`, the way to the device and back counts.
    """
    figure, look = marks.figure(timings, "times faster than the CPU", ())
    found = lines(timings)
    for base, other in comparison.across_devices(found, lambda timing: timing.device == "cpu"):
        points = comparison.speed_ups(found[base], found[other], transfer)
        if points:
            label = f"{other} against {found[base][0].origin}"
            like = [timing for timing in found[other] if timing.length in {point.length for point in points}]
            ends = [(p.low, p.high) if p.low is not None and p.high is not None else None for p in points]
            marks.band(figure, label, like, ends, look)
            between = [
                f" ({end[0]:.3g} to {end[1]:.3g})" if end else ", timed too few times to say more" for end in ends
            ]
            hover = [f"{p.ratio:.3g} times{known}" for p, known in zip(points, between, strict=True)]
            marks.line(figure, label, like, [p.ratio for p in points], hover, look)
            marks.star(figure, label, points, look.color(like[0]))
    figure.add_hline(y=1, line={"width": 1, "dash": "dot", "color": "gray"})
    figure.update_yaxes(tickformat=",~g")
    return figure


def roofline(timings: Sequence[Timing]) -> go.Figure:
    """Operations a second against operations for each byte that must move, under what the device reached at best.

    The slope is its copying speed, the ceiling its matrix product, both measured in the same run (Williams, Waterman
    and Patterson 2009). A point may stand above the slope, where caches hold what would have to move, and not above
    the ceiling.
    """
    figure, look = marks.figure(timings, "operations a second", ())
    found = lines(timings)
    for origin, dtype in sorted({(timing.origin, timing.dtype) for timing in timings}):
        here = [timing for timing in timings if (timing.origin, timing.dtype) == (origin, dtype)]
        marks.roof(figure, f"{origin} · {dtype}", comparison.measured(here), look)
    for label, line in found.items():
        points = comparison.measured(line)
        xs, ys = [comparison.intensity(p) for p in points], [comparison.rate(p) for p in points]
        marks.line(figure, label, points, ys, [marks.told(point) for point in points], look, xs=xs)
    figure.update_xaxes(title="operations a byte", tickvals=None, dtick=1, autorange=True)
    figure.update_yaxes(tickformat="~s", ticksuffix="FLOP/s")
    return figure


def memory(timings: Sequence[Timing], lengths: Iterable[int] = ()) -> go.Figure:
    """Bytes held at the peak beyond the inputs, beside what one matrix of n x n a head takes.

    On a CPU, what is under the resolution of a process's resident size (1 MiB) is left out.
    """
    figure, look = marks.figure(timings, "peak bytes beyond the inputs", lengths)
    for label, line in lines(timings).items():
        points = [timing for timing in comparison.measured(line) if (timing.peak_bytes or 0) >= _least(timing)]
        peaks = [timing.peak_bytes or 0 for timing in points]
        marks.line(figure, label, points, peaks, [f"{peak / 2**20:,.1f} MiB" for peak in peaks], look)
    _guides(figure, timings)
    figure.update_yaxes(tickformat="~s", ticksuffix="B")
    return figure


def _guides(figure: go.Figure, timings: Sequence[Timing]) -> None:
    """One matrix of n x n a head, for each batch, heads and width of a number that there are; none of too many."""
    found: dict[tuple[int, int, int], set[int]] = {}
    for timing in timings:
        found.setdefault((timing.batch, timing.heads, _bytes(timing)), set()).add(timing.length)
    if len(found) > len(GUIDES):
        return
    for dash, ((batch, heads, size), lengths) in zip(GUIDES, found.items(), strict=False):
        of = f": batch {batch}, {heads} heads, {size} bytes a number" if len(found) > 1 else ""
        name, xs = f"one n x n matrix a head{of}", sorted(lengths)
        figure.add_scatter(
            x=xs,
            y=[batch * heads * n**2 * size for n in xs],
            name=marks.named(name),
            mode="lines",
            line={"dash": dash, "width": 1, "color": "gray"},
            hovertemplate=f"{marks.hovered(name)}<br>%{{y:.3s}}B<extra></extra>",
        )


def transfer(timings: Sequence[Timing]) -> go.Figure:
    """What share of a call with its transfer is computing, the way to the device and the way back, line by line."""
    found = {label: [t for t in comparison.measured(line) if t.to_device] for label, line in lines(timings).items()}
    found = {label: line for label, line in found.items() if line}
    height = max(HEIGHT, 110 + 200 * len(found))
    titles, gap = (
        [marks.named(label) for label in found],
        {"vertical_spacing": min(100 / height, 0.9 / max(1, len(found)))},
    )
    figure = make_subplots(max(1, len(found)), 1, subplot_titles=titles, **gap)  # pyright: ignore[reportArgumentType]  one option, a gap
    for at, (label, line) in enumerate(found.items(), start=1):
        for color, (part, name) in zip(theme.HEADS, PARTS.items(), strict=False):
            values = [timing.spread.median if name == "median" else getattr(timing, name) for timing in line]
            hover = f"{marks.hovered(label)}<br>%{{x}} tokens<br>{part}: %{{customdata}} (%{{y:.0f}} %)<extra></extra>"
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
    margin = {"t": 70, "b": 10, "l": 10, "r": 10}  # room for buttons and the first title
    legend = marks.legend([timing for line in found.values() for timing in line])
    figure.update_layout(height=height, barmode="stack", barnorm="percent", margin=margin, legend=legend)
    figure.update_annotations(font_size=12, x=0, xanchor="left", align="left")
    figure.update_xaxes(type="category")
    figure.update_yaxes(ticksuffix=" %", nticks=3)
    return figure


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
