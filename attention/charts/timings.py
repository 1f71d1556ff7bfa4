"""Timings (Plotly): time, speed-up, memory and transfer against the length, and the roofline.

Lines have the short names of `timing.line_names`; the foot of a figure says where and when each device was timed.
The parts of the figures are in `timing_marks.py` and `timing_limits.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf, log10

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from attention.charts import theme, timing_limits
from attention.charts import timing_marks as marks
from attention.charts.timing_axes import rate_ticks, ratio_ticks, size_ticks, time_ticks
from attention.charts.timing_look import COPY, GPU, RETURN_COLOR
from attention.number_format import format_percent
from attention.timing import chart_findings, comparison, convergence, footprint, line_names
from attention.timing.comparison import SpeedUp
from attention.timing.recordings import Timing, lines
from attention.timing.units import seconds as told_seconds
from attention.timing.units import size

MOST_WITH_LENGTHS = 3  # lines of a roofline whose ends have their lengths, and whose limits are named beside them
ROOFLINE = 205  # pixels of the width of a roofline on a phone, beside its wide numbers of the axis
GUIDES = ("dot", "dashdot", "longdashdot")  # dashes of the reference lines in the memory chart
PARTS = {  # of a call with its copy: the field of a timing, and the colour
    "compute": ("seconds", GPU[0]),
    "copy to the GPU": ("to_device", COPY[0]),
    "copy back": ("from_device", RETURN_COLOR),
}


def seconds(
    timings: Sequence[Timing], lengths: Iterable[int] = (), limits: Mapping[str, Mapping[int, float]] | None = None
) -> go.Figure:
    """Returns the fastest time against length, with a band up to the upper quartile, on two logarithmic axes.

    `lengths` fixes the axis while points are still being measured. Lengths that ran out of memory are labelled. `limits`: the
    least seconds by length of GPUs, by their data sheets, drawn as thin lines without marks.
    """
    figure, look = marks.figure(timings, "time per call", lengths)
    for label, line in lines(timings).items():
        points = comparison.with_times(line)
        marks.band(figure, label, points, [p.spread.band if p.settled else None for p in points], look)
        marks.line(figure, label, points, [p.seconds for p in points], [marks.describe_time(p) for p in points], look)
    marks.errors(figure, timings)
    for name, line in (limits or {}).items():
        timing_limits.limit(figure, name, line)
    marks.finish(figure, timings, band="pale band: up to the upper quartile of the calls")
    figure.update_yaxes(**time_ticks(*figure.layout.yaxis.range))
    return figure


def speed_up(timings: Sequence[Timing], transfer: bool = False, against: str = comparison.CPU) -> go.Figure:
    """Returns how many times faster each device is than the CPU, or each implementation of the same work than `against`.

    Bands show the uncertainty; a star marks the crossover at one. `transfer`: include the transfer to the device and back.
    """
    figure, look = marks.figure(timings, _ratio_title(against), (), transfer, "speed-up")
    found = lines(timings)
    pairs = comparison.pairs(found, against)
    names = line_names.names_without_machine(timings)
    several = len({found[other][0].origin for _, other in pairs}) > 1
    machines, of_bases = line_names.machine_names(timings), len({found[base][0].origin for base, _ in pairs}) > 1
    for base, other in pairs:
        points = comparison.speed_ups(found[base], found[other], transfer)
        label = f"{other} against {found[base][0].origin}" if against == comparison.CPU else other
        like = [timing for timing in found[other] if timing.length in {point.length for point in points}]
        marks.band(figure, label, like, [_ends(point) for point in points], look)
        hover = [_ratio(point, against) for point in points]
        whys = [
            {t.length: convergence.reason(t) for t in comparison.with_times(found[label])} for label in (base, other)
        ]
        why = [" ".join(filter(None, (of[point.length] for of in whys))) for point in points]
        name = look.names[other] if several else names[other]
        if against == comparison.CPU and of_bases:
            name = f"{name}, against {machines[found[base][0].origin]}"
        ratios = [point.ratio for point in points]
        marks.line(figure, label, like, ratios, hover, look, why=why, name=name)
        if not look.is_pale(like[0]):
            marks.star(figure, label, points, look.color(like[0]))
    figure.add_hline(y=1, line={"width": 1, "dash": "dot", "color": "gray"})
    marks.finish(figure, timings, least=1, band="pale band: uncertainty of the ratio")
    figure.update_yaxes(**ratio_ticks(*figure.layout.yaxis.range))
    return figure


def _ratio_title(against: str) -> str:
    """Returns the title of the axis of ratios: devices are compared with a CPU that runs the same code."""
    return f"times as fast as {'on ' * (against == comparison.CPU)}{against}"


def _ends(point: SpeedUp) -> tuple[float, float] | None:
    """Returns the uncertainty interval of a ratio, None unless both times are stable."""
    return (point.low, point.high) if point.settled and point.low is not None and point.high is not None else None


def _ratio(point: SpeedUp, against: str) -> str:
    """Returns the hover text of a ratio, which says if one of its times is not stable."""
    end = _ends(point)
    said = [f"{point.ratio:.3g} times as fast as {against}" + (f" ({end[0]:.3g} to {end[1]:.3g})" if end else "")]
    said += [] if point.settled else ["one of the two times is unstable"]
    return "<br>".join(map(marks.wrap_hover_label, said))


def roofline(timings: Sequence[Timing]) -> go.Figure:
    """Returns operations per second against operations per byte that must be moved, below the best rates of the device.

    The slope is its copying speed, the ceiling its matrix product, both measured in the same run (Williams, Waterman
    and Patterson 2009). A point may be above the slope, if caches hold the bytes to be moved, but not above the ceiling.
    Timings that all have about as many operations per byte are drawn over their length.
    """
    figure, look = marks.figure(timings, "operations per second", (), chart="roofline")
    by_length = chart_findings.is_of_one_intensity(timings)
    found, machines = lines(timings), line_names.machine_names(timings)
    several, is_crowded = len({timing.dtype for timing in timings}) > 1, len(found) > MOST_WITH_LENGTHS
    roofs = sorted({(timing.origin, timing.dtype) for timing in timings})
    for origin, dtype in roofs:
        here = [timing for timing in timings if (timing.origin, timing.dtype) == (origin, dtype)]
        short = " in ".join([*[machines[origin]] * (len(machines) > 1), *[dtype] * several])
        timing_limits.roof(figure, f"{origin} · {dtype}", comparison.with_times(here), short, by_length, is_crowded)
    for label, line in found.items():
        points = comparison.with_times(line)
        xs, ys = (
            [p.length if by_length else comparison.intensity(p) for p in points],
            [comparison.rate(p) for p in points],
        )
        marks.line(figure, label, points, ys, [marks.describe_rate(point) for point in points], look, xs=xs)
        if points and not is_crowded and look.is_named(points[0]) and chart_findings.rising_lengths(points):
            _name_ends(figure, points, xs, ys)
    if not by_length:
        figure.update_xaxes(title="operations per byte", tickvals=None, dtick=1, tickformat=",", autorange=True)
    marks.finish(figure, timings, below=0.2, narrow=ROOFLINE)
    figure.update_yaxes(**rate_ticks(*figure.layout.yaxis.range))
    return figure


def _name_ends(figure: go.Figure, points: Sequence[Timing], xs: Sequence[float], ys: Sequence[float]) -> None:
    """Writes the shortest length before the first mark of a line, and the longest behind the last."""
    for at, side, shift in ((0, "right", -6), (-1, "left", 6)):
        if 0 < xs[at] < inf and 0 < ys[at] < inf:
            place = {"x": log10(xs[at]), "y": log10(ys[at]), "xanchor": side, "xshift": shift, "showarrow": False}
            figure.add_annotation(text=f"{points[at].length:,}", font={"size": 11, "color": theme.PLOTLY_TEXT}, **place)


def memory(timings: Sequence[Timing], lengths: Iterable[int] = ()) -> go.Figure:
    """Returns the peak bytes beyond the inputs, with reference lines for one n x n matrix per head.

    On a CPU, points below the resolution of a process's resident size (1 MiB) are left out. Bytes are counted, not timed,
    so a point counts as stable even if its time is not.
    """
    figure, look = marks.figure(timings, "peak bytes beyond the inputs", lengths, chart="memory")
    for label, line in lines(timings).items():
        points = [timing for timing in comparison.with_times(line) if (timing.peak_bytes or 0) >= _least(timing)]
        peaks = [timing.peak_bytes or 0 for timing in points]
        hover = [size(peak) for peak in peaks]
        marks.line(figure, label, points, peaks, hover, look, why=[""] * len(points))
    _guides(figure, timings)
    marks.finish(figure, timings)
    figure.update_yaxes(**size_ticks(*figure.layout.yaxis.range))
    return figure


def _guides(figure: go.Figure, timings: Sequence[Timing]) -> None:
    """Adds the bytes of one n x n matrix per head for each combination of batch, heads and bytes per number.

    Adds none if there are more combinations than `GUIDES`, nor for one or a few queries of a longer text.
    """
    found: dict[tuple[int, int, int], set[int]] = {}
    for timing in (timing for timing in timings if not timing.queries):
        found.setdefault((timing.batch, timing.heads, timing.number_bytes), set()).add(timing.length)
    if len(found) > len(GUIDES):
        return
    varies = [len(set(values)) > 1 for values in zip(*found, strict=True)]
    for dash, ((batch, heads, size_of), lengths) in zip(GUIDES, found.items(), strict=False):
        parts = f", batch {batch}", f", {heads} heads", f", {size_of} bytes per number"
        of, xs = "".join(part for part, several in zip(parts, varies, strict=True) if several), sorted(lengths)
        name = f"one n x n matrix per head{of}"
        figure.add_scatter(
            x=xs,
            y=(sizes := [batch * heads * n**2 * size_of for n in xs]),
            text=[size(each) for each in sizes],
            name=marks.wrap_label(name),
            meta=f"n × n{of}",
            mode="lines",
            line={"dash": dash, "width": 1, "color": "gray"},
            hovertemplate=f"{marks.wrap_hover_label(name)}<br>%{{y:.3s}}B<extra></extra>",
        )


def transfer(timings: Sequence[Timing]) -> go.Figure:
    """Returns the shares of computing, transfer to the device and transfer back in a call, one subplot per line."""
    found = {label: [t for t in comparison.with_times(line) if t.to_device] for label, line in lines(timings).items()}
    found = {label: line for label, line in found.items() if line}
    names = line_names.line_names(timings)
    height = 110 + max(300, 230 * len(found))
    titles, gap = (
        [marks.wrap_label(names[label]) for label in found],
        {"vertical_spacing": min(143 / height, 0.9 / max(1, len(found)))},
    )
    figure = make_subplots(max(1, len(found)), 1, subplot_titles=titles, **gap)  # pyright: ignore[reportArgumentType]  one option, a gap
    for at, (label, line) in enumerate(found.items(), start=1):
        for part, (name, color) in PARTS.items():
            values = [getattr(timing, name) for timing in line]
            hover = f"{marks.wrap_hover_label(label)}<br>%{{x}} tokens<br>{part}: %{{customdata}}<extra></extra>"
            figure.add_bar(
                x=[f"{timing.length:,}" for timing in line],
                y=values,
                customdata=[_share(value, timing) for value, timing in zip(values, line, strict=True)],
                text=[
                    format_percent(value / (timing.seconds + timing.transfer))
                    for value, timing in zip(values, line, strict=True)
                ],
                textposition="inside",
                textangle=0,
                name=part,
                legendgroup=part,
                showlegend=at == 1,
                marker={"color": color, "opacity": [1 if timing.settled else marks.PALE for timing in line]},
                hovertemplate=hover,
                row=at,
                col=1,
            )
    if why := convergence.open_marks(convergence.reason(timing) for line in found.values() for timing in line):
        pale = {"color": "lightgray"}  # of no part of a call
        figure.add_bar(x=[None], y=[None], name=marks.PALE_BARS.format(why=why), marker=pale, hoverinfo="skip")
    margin = {"t": 83, "b": 10, "l": 10, "r": 10}  # space for buttons and the first title
    legend = marks.legend([timing for line in found.values() for timing in line])
    few = {"minsize": 11, "mode": "hide"}  # a text without room is left out
    figure.update_layout(
        height=height, barmode="stack", barnorm="percent", margin=margin, legend=legend, uniformtext=few
    )
    figure.update_annotations(font_size=12, x=0, xanchor="left", align="left", yshift=43)
    above = {"y": 100, "yanchor": "bottom", "showarrow": False, "font": {"size": 11}}
    for at, line in enumerate(found.values(), start=1):
        for place, timing in enumerate(line):
            share = format_percent(chart_findings.copy_share(timing))
            whole = told_seconds(timing.seconds + timing.transfer)
            figure.add_annotation(text=f"copy<br>{share} of<br>{whole}", x=place, **above, row=at, col=1)
    figure.update_xaxes(type="category")
    figure.update_xaxes(title=marks.axis_title(timings), row=max(1, len(found)), col=1)
    figure.update_yaxes(ticksuffix="%", nticks=3, title="share of the time", range=[0, 100])
    return figure


def _share(value: float, timing: Timing) -> str:
    """Returns the hover text of a part of a call with its transfer."""
    whole = timing.seconds + timing.transfer
    said = [f"{told_seconds(value)} ({format_percent(value / whole)})", convergence.reason(timing)]
    return "<br>".join(map(marks.wrap_hover_label, filter(None, said)))


def _least(timing: Timing) -> int:
    return footprint.RESOLUTION if timing.device == "cpu" else 1


CHARTS: dict[str, Callable[..., go.Figure]] = {
    "time": seconds,
    "speed-up": speed_up,
    "roofline": roofline,
    "memory": memory,
    "transfer": transfer,
}
