"""Names at the ends of the lines of a chart with logarithmic axes (Plotly), which need no legend then."""

from __future__ import annotations

from html import escape
from math import log10
from typing import Any

import plotly.graph_objects as go

from attention.charts.theme import PLOTLY_TEXT

MOST = 7  # lines; more of them have a legend
LINE = 13  # pixels from one name to the next
SHIFTS = (11, 25, -26, 39, -40)  # pixels of a name above the end of its line, in the order in which they are tried
BEHIND = (-2, 11, -15, 24, -28)  # the same for a name behind the end of its line
LETTER = 0.5  # mean width of a letter, of its height
NARROW = 260  # pixels of the width of a chart on a phone
AXIS = 66  # pixels of the height of a figure that its margins and the axis below take


def name_lines(figure: go.Figure, height: int, ends: list[float], beside: float = 0, font: int = 11) -> bool:
    """Writes the name of each line, `meta` of its trace, where it ends, and takes it out of the legend.

    A name is above its line, or elsewhere near if another name is there. `height` of the figure in pixels; `ends`: the
    logarithms of both ends of the y axis; `beside`: the last length of the chart; a name that fits before it is behind its line;
    `font`: the size of names in pixels.
    Leaves the legend as it is, and returns False, if there are more than `MOST` lines.
    """
    drawn: list[Any] = list(figure.data)
    traces = [trace for trace in drawn if trace.meta]
    last: dict[str, tuple[tuple[float, float], str, str]] = {}  # of a line: its last point, its name and its colour
    for trace in sorted(traces, key=lambda trace: "lines" in trace.mode):  # marks that no line joins are overwritten
        if points := [each for each in zip(trace.x, trace.y, strict=True) if each[1]]:
            last[trace.legendgroup or trace.meta] = (max(points), trace.meta, trace.line.color)
    if len(last) > MOST:
        return False
    scale, taken = (height - AXIS) / (ends[1] - ends[0]), []
    start = min((x for (x, _), *_ in last.values()), default=1.0)
    start = min([start, *(x for trace in traces for x in trace.x if x)], default=1.0)
    for (x, y), name, color in sorted(last.values(), key=lambda each: -each[0][1]):
        at, is_behind = scale * log10(y), _room(x, beside, start) >= len(name) * font * LETTER
        shifts = BEHIND if is_behind else SHIFTS
        shift = next((by for by in shifts if all(abs(at + by - other) >= LINE for other in taken)), shifts[0])
        taken.append(at + shift)
        text = f'<span style="color:{color}">●</span> {escape(name)}'
        place = {"x": log10(x), "y": log10(y), "xanchor": "right", "yanchor": "middle", "xshift": 6, "yshift": shift}
        if is_behind:
            place |= {"xanchor": "left", "xshift": 8}
        figure.add_annotation(text=text, showarrow=False, font={"size": font, "color": PLOTLY_TEXT}, **place)
    for trace in traces:
        trace.showlegend = False
    return True


def _room(x: float, last: float, first: float) -> float:
    """Pixels behind the end of a line, up to the last length of the chart, in a narrow window."""
    return NARROW * log10(last / x) / log10(last / first) if x < last and first < last else 0.0
