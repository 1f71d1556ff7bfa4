"""CPU against GPU (Plotly): time, speed-up, rate and limits, each against the length or the operations per byte.

The colour and the mark of a line are its device, as `series_look` has them. A limit is a thin grey line without marks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, pairwise
from math import log10
from typing import Any

import plotly.graph_objects as go

from attention.charts import cpu_gpu_axes, open_marks
from attention.charts.series_look import look
from attention.charts.theme import PLOTLY_TEXT
from attention.charts.timing_look import ROOFS
from attention.charts.timing_marks import FAINT, wrap_hover_label, wrap_label
from attention.timing import convergence, cpu_gpu_series, cpu_gpu_summary
from attention.timing.cpu_gpu_series import PUBLISHED, Point, TimingSeries
from attention.timing.cpu_gpu_settings import BREAK_EVEN, LINES, CpuGpuSettings
from attention.timing.cpu_gpu_summary import Ratio, numbers
from attention.timing.data_sheets import DATA_SHEETS, sheet_name
from attention.timing.units import seconds as spelt

LEFT_OUT = {"without": ("moved",), "with": ("alone",), "without and with": ()}
WITH = "with copy"
NOTE_SHIFT = 12  # pixels that a ratio is above the middle of its gap, as the name of the line below it is in the gap
COPIED_SHIFT = -3  # the same for a ratio that counts the copy, as the line above it is near on a phone
LONGEST = 24  # letters of the name of a device at the end of a line


@dataclass(frozen=True)
class Mark:
    """The coordinates of a point in a chart, and its text for the hover box."""

    point: Point
    x: float
    y: float | None
    said: str


def figure(versus: CpuGpuSettings, cpu: TimingSeries | None, gpus: Sequence[TimingSeries]) -> go.Figure:
    """Returns the selected chart; that of times in place of the break-even, which `break_even.figure` draws."""
    versus = replace(versus, picture="time") if versus.picture in (BREAK_EVEN, LINES) else versus
    found = go.Figure()
    PICTURES[versus.picture](found, versus, cpu, gpus)
    cpu_gpu_axes.lay_out(found, versus, [*([cpu] if cpu else []), *gpus])
    return found


def _time(found: go.Figure, versus: CpuGpuSettings, cpu: TimingSeries | None, gpus: Sequence[TimingSeries]) -> None:
    if cpu:
        _band(found, cpu)
        _line(
            found, cpu, gpus, [Mark(point, point.length, point.seconds, _describe_rates(point)) for point in cpu.points]
        )
    for gpu in gpus:
        timed = [point for point in gpu.points if point.seconds is not None]
        if versus.transfer != "with":
            _line(
                found, gpu, gpus, [Mark(point, point.length, point.seconds, _describe_rates(point)) for point in timed]
            )
        if versus.transfer != "without":
            _line(found, gpu, gpus, [_whole(point) for point in timed], carried=True)
    _apart(found, versus, cpu, gpus)


def _apart(found: go.Figure, versus: CpuGpuSettings, cpu: TimingSeries | None, gpus: Sequence[TimingSeries]) -> None:
    """Adds the gap between the two lines that the summary compares, at its length."""
    told = cpu_gpu_summary.against(cpu, list(gpus))
    if cpu is None or told is None:
        return
    gpu, _, ratio = told
    there, here = gpu.at(ratio.length), cpu.at(ratio.length)
    if there is None or here is None or not there.seconds or not here.seconds:
        return
    moved = cpu_gpu_summary.counts_copy(gpu, versus)
    low, times = there.seconds + there.moved * moved, ratio.moved if moved else ratio.alone
    x, line = ratio.length, {"width": 1, "dash": "dot", "color": "gray"}
    found.add_shape(type="line", x0=x, x1=x, y0=low, y1=here.seconds, line=line, layer="below")
    middle = _widest_gap(found, x, low, here.seconds)
    found.add_annotation(
        x=log10(x),
        y=middle,
        text=f"{cpu_gpu_summary.times(times)} times{f' {WITH}' * moved}<br>{wrap_hover_label(numbers(gpu, cpu))}",
        align="right",
        showarrow=False,
        xanchor="right",
        xshift=-4,
        yshift=COPIED_SHIFT if moved else NOTE_SHIFT,
        font={"color": PLOTLY_TEXT},
    )


def _widest_gap(found: go.Figure, x: float, low: float, high: float) -> float:
    """Returns the middle of the widest gap between two lines near `x`, between two heights, as a logarithm.

    Of gaps that are about as wide it is the highest, as names of lines are close to the lower ones.
    """
    lines: Sequence[Any] = found.data  # pyright: ignore[reportAssignmentType]  of scatter lines only
    near = [y for line in lines for at, y in zip(line.x or (), line.y or (), strict=True) if y and x / 3 < at <= x]
    inside = [low, high, *(y for y in near if low < y < high)]
    below, above = max(pairwise(sorted(map(log10, inside))), key=lambda gap: (round(gap[1] - gap[0], 1), gap[1]))
    return (below + above) / 2


def _whole(point: Point) -> Mark:
    """Returns the mark of a time that includes the transfer to the GPU and back."""
    seconds = (point.seconds or 0.0) + point.moved
    return Mark(point, point.length, seconds, f"{spelt(seconds)}, of which {spelt(point.moved)} copy")


def _times_faster(
    found: go.Figure, versus: CpuGpuSettings, cpu: TimingSeries | None, gpus: Sequence[TimingSeries]
) -> None:
    if cpu is None:
        return
    for gpu in gpus:
        against = numbers(gpu, cpu)
        for name in ("alone", "moved"):
            if name not in LEFT_OUT[versus.transfer]:
                marks = [_ratio(gpu, each, getattr(each, name), against) for each in cpu_gpu_summary.ratios(cpu, gpu)]
                _line(found, gpu, gpus, marks, name == "moved", f", against {cpu.dtype} on the CPU")
    found.add_hline(y=1, line={"width": 1, "dash": "dot", "color": "gray"})


def _ratio(gpu: TimingSeries, ratio: Ratio, times: float, against: str) -> Mark:
    """Returns the mark of a ratio, unsure if the GPU's time is, and not stable unless both times are."""
    at = gpu.at(ratio.length)
    unsure = at.unsure if at else False
    point = Point(ratio.length, None, 0.0, unsure=unsure, loose=ratio.loose)
    return Mark(point, ratio.length, times, f"{times:.3g} times, {against}")


def _rate(found: go.Figure, versus: CpuGpuSettings, cpu: TimingSeries | None, gpus: Sequence[TimingSeries]) -> None:
    for rival in [*([cpu] if cpu else []), *gpus]:
        _line(
            found,
            rival,
            gpus,
            [Mark(point, point.length, point.rate, _describe_rates(point)) for point in rival.points],
        )


def _limits(found: go.Figure, versus: CpuGpuSettings, cpu: TimingSeries | None, gpus: Sequence[TimingSeries]) -> None:
    every = [rival for rival in [*([cpu] if cpu else []), *gpus] if not rival.setting]
    ends = [cpu_gpu_series.intensity(n, versus, rival.dtype) for rival in every for n in cpu_gpu_series.lengths(every)]
    names = versus.gpus or tuple(
        dict.fromkeys(filter(None, (sheet_name(rival.device) for rival in every if rival.dtype != "float32")))
    )
    for name, dash in zip(names, cycle(ROOFS)):
        sheet = DATA_SHEETS[name]
        note = f", {sheet.note}" if sheet.note else ""
        label = f"{sheet.name}, limit by its data sheet (float16, dense{note})"
        short = f"{name}, limit by its data sheet"
        _roof(found, label, short, (sheet.operations, sheet.traffic), ends, dash)
    if cpu and cpu.peaks:
        label = f"{cpu.device}, limit as {cpu.whence} ({cpu.dtype})"
        _roof(found, label, f"CPU, limit as {cpu.kind}", cpu.peaks, ends, ROOFS[0])
    for rival in every:
        at = [cpu_gpu_series.intensity(point.length, versus, rival.dtype) for point in rival.points]
        marks = [Mark(point, x, point.rate, _describe_rates(point)) for x, point in zip(at, rival.points, strict=True)]
        _line(found, rival, gpus, marks)


def _roof(found: go.Figure, label: str, short: str, limit: tuple[float, float], ends: list[float], dash: str) -> None:
    """Adds a roofline: a slope given by the bytes per second, and a ceiling given by the operations per second."""
    ceiling, slope = limit
    xs = sorted({min(ends) / 4, ceiling / slope, max(ends) * 2})
    found.add_scatter(
        x=xs,
        y=[min(ceiling, slope * x) for x in xs],
        name=wrap_label(label),
        meta=short,
        mode="lines",
        line={"color": "gray", "width": 1.5, "dash": dash},
        hovertemplate=f"{wrap_hover_label(label)}<br>{ceiling / 1e12:,.4g} TFLOP/s, {slope / 1e9:,.4g} GB/s<extra></extra>",
    )


PICTURES: dict[str, Callable[[go.Figure, CpuGpuSettings, TimingSeries | None, Sequence[TimingSeries]], None]] = {
    "time": _time,
    "times faster": _times_faster,
    "rate": _rate,
    "limits": _limits,
}


def _line(
    found: go.Figure,
    rival: TimingSeries,
    gpus: Sequence[TimingSeries],
    marks: Sequence[Mark],
    carried: bool = False,
    more: str = "",
) -> None:
    """Adds a line with marks between neighbouring stable times; the others are open marks, on a dotted line."""
    looks, label = look(rival, gpus, carried), f"{rival.label}{more}{f', {WITH}' * carried}"
    name, end = _short(rival, gpus, carried) + more, _end_name(rival, gpus, carried)
    stable = [mark.point.is_stable for mark in marks]
    firm, loose = ([marks[at] for at in open_marks.trace_points(stable, kind)] for kind in (True, False))
    firm = [mark if mark.point.is_stable else replace(mark, y=None) for mark in firm]
    if firm:
        found.add_scatter(
            **_marker_trace(rival, firm, looks, label, name, end), meta=end, mode="lines+markers", opacity=1
        )
    if loose:
        found.add_scatter(
            **_marker_trace(rival, loose, looks, label, name, end),
            meta=end,
            mode="markers",
            showlegend=not firm,
        )
        open_marks.join(found, label, end, [mark.x for mark in marks], [mark.y for mark in marks], looks)
        open_marks.explain(found, [mark.point.loose for mark in loose])


def _short(rival: TimingSeries, gpus: Sequence[TimingSeries], carried: bool) -> str:
    """Returns the name of a line in the legend, the shortest one that is unique."""
    if [gpu.short for gpu in gpus].count(rival.short) > 1:
        return f"{rival.label}{f', {WITH}' * carried}"
    return f"{rival.device}, {rival.dtype}, {WITH}" if carried else rival.short


def _end_name(rival: TimingSeries, gpus: Sequence[TimingSeries], carried: bool) -> str:
    """Returns the name at the end of a line: its method only where two lines of a device differ in nothing else."""
    short = sheet_name(rival.device) or rival.device[:LONGEST]
    device = short if rival in gpus else cpu_gpu_summary.a_cpu(rival.device).partition(" ")[2]
    alike = [gpu for gpu in gpus if (gpu.device, gpu.dtype, gpu.kind) == (rival.device, rival.dtype, rival.kind)]
    which = [*[rival.method] * (len(alike) > 1), rival.dtype]
    return ", ".join([device, *which, rival.kind, *[WITH] * carried])


def _marker_trace(
    rival: TimingSeries, marks: Sequence[Mark], looks: dict[str, Any], label: str, name: str, end: str
) -> dict[str, Any]:
    """Returns the coordinates, style (open marks for times that are not stable) and hover texts of some marks."""
    color, published = looks["color"], rival.kind == PUBLISHED
    unsure = "circle-open" if published else f"{looks['symbol']}-open"  # as in the legend; a stroke can't be open
    symbols = [looks["symbol"] if mark.point.is_stable else unsure for mark in marks]
    edge = {"width": 2 if published else 0, "color": color}
    return {
        "x": [mark.x for mark in marks],
        "y": [mark.y for mark in marks],
        "name": wrap_label(name),
        "legendgroup": label,
        "line": {"color": color, "width": 2, "dash": looks["dash"]},
        "marker": {"symbol": symbols, "size": 9, "color": color, "line": edge},
        "customdata": [[f"{mark.point.length:,}", "<br>".join(_describe_mark(rival, mark))] for mark in marks],
        "hovertemplate": f"{wrap_hover_label(end)}<br>%{{customdata[0]}} tokens: %{{customdata[1]}}<extra></extra>",
    }


def _describe_mark(rival: TimingSeries, mark: Mark) -> list[str]:
    point = mark.point
    notes = ["its label was read through a legend *"] if point.unsure else []
    notes += [convergence.short_reason(point.loose)] if point.loose else []
    return [mark.said, *notes, *([f"other sizes: {rival.setting}"] if rival.setting else [])]


def _describe_rates(point: Point) -> str:
    rate = f"{point.rate / 1e12:,.4g} TFLOP/s"
    return f"{spelt(point.seconds)}, {rate}" if point.seconds is not None else rate


def _band(found: go.Figure, cpu: TimingSeries) -> None:
    """Adds the area between the quartiles of the stable times."""
    firm = [(point.length, point.quartiles) for point in cpu.points if point.quartiles and point.is_stable]
    if not firm:
        return
    xs = [length for length, _ in firm]
    found.add_scatter(
        x=[*xs, *reversed(xs)],
        y=[*(ends[1] for _, ends in firm), *(ends[0] for _, ends in reversed(firm))],
        showlegend=False,
        fill="toself",
        fillcolor=look(cpu, ())["color"],
        opacity=FAINT,
        line={"width": 0},
        mode="lines",
        hoverinfo="skip",
    )
