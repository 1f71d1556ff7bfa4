"""The break-even of a GPU (Plotly): seconds of a CPU, and of a GPU without and with the copy, with the crossing marked."""

from __future__ import annotations

import re
from math import log10
from typing import Any

import plotly.graph_objects as go

from attention.charts import open_marks
from attention.charts.line_ends import LETTER, NARROW, WIDE, clear_shift, name_lines
from attention.charts.series_look import look
from attention.charts.theme import HIDDEN, PLOTLY_TEXT
from attention.charts.timing_axes import length_ticks, time_ticks
from attention.charts.timing_marks import FAINT, FONT, KEYS, MOST_TICKS, TOOLBAR, foot, foot_rows
from attention.timing.break_even import BreakEven
from attention.timing.convergence import short_reason
from attention.timing.cpu_gpu_series import IN_BROWSER, MEASURED, TimingSeries
from attention.timing.data_sheets import sheet_name
from attention.timing.units import seconds as spelt

HEIGHT = 420  # pixels
FEW_TICKS = 6  # lengths at the axis up to which their letters are large
NAME, LABEL = 12, 13  # pixels of the height of letters: of the names of lines, and of the axes
ROOM, ROOM_FOR_TEXT = 2.5, 12  # times the largest time, above which is a name, or also a text of two lines
ENDS = (5e-6, 0.05)  # seconds at both ends of the axis, unless a time lies beyond
CPU, ALONE, MOVED = "CPU", "GPU alone", "GPU + copy"
NOW, YOURS, RECORDED = "this server, measured", "your GPU", "{device}, recorded"
CROSSING, EQUAL, BETWEEN = "{about} {unit}", "about equal", "between {:,} and {:,}"
FAR = 0.4  # of the width, from which on there is room for the length of a crossing at the left of the line below it
TIMES = "GPU {alone} times as fast<br>{copied}"
COPIED, SLOWER = "{times} times with copy", "with copy {times} times as long"


def figure(found: BreakEven) -> go.Figure:
    """Returns the chart."""
    shown = go.Figure()
    lengths = [point.length for point in found.cpu.points]
    unit = "keys" if found.longest.queries else "tokens"
    for series in found.beside:
        _device_lines(shown, series, found, is_compared=False)
    cpu, gpu = _device_lines(shown, found.cpu, found)[0], _device_lines(shown, found.gpu, found)
    every = [y for trace in _traces(shown) for y in trace.y if y]
    last = lengths.index(found.longest.length)
    room = ROOM_FOR_TEXT if last == len(lengths) - 1 else ROOM
    low, high = log10(min([ENDS[0], *every])), log10(max([ENDS[1], *(room * y for y in every)]))
    name_lines(shown, HEIGHT, [low, high], beside=lengths[-1], font=NAME)
    alone, copied = found.times(lengths[last]), found.times(lengths[last], copied=True)
    longer = found.times_as_long(lengths[last])
    copied = (SLOWER if longer else COPIED).format(times=longer or copied)
    says = TIMES.format(alone=alone, copied=copied)
    _gap(shown, lengths[last], gpu[-1][last], cpu[last], [low, high], says)
    _mark_break_even(shown, found, unit, 10**low)
    for trace in _traces(shown):
        trace.hovertemplate = (trace.hovertemplate or "").replace(" tokens", f" {unit}") or None
    ticks: dict[str, Any] = {
        **length_ticks(lengths, MOST_TICKS),
        "tickangle": 0,
        "tickfont": {"size": LABEL if len(lengths) <= FEW_TICKS else NAME},
    }
    reach = [log10(lengths[0]) - 0.08, log10(lengths[-1]) + 0.05]
    margin = {"t": TOOLBAR, "l": 10, "r": 10}
    shown.update_layout(
        font={"family": FONT, "size": LABEL},
        margin=margin,
        hovermode="closest",
    )
    rows = foot_rows(found.timings, filter(None, [found.open_marks]))
    shown.update_layout(**foot(rows, HEIGHT + TOOLBAR))
    shown.update_xaxes(
        type="log", title=KEYS if found.longest.queries else "length of the text (tokens)", range=reach, **ticks
    )
    shown.update_yaxes(type="log", title="time per call", range=[low, high], **time_ticks(low, high))
    return shown


def _device_lines(
    shown: go.Figure, series: TimingSeries, found: BreakEven, is_compared: bool = True
) -> tuple[list[float], ...]:
    """Adds the line of a CPU, or those of a GPU with and without the copy, and returns their times in this order.

    Of a recorded GPU that is not compared, the line with the copy alone; recorded lines beside others are thin.
    """
    alone = [point.seconds or 0.0 for point in series.points]
    moved = [seconds + point.moved for seconds, point in zip(alone, series.points, strict=True)]
    width = {} if is_compared or series.kind in (MEASURED, IN_BROWSER) else {"width": 1.5}
    if not any(point.moved for point in series.points):
        _line(shown, series, _name(series, CPU, found), alone, look(series, ()) | width)
        return (alone,)
    _line(shown, series, _name(series, MOVED, found), moved, look(series, [series], copied=True) | width)
    if is_compared or not width:
        _line(shown, series, _name(series, ALONE, found), alone, look(series, [series]))
    return moved, alone


def _name(series: TimingSeries, name: str, found: BreakEven) -> str:
    """The name of a line; what was measured now is named as such, and the others then by their device."""
    if series.kind == MEASURED:
        return NOW if name == CPU else f"{name.replace('GPU', _device(series))}, measured"
    if series.kind == IN_BROWSER:
        return name.replace("GPU", YOURS)
    if not found.beside:
        return _device(series) if name == CPU else name
    of_device = name.replace("CPU", _device(series)).replace("GPU", _device(series))
    is_cpu_measured = any(each.kind == MEASURED for each in (found.cpu, *found.beside))
    return RECORDED.format(device=of_device) if name == CPU and is_cpu_measured else of_device


def _device(series: TimingSeries) -> str:
    """The short name of the device of a line."""
    known = sheet_name(series.device) or series.device
    cores = re.search(r"\b(\d+) cores?\b", series.device)
    return f"{cores[1]}-core CPU" if cores else known


def _traces(shown: go.Figure) -> list[Any]:
    return list(shown.data)


def _line(shown: go.Figure, series: TimingSeries, name: str, times: list[float], looks: dict[str, Any]) -> None:
    """Adds a line between neighbouring stable times; the others are open marks, and a dotted line then joins all of them."""
    size = 12 if series.kind in (MEASURED, IN_BROWSER) else 9
    for stable in (True, False):
        if at := open_marks.trace_points([point.is_stable for point in series.points], stable):
            shown.add_scatter(
                x=[series.points[i].length for i in at],
                y=[times[i] if series.points[i].is_stable is stable else None for i in at],
                meta=name,
                mode="lines+markers" if stable else "markers",
                line={"color": looks["color"], "width": looks.get("width", 3), "dash": looks["dash"]},
                marker={
                    "symbol": looks["symbol"] + "-open" * (not stable),
                    "size": size,
                    "color": looks["color"],
                    "line": {"width": 0 if stable else open_marks.LINE},
                },
                customdata=[
                    "<br>".join(filter(None, [spelt(times[i]), short_reason(series.points[i].loose)])) for i in at
                ],
                hovertemplate=f"{name}<br>%{{x:,}} tokens: %{{customdata}}<extra></extra>",
            )
    if not all(point.is_stable for point in series.points):
        open_marks.join(shown, name, name, [point.length for point in series.points], times, looks)


def _gap(shown: go.Figure, length: int, low: float, high: float, ends: list[float], says: str) -> None:
    """Adds how many times as fast the GPU is at the longest length, in two lines of text where no line goes through it."""
    line = {"width": 1, "dash": "dot", "color": "gray"}
    shown.add_shape(type="line", x0=length, x1=length, y0=low, y1=high, line=line, layer="below")
    first, last = (log10(end(x for trace in _traces(shown) for x in trace.x)) for end in (min, max))
    letters, x = LABEL * max(map(len, says.split("<br>"))), log10(length)
    share, wide = (x - first) / (last - first) if last > first else 0.0, letters * LETTER
    side = "right" if share * NARROW >= wide else "left" if (1 - share) * NARROW >= wide else "center"  # as on a phone
    shift, reach = {"right": (6, 0.0), "left": (-6, wide), "center": (0, wide / 2)}[side]
    until = x + reach / WIDE * (last - first)
    place = {"x": x, "y": log10(high), "xanchor": side, "align": side, "xshift": shift}
    place["yshift"] = LABEL + clear_shift(shown, until, high, HEIGHT, ends, letters)
    shown.add_annotation(text=says, showarrow=False, font={"size": 13, "color": PLOTLY_TEXT}, **place)


def _mark_break_even(shown: go.Figure, found: BreakEven, unit: str, low: float) -> None:
    """Marks where the lines cross, or if unstable times tell no more, between which lengths that is.

    `low`: seconds at the lower end of the axis.
    """
    copied = found.moved.length is not None
    at, crossing = found.meeting(copied), found.moved if copied else found.alone
    if at is None:
        return
    first, *_, last = (point.length for point in found.cpu.points)
    is_far = log10(at / first) > FAR * log10(last / first)
    if between := found.between(copied):
        _mark_between(shown, between, is_far)
    elif point := found.crossing_point:
        about = crossing.about if is_far else crossing.about.replace(" ", "<br>")
        words = (EQUAL if found.is_equal_at_first(copied) else CROSSING).format(about=about, unit=unit)
        _mark(shown, *point, words, low if is_far else None)


def _mark_between(shown: go.Figure, between: tuple[int, int], is_far: bool) -> None:
    """Adds a pale band between two lengths, and names these at the axis: in its middle, or from its left unless it `is_far`."""
    low, high = between
    band = {"fillcolor": HIDDEN, "opacity": FAINT, "line": {"width": 0}, "layer": "below"}
    shown.add_shape(type="rect", x0=low, x1=high, y0=0, y1=1, yref="paper", **band)
    x, side = (log10(low * high) / 2, "center") if is_far else (log10(low), "left")
    place = {"x": x, "y": 0.01, "yref": "paper", "xanchor": side, "yanchor": "bottom", "showarrow": False}
    shown.add_annotation(text=BETWEEN.format(low, high), font={"size": 13, "color": PLOTLY_TEXT}, **place)


def _mark(shown: go.Figure, length: float, y: float, says: str, low: float | None) -> None:
    """Adds a ring where the lines cross, and what it `says` beside it, or beside a line down to `low`, if that is given."""
    ring = {"symbol": "circle-open", "size": 20, "color": HIDDEN, "line": {"width": 3}}
    shown.add_scatter(x=[length], y=[y], mode="markers", marker=ring, showlegend=False, hoverinfo="skip")
    place = {"x": log10(length), "y": log10(y), "xanchor": "left", "yanchor": "top", "xshift": 8, "yshift": -8}
    if low is not None:
        place |= {"y": 0.01, "yref": "paper", "xanchor": "right", "yanchor": "bottom", "xshift": -4, "yshift": 0}
        line = {"width": 1.5, "dash": "dash", "color": HIDDEN}
        shown.add_shape(type="line", x0=length, x1=length, y0=low, y1=y, line=line, layer="below")
    shown.add_annotation(
        text=says,
        showarrow=False,
        align="left" if low is None else "right",
        font={"size": 13, "color": PLOTLY_TEXT},
        **place,
    )
