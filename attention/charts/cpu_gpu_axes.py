"""The axes, the legend and the size of the charts of a CPU against GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10
from textwrap import wrap
from typing import Any

import plotly.graph_objects as go

from attention.charts import open_marks
from attention.charts.line_ends import name_lines
from attention.charts.timing_axes import rate_ticks, time_ticks
from attention.charts.timing_marks import FINE, FONT, LEGEND, ROW, TOOLBAR, WIDTH, foot
from attention.timing import cpu_gpu_series
from attention.timing.cpu_gpu_series import TimingSeries
from attention.timing.cpu_gpu_settings import CpuGpuSettings
from attention.timing.published import LENGTHS

HEIGHT = 420  # pixels, without its legend
Y = {"time": "time per call", "times faster": "times as fast as the CPU", "rate": "operations per second"}
ENDS = {"time": (5e-5, 30.0), "times faster": (0.7, 2e4), "rate": (2e10, 1.2e15), "limits": (2e10, 1.2e15)}
SAMPLE = 46  # pixels of the line of a legend entry


def lay_out(found: go.Figure, versus: CpuGpuSettings, every: Sequence[TimingSeries]) -> None:
    """Sets the layout. The axes keep their ranges when settings change, unless a point lies beyond them."""
    ends = _ends(found, versus.picture)
    is_named = name_lines(found, HEIGHT, ends)
    names = dict.fromkeys(trace.name for trace in _traces(found) if trace.showlegend is not False and trace.name)
    legend_rows = sum(len(wrap(name.replace("<br>", " "), WIDTH)) for name in names)
    found.update_layout(
        font={"family": FONT},
        height=HEIGHT + TOOLBAR + ROW * legend_rows,
        margin={"t": TOOLBAR, "b": 10, "l": 10, "r": 10},
        legend=LEGEND | {"itemwidth": SAMPLE},
        hovermode="closest",
    )
    if is_named:
        opened: list[Any] = list(found.select_traces({"legendgroup": open_marks.GROUP}))
        origins = dict.fromkeys(series.origin for series in every)
        rows = [*origins, *(f"○ {trace.name}" for trace in opened)]
        found.update_layout(**foot([line for row in rows for line in wrap(row, FINE)], HEIGHT + TOOLBAR))
    found.update_xaxes(type="log", **_across(versus, every))
    title = Y.get(versus.picture, Y["rate"])
    ticks = {
        "time": time_ticks(*ends),
        "times faster": {"dtick": 1, "tickformat": ",~g"},
    }.get(versus.picture, rate_ticks(*ends))
    found.update_yaxes(type="log", title=title, range=ends, **ticks)


def _across(versus: CpuGpuSettings, every: Sequence[TimingSeries]) -> dict[str, Any]:
    """Returns the axis of lengths, or of operations per byte."""
    if versus.picture == "limits":
        least = cpu_gpu_series.intensity(LENGTHS[0], versus, "float32")
        most = cpu_gpu_series.intensity(LENGTHS[-1], versus)
        reach = [log10(least / 4), log10(most * 2)]
        return {"title": "operations per byte", "dtick": 1, "tickformat": ",", "range": reach}
    shown = cpu_gpu_series.lengths(every if versus.picture == "rate" else ())
    ticks = {"tickvals": shown, "ticktext": [f"{n:,}" for n in shown]}
    return {"title": "length (tokens)", "range": [log10(shown[0]) - 0.08, log10(shown[-1]) + 0.08], **ticks}


def _ends(found: go.Figure, picture: str) -> list[float]:
    """Returns the logarithms of both ends of the y axis."""
    ys = [y for trace in _traces(found) for y in (trace.y if trace.y is not None else ()) if y]
    low, high = ENDS[picture]
    return [log10(min([low, *ys])), log10(max([high, *(y * 1.3 for y in ys)]))]


def _traces(found: go.Figure) -> list[Any]:
    return list(found.data)
