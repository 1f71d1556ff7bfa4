"""The parts of timing charts: an empty figure over length, lines, bands and stars.

The meaning of colours, symbols and dashes is in `timing_look.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby
from math import log10
from textwrap import wrap
from typing import Any

import plotly.graph_objects as go

from attention.charts import open_marks, theme
from attention.charts.line_ends import FEW, name_lines
from attention.charts.line_ends import NARROW as NARROW_CHART
from attention.charts.timing_axes import length_ticks
from attention.charts.timing_look import Look, open_symbol
from attention.number_format import format_percent
from attention.timing import comparison, convergence, line_names
from attention.timing.comparison import SpeedUp
from attention.timing.recordings import Timing, lines
from attention.timing.units import seconds
from attention.timing.webgpu.results import MATERIALISED

HEIGHT = 355  # pixels: the whole chart is on the first screen
TOOLBAR = 28  # pixels at the top of a figure for the buttons that appear when the pointer is on it
WIDTH = 40  # characters per line of a legend that fit on a phone
GAP = 14  # pixels between the title of the axis and the foot of a figure
FOOT_ROW = 15  # pixels of a line at the foot of a figure
FINE = 58  # the same for where all was measured, in a smaller font
NARROW = 34  # the same for the hover box
FONT = "Arial, Helvetica, sans-serif"  # also available in a downloaded image of the chart, so that its legend fits
ROW = 17  # pixels that a line of a legend adds: on a phone entries are below each other and would leave no room for the chart
FAINT = 0.16  # opacity of a band
PALE = 0.65  # opacity of a bar whose time is not stable
AXIS = 56  # pixels of the axis of lengths and its title
PALE_BARS = "faded bars: {why}"
MOST_TICKS = 8  # lengths at the axis; a phone shows every other one of more than six
KEYS = "keys (length in tokens)"  # the title of the axis for a few queries of a longer text
END = 12  # pixels of the height of the name at the end of a line
ERRORS = 12  # maximum number of lengths in a chart that are labelled with “out of memory”


LEGEND: dict[str, Any] = {
    "orientation": "h",
    "xref": "container",
    "yref": "container",
    "maxheight": 0.65,  # a taller one scrolls, which an image of it can't
    "yanchor": "bottom",
    "y": 0.01,
    "x": 0.01,
    "xanchor": "left",
}
ABOVE: dict[str, Any] = {  # of lines, whose names are in the first screen then
    "orientation": "h",
    "maxheight": 0.65,
    "yanchor": "bottom",
    "y": 1,
    "x": 0,
    "xanchor": "left",
    "font": {"size": 12},
    "tracegroupgap": 0,
}


def figure(
    timings: Sequence[Timing], y: str, lengths: Iterable[int], copied: bool = False, chart: str = "time"
) -> tuple[go.Figure, Look]:
    """Returns an empty figure over length with two logarithmic axes, and the style of its lines; the others as in `Look.of`."""
    at = sorted({*lengths, *(timing.length for timing in timings)})
    axis: dict[str, Any] = {"type": "log", "title": axis_title(timings)}
    if at:
        ticks = [n for n in at if n & (n - 1) == 0] or at
        axis |= length_ticks(ticks, MOST_TICKS)
        axis |= {
            "tickangle": 0,  # slanted ones would reach into the foot of the figure on a phone
            "tickfont": {"size": 12},
            "range": [log10(at[0]) - 0.1, log10(at[-1]) + 0.1],
        }
    margin = {"t": TOOLBAR, "b": 10, "l": 10, "r": 10}
    layout = {
        "font": {"family": FONT},
        "height": HEIGHT + TOOLBAR,
        "margin": margin,
        "hovermode": "closest",
        "xaxis": axis,
    }
    figure = go.Figure(layout=layout)
    figure.update_yaxes(type="log", title=y, exponentformat="power", dtick=1)
    return figure, Look.of(timings, copied, chart)


def axis_title(timings: Iterable[Timing]) -> str:
    """Returns the title of the axis of lengths: of the text, or of the keys that a few queries see."""
    return KEYS if any(timing.queries for timing in timings) else "length (tokens)"


def finish(
    figure: go.Figure,
    timings: Sequence[Timing],
    below: float = 0.05,
    least: float | None = None,
    narrow: int = NARROW_CHART,
    band: str = "",
) -> None:
    """Names each line of a figure at its end, or in a legend if there are too many, and says where all was measured, once.

    Images of the figure say it as well. The range of the y axis leaves room for the names, that of `below` under the lines, and
    reaches down to `least`. `narrow`: the pixels of its width on a phone, where marks are close. `band`: what the bands
    are, if there are any.
    """
    drawn: list[Any] = list(figure.data)
    ys = [y for trace in drawn for y in (trace.y if trace.y is not None else ()) if y]
    low, high = (log10(end(ys)) for end in (min, max)) if ys else (0.0, 1.0)
    low = low if least is None else min(low, log10(least))
    tall = max(high - low, 0.5)
    ends = [low - below * tall, high + 0.09 * tall]
    figure.update_yaxes(range=ends)
    look: dict[str, Any] = {"font": END, "narrow": narrow, "bare": narrow < NARROW_CHART, "most": FEW}
    named = name_lines(figure, HEIGHT, ends, beside=_last_x(drawn), **look)
    opened: list[Any] = list(figure.select_traces({"legendgroup": open_marks.GROUP}))
    for trace in opened:
        trace.showlegend = False
    rows = 0 if named else sum(trace.name.count("<br>") + 1 for trace in drawn if trace.showlegend is not False)
    height = HEIGHT + TOOLBAR + ROW * rows // 2  # beside each other in a wide window
    bands = [band] * any(trace.fill for trace in drawn if trace.type == "scatter")
    figure.update_layout(**foot([*foot_rows(timings, [trace.name for trace in opened]), *filter(None, bands)], height))
    if not named:
        for at, trace in enumerate(sorted(drawn, key=_last_y, reverse=True)):
            trace.legendrank = at
        figure.update_layout(showlegend=True, legend=ABOVE)


def _last_y(trace: Any) -> float:
    """The value at which a line ends."""
    return next((y for y in reversed(trace.y if trace.y is not None else ()) if y), 0.0)


def _last_x(drawn: Sequence[Any]) -> float:
    """The largest x of all traces, at which there is no room behind the end of a line."""
    return max((x for trace in drawn for x in (trace.x if trace.x is not None else ()) if x), default=0.0)


def foot_rows(timings: Iterable[Timing], marks: Iterable[str]) -> list[str]:
    """Returns rows that say where all was measured, and what open `marks` mean."""
    return [*line_names.sources(timings, FINE), *(row for said in marks for row in wrap(f"○ {said}", FINE))]


def foot(rows: Sequence[str], height: int) -> dict[str, Any]:
    """Returns the layout of a figure of this height that has these rows at its foot, so that images include them."""
    under = ROW * len(rows) + GAP if rows else 0
    whole = height + under
    place: dict[str, Any] = {"xref": "container", "yref": "container", "xanchor": "left", "yanchor": "top", "x": 0.01}
    title = place | {
        "y": (FOOT_ROW * len(rows) + 4) / whole,
        "text": "<br>".join(map(_fine, rows)),
        "font": {"size": 12},
    }
    margin = {"b": under + AXIS if rows else 10}
    return {"height": whole, "margin": margin, "showlegend": False, "title": title if rows else None}


def _fine(source: str) -> str:
    return f'<span style="font-size:12px;font-weight:400">{escape(source)}</span>'


def legend(timings: Sequence[Timing]) -> dict[str, Any]:
    """Returns a legend below the figure, whose title says where and when it was measured, so that images include it."""
    told = map(escape, line_names.sources(timings, FINE))
    title = {"text": "<br>".join(told), "side": "top", "font": {"size": 11, "color": theme.PLOTLY_TEXT}}
    return LEGEND | {"title": title, "font": {"size": 11}}


def wrap_label(label: str) -> str:
    """Returns a label for a legend or a title, in lines that fit on a phone."""
    return _break_label(label, WIDTH)


def wrap_hover_label(label: str) -> str:
    """Returns a label for the hover box, in lines that fit next to the pointer on a phone."""
    return _break_label(label, NARROW)


def _break_label(label: str, width: int) -> str:
    return "<br>".join(escape(part) for part in wrap(label, width, break_on_hyphens=False))


def line(
    figure: go.Figure,
    label: str,
    points: Sequence[Timing],
    ys: Sequence[float],
    hover: Sequence[str],
    look: Look,
    xs: Sequence[float] | None = None,
    why: Sequence[str] | None = None,
    name: str = "",
) -> None:
    """Adds a line between neighbouring stable points; the others are open marks, and a dotted line joins all points then.

    `why`: why each point is not stable, empty if it is, by default of its time. `name`: its short name, by default that of its
    label.
    """
    name = name or look.names.get(label, label)
    reasons = [convergence.reason(point) for point in points] if why is None else why
    firm = [not reason for reason in reasons]
    marks = list(zip(points, [point.length for point in points] if xs is None else xs, ys, hover, firm, strict=True))
    for of in dict.fromkeys(sorted(firm, reverse=True)):
        here, x, y, texts, stable = zip(*(marks[at] for at in open_marks.trace_points(firm, of)), strict=True)
        first = here[0]
        color, shape = look.color(first), look.shape(first)
        joined = {
            "mode": "lines+markers",
            "line": {"color": color, "width": look.width(first), "dash": look.dash(first)},
        }
        figure.add_scatter(
            x=x,
            y=[value if is_stable is of else None for value, is_stable in zip(y, stable, strict=True)],
            name=wrap_label(name),
            meta=name if look.is_named(first) else None,
            legendgroup=label,
            showlegend=(of or not any(firm)) and look.is_named(first),
            zorder=-look.is_pale(first),
            marker={
                "symbol": shape if of else open_symbol(shape),
                "size": look.size(first),
                "color": color,
                "line": {"width": 0 if of else open_marks.LINE},
            },
            customdata=[[f"{point.length:,}", text] for point, text in zip(here, texts, strict=True)],
            hovertemplate=f"{wrap_hover_label(name)}<br>%{{customdata[0]}} tokens: %{{customdata[1]}}<extra></extra>",
            **(joined if of else {"mode": "markers"}),
        )
    if not all(firm):
        style = {"color": look.color(points[0]), "symbol": look.shape(points[0])}
        named = name if look.is_named(points[0]) else ""
        open_marks.join(figure, label, named, [x for _, x, *_ in marks], ys, style)
        open_marks.explain(figure, reasons, "" if why else line_names.machine(points[0]))


def band(
    figure: go.Figure, label: str, points: Sequence[Timing], ends: Sequence[tuple[float, float] | None], look: Look
) -> None:
    """Adds the area between the lower and upper ends, in the colour of its line, with gaps where ends are None."""
    xs: list[float | None] = []
    ys: list[float | None] = []
    for known, group in groupby(zip(points, ends, strict=True), key=lambda pair: pair[1] is not None):
        if known:
            lengths, low, high = zip(*((point.length, *(end or ())) for point, end in group), strict=True)
            xs += [*lengths, *reversed(lengths), None]
            ys += [*high, *reversed(low), None]
    if xs and not look.is_pale(points[0]):
        figure.add_scatter(
            x=xs[:-1],
            y=ys[:-1],
            name=look.names.get(label, label),
            legendgroup=label,
            showlegend=False,
            fill="toself",
            fillcolor=look.color(points[0]),
            opacity=FAINT,
            line={"width": 0},
            mode="lines",
            hoverinfo="skip",
        )


def star(figure: go.Figure, label: str, points: list[SpeedUp], color: str) -> None:
    """Adds a star where the ratio crosses one, with its uncertainty interval."""
    found = comparison.crossover(points)
    if found is None or found.length is None or found.length <= found.shortest:
        return
    low, high = found.low or found.shortest, found.high or found.longest
    figure.add_scatter(
        x=[found.length],
        y=[1],
        name=f"{label}: crossover",
        legendgroup=label,
        showlegend=False,
        mode="markers",
        marker={"symbol": "star", "size": 15, "color": color, "line": {"width": 1, "color": "white"}},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [high - found.length],
            "arrayminus": [found.length - low],
            "color": color,
        },
        hovertemplate=f"{wrap_hover_label(label)}<br>{wrap_hover_label(found.sentence)}<extra></extra>",
    )


def describe_time(timing: Timing) -> str:
    """Returns the hover text of a time, and why it is not stable; the table of numbers has the rest."""
    return _with_reason([seconds(timing.seconds)], timing)


def describe_rate(timing: Timing) -> str:
    """Returns the hover text of operations per second: their share of what was measured, and why the time is not stable."""
    rate, bound = comparison.rate(timing), comparison.roofline_bound(timing)
    said = [f"{rate / 1e9:,.1f} GFLOP/s"]
    if (share := comparison.share(timing)) is not None:
        peak = "loop of fused multiply-adds" if timing.is_from_browser else "matrix product"
        if bound and bound < (timing.peak_operations or 0):
            share, peak = rate / bound, "limit of its memory"
        said.append(f"{format_percent(share)} of the measured {peak}")
    return _with_reason(said, timing)


def _with_reason(said: list[str], timing: Timing) -> str:
    return "<br>".join(filter(None, [*said, convergence.short_reason(convergence.reason(timing))]))


def errors(figure: go.Figure, timings: Sequence[Timing]) -> None:
    """Adds a label at each length that ran out of memory, and where the materialised kernel of a browser ends, its first."""
    found: dict[int, list[str]] = {}
    others: dict[int, list[bool]] = {}
    for label, line in lines(timings).items():
        for timing in (t for t in line if (t.error or "").startswith("out of memory")):
            ends = timing.implementation == MATERIALISED
            found.setdefault(timing.length, []).append(escape(f"{label}: {timing.error}" if ends else label))
            others.setdefault(timing.length, []).append(not ends)
            if ends:
                break
    for length in sorted(found)[:ERRORS]:
        figure.add_annotation(
            x=log10(length),
            y=0.01,
            yref="paper",
            yanchor="bottom",
            textangle=-90,
            text=f"{len(found[length])} out of memory" if any(others[length]) else "materialised ends",
            hovertext="<br>".join(found[length]),
            showarrow=False,
            font={"size": 11, "color": theme.PLOTLY_TEXT},
        )
