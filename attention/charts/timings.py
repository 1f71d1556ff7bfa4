"""Timings (Plotly): time, speed-up, roofline, memory and transfer, each against the length.

Every name in a figure comes from `recordings.labels`, so that what was recorded elsewhere says so, with its device.
What they are drawn with is in `timing_marks.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import log10

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attention.charts import theme
from attention.charts import timing_marks as marks
from attention.charts.timing_marks import HEIGHT
from attention.number_format import format_percent
from attention.timing import comparison, convergence, footprint
from attention.timing.comparison import SpeedUp
from attention.timing.recordings import Timing, lines
from attention.timing.units import seconds as told_seconds

NARROW = 50  # times the least of an axis of rates up to which its ticks double, so that there are some
GUIDES = ("dot", "dashdot", "longdashdot")  # how the matrices are drawn that memory stands beside
PARTS = {"compute": "seconds", "to the device": "to_device", "results back": "from_device"}


def seconds(timings: Sequence[Timing], lengths: Iterable[int] = ()) -> go.Figure:
    """Time at its quickest against length, with the band up to the upper quartile, both axes logarithmic.

    `lengths` fixes the axis while points are still to come. What ran out of memory is named at its length.
    """
    figure, look = marks.figure(timings, "seconds a call", lengths)
    for label, line in lines(timings).items():
        points = comparison.with_times(line)
        marks.band(figure, label, points, [p.spread.band if p.settled else None for p in points], look)
        marks.line(figure, label, points, [p.seconds for p in points], [marks.describe_point(p) for p in points], look)
    marks.errors(figure, timings)
    figure.update_yaxes(tickformat="~s", ticksuffix="s")
    return figure


def speed_up(timings: Sequence[Timing], transfer: bool = False, against: str = comparison.CPU) -> go.Figure:
    """How many times faster than the CPU each other device is, or than one implementation the others of the same work.

    With its uncertainty; the crossover is a mark at one. With `transfer`, the way to the device and back counts.
    """
    figure, look = marks.figure(timings, f"times faster than {against}", ())
    found = lines(timings)
    for base, other in comparison.pairs(found, against):
        points = comparison.speed_ups(found[base], found[other], transfer)
        label = f"{other} against {found[base][0].origin}" if against == comparison.CPU else other
        like = [timing for timing in found[other] if timing.length in {point.length for point in points}]
        marks.band(figure, label, like, [_ends(point) for point in points], look)
        hover = [_ratio(point, against) for point in points]
        marks.line(figure, label, like, [p.ratio for p in points], hover, look, settled=[p.settled for p in points])
        marks.star(figure, label, points, look.color(like[0]))
    figure.add_hline(y=1, line={"width": 1, "dash": "dot", "color": "gray"})
    figure.update_yaxes(tickformat=",~g")
    return figure


def _ends(point: SpeedUp) -> tuple[float, float] | None:
    """Between what a ratio lies, where both of its times settled."""
    return (point.low, point.high) if point.settled and point.low is not None and point.high is not None else None


def _ratio(point: SpeedUp, against: str) -> str:
    """A ratio in words, and whether it stands on times that settled."""
    end = _ends(point)
    said = [f"{point.ratio:.3g} times as fast as {against}" + (f" ({end[0]:.3g} to {end[1]:.3g})" if end else "")]
    said += [] if point.settled else ["a time of the two did not settle"]
    return "<br>".join(map(marks.wrap_hover_label, said))


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
        marks.roof(figure, f"{origin} · {dtype}", comparison.with_times(here), look)
    for label, line in found.items():
        points = comparison.with_times(line)
        xs, ys = [comparison.intensity(p) for p in points], [comparison.rate(p) for p in points]
        marks.line(figure, label, points, ys, [marks.describe_point(point) for point in points], look, xs=xs)
    figure.update_xaxes(title="operations a byte", tickvals=None, dtick=1, autorange=True)
    rates = [comparison.rate(timing) for timing in comparison.with_times(timings)]
    narrow = bool(rates) and max(rates) < NARROW * min(rates)
    figure.update_yaxes(tickformat="~s", ticksuffix="FLOP/s", dtick=log10(2) if narrow else 1)
    return figure


def memory(timings: Sequence[Timing], lengths: Iterable[int] = ()) -> go.Figure:
    """Bytes held at the peak beyond the inputs, beside what one matrix of n x n a head takes.

    On a CPU, what is under the resolution of a process's resident size (1 MiB) is left out. Bytes are counted, not timed: a
    point stands firm also where its time did not settle.
    """
    figure, look = marks.figure(timings, "peak bytes beyond the inputs", lengths)
    for label, line in lines(timings).items():
        points = [timing for timing in comparison.with_times(line) if (timing.peak_bytes or 0) >= _least(timing)]
        peaks = [timing.peak_bytes or 0 for timing in points]
        hover = [f"{peak / 2**20:,.1f} MiB" for peak in peaks]
        marks.line(figure, label, points, peaks, hover, look, settled=[True] * len(points))
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
            name=marks.wrap_label(name),
            mode="lines",
            line={"dash": dash, "width": 1, "color": "gray"},
            hovertemplate=f"{marks.wrap_hover_label(name)}<br>%{{y:.3s}}B<extra></extra>",
        )


def transfer(timings: Sequence[Timing]) -> go.Figure:
    """What share of a call with its transfer is computing, the way to the device and the way back, line by line."""
    found = {label: [t for t in comparison.with_times(line) if t.to_device] for label, line in lines(timings).items()}
    found = {label: line for label, line in found.items() if line}
    height = max(HEIGHT, 110 + 200 * len(found))
    titles, gap = (
        [marks.wrap_label(label) for label in found],
        {"vertical_spacing": min(100 / height, 0.9 / max(1, len(found)))},
    )
    figure = make_subplots(max(1, len(found)), 1, subplot_titles=titles, **gap)  # pyright: ignore[reportArgumentType]  one option, a gap
    for at, (label, line) in enumerate(found.items(), start=1):
        for color, (part, name) in zip(theme.HEADS, PARTS.items(), strict=False):
            values = [getattr(timing, name) for timing in line]
            hover = f"{marks.wrap_hover_label(label)}<br>%{{x}} tokens<br>{part}: %{{customdata}}<extra></extra>"
            figure.add_bar(
                x=[f"{timing.length:,}" for timing in line],
                y=values,
                customdata=[_share(value, timing) for value, timing in zip(values, line, strict=True)],
                name=part,
                legendgroup=part,
                showlegend=at == 1,
                marker={"color": color, "opacity": [1 if timing.settled else marks.PALE for timing in line]},
                hovertemplate=hover,
                row=at,
                col=1,
            )
    margin = {"t": 70, "b": 10, "l": 10, "r": 10}  # room for buttons and the first title
    legend = marks.legend([timing for line in found.values() for timing in line])
    figure.update_layout(height=height, barmode="stack", barnorm="percent", margin=margin, legend=legend)
    figure.update_annotations(font_size=12, x=0, xanchor="left", align="left")
    figure.update_xaxes(type="category")
    figure.update_yaxes(ticksuffix="%", nticks=3)
    return figure


def _share(value: float, timing: Timing) -> str:
    """A part of a call with its transfer, in words."""
    whole = timing.seconds + timing.to_device + timing.from_device
    said = [f"{told_seconds(value)} ({format_percent(value / whole)})", convergence.why_not(timing)]
    return "<br>".join(map(marks.wrap_hover_label, filter(None, said)))


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
