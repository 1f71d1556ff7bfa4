"""The break-even of a GPU (Plotly): seconds of a CPU, and of a GPU without and with the copy, with the crossing marked."""

from __future__ import annotations

import re
from math import log10
from typing import Any

import plotly.graph_objects as go

from attention.charts.cpu_gpu import look
from attention.charts.line_ends import name_lines
from attention.charts.theme import HEADS, PLOTLY_TEXT
from attention.charts.timing_marks import FONT, PALE, wrap_hover_label
from attention.timing import cpu_gpu_summary
from attention.timing.break_even import BreakEven
from attention.timing.cpu_gpu_series import IN_BROWSER, MEASURED, TimingSeries
from attention.timing.data_sheets import DATA_SHEETS
from attention.timing.units import seconds as spelt

HEIGHT = 430  # pixels
NAME, LABEL = 12, 13  # pixels of the height of letters: of the names of lines, and of the axes
ENDS = (5e-6, 0.2)  # seconds at both ends of the axis, unless a time lies beyond
CPU, ALONE, MOVED = "CPU", "GPU alone", "GPU with copy"
GPU_COLOR, ALONE_COLOR = HEADS[5], HEADS[2]
RECORDED = "{name}{copy}, recorded"
CROSSING, EQUAL = "about {length:,.0f} tokens", "about equal"
TIMES = "{times} times as fast"
TICKS = {-6: "1 µs", -5: "10 µs", -4: "100 µs", -3: "1 ms", -2: "10 ms", -1: "100 ms", 0: "1 s", 1: "10 s", 2: "100 s"}


def figure(found: BreakEven) -> go.Figure:
    """Returns the chart."""
    shown = go.Figure()
    lengths = [point.length for point in found.cpu.points]
    cpu, alone = ([point.seconds or 0.0 for point in series.points] for series in (found.cpu, found.gpu))
    moved = [seconds + point.moved for seconds, point in zip(alone, found.gpu.points, strict=True)]
    at_gpu = look(found.gpu, [found.gpu]) | {"color": GPU_COLOR}
    _line(shown, found.cpu, _name(found.cpu, CPU, found), cpu, look(found.cpu, ()))
    _line(shown, found.gpu, _name(found.gpu, MOVED, found), moved, at_gpu)
    at_alone = at_gpu | {"color": ALONE_COLOR, "symbol": "square", "dash": "dot"}
    _line(shown, found.gpu, _name(found.gpu, ALONE, found), alone, at_alone)
    for series in found.recorded:
        is_cpu = all(not point.moved for point in series.points)
        whole = [(point.seconds or 0.0) + point.moved for point in series.points]
        faint = look(series, [] if is_cpu else [series]) | {"width": 1.5}
        name = RECORDED.format(name=_device(series), copy="" if is_cpu else " with copy")
        _line(shown, series, name, whole, faint if is_cpu else faint | {"color": GPU_COLOR})
    every = [y for trace in _traces(shown) for y in trace.y]
    low, high = log10(min([ENDS[0], *every])), log10(max([ENDS[1], *every]))
    last = lengths.index(found.longest.length)
    name_lines(shown, HEIGHT, [low, high], beside=lengths[-1], font=NAME)
    _gap(shown, lengths[last], moved[last], cpu[last])
    if found.moved.length:
        _mark(shown, found.moved.length, lengths, moved, EQUAL if found.is_equal_at_first else CROSSING)
    ticks = {"tickvals": lengths, "ticktext": [f"{n:,}" for n in lengths]}
    reach = [log10(lengths[0]) - 0.08, log10(lengths[-1]) + 0.05]
    margin = {"t": 10, "b": 10, "l": 10, "r": 10}
    shown.update_layout(
        font={"family": FONT, "size": LABEL}, height=HEIGHT, margin=margin, showlegend=False, hovermode="closest"
    )
    shown.update_xaxes(type="log", title="length of the text (tokens)", range=reach, **ticks)
    times = {"tickvals": [10.0**power for power in TICKS], "ticktext": list(TICKS.values())}
    shown.update_yaxes(type="log", title="time per call", range=[low, high], **times)
    return shown


def _name(series: TimingSeries, name: str, found: BreakEven) -> str:
    """The name of a line; what was measured now is named as such, and the others then by their device."""
    whose = {MEASURED: "this", IN_BROWSER: "your"}.get(series.kind)
    if whose:
        return f"{whose} {name}"
    return name.replace("CPU", _device(series)).replace("GPU", _device(series)) if found.recorded else name


def _device(series: TimingSeries) -> str:
    """The short name of the device of a recorded line."""
    known = next((name for name in DATA_SHEETS if name in series.device), series.device)
    cores = re.search(r"\b(\d+) cores?\b", series.device)
    return f"{cores[1]}-core CPU" if cores else known


def _traces(shown: go.Figure) -> list[Any]:
    return list(shown.data)


def _line(shown: go.Figure, series: TimingSeries, name: str, times: list[float], looks: dict[str, Any]) -> None:
    """Adds a line through the stable times, with its name at its end; the others are faint, open marks."""
    for stable in (True, False):
        at = [i for i, point in enumerate(series.points) if point.is_stable is stable]
        why = [f"<br>{series.points[i].loose}" * (not stable) for i in at]
        if at:
            shown.add_scatter(
                x=[series.points[i].length for i in at],
                y=[times[i] for i in at],
                meta=name,
                mode="lines+markers" if stable else "markers",
                opacity=1.0 if stable else PALE,
                line={"color": looks["color"], "width": looks.get("width", 3), "dash": looks["dash"]},
                marker={"symbol": looks["symbol"] + "-open" * (not stable), "size": 9, "color": looks["color"]},
                customdata=[
                    f"{name}: {spelt(times[i])}<br>{wrap_hover_label(series.label)}{more}"
                    for i, more in zip(at, why, strict=True)
                ],
                hovertemplate="%{x:,} tokens<br>%{customdata}<extra></extra>",
            )


def _gap(shown: go.Figure, length: int, low: float, high: float) -> None:
    """Adds how many times as fast the GPU is at the longest length, with the copy."""
    line = {"width": 1, "dash": "dot", "color": "gray"}
    shown.add_shape(type="line", x0=length, x1=length, y0=low, y1=high, line=line, layer="below")
    text = TIMES.format(times=cpu_gpu_summary.times(high / low))
    place = {"x": log10(length), "y": log10(high), "xanchor": "right", "xshift": 6, "yshift": 16}
    shown.add_annotation(text=text, showarrow=False, align="right", font={"size": 13, "color": PLOTLY_TEXT}, **place)


def _mark(shown: go.Figure, length: float, lengths: list[int], moved: list[float], says: str) -> None:
    """Adds a ring where the lines cross and, below the line of the copy, `says` what that means."""
    y = _between(length, lengths, moved)
    ring = {"symbol": "circle-open", "size": 20, "color": PLOTLY_TEXT, "line": {"width": 2}}
    shown.add_scatter(x=[length], y=[y], mode="markers", marker=ring, showlegend=False, hoverinfo="skip")
    place = {"x": log10(length), "y": log10(y), "xanchor": "left", "xshift": 8, "yshift": -20}
    shown.add_annotation(
        text=says.format(length=length), showarrow=False, font={"size": 13, "color": PLOTLY_TEXT}, **place
    )


def _between(length: float, lengths: list[int], times: list[float]) -> float:
    """The time at a length between two that were timed, on the line that is drawn."""
    at = next((i for i, n in enumerate(lengths[1:]) if n >= length), len(lengths) - 2)
    (x0, x1), (y0, y1) = (map(log10, pair) for pair in (lengths[at : at + 2], times[at : at + 2]))
    return 10 ** (y0 + (y1 - y0) * (log10(length) - x0) / (x1 - x0))
