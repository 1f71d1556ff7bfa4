"""Results of measurements: charts, where and when they were made, tables and downloads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from attention.charts import timings as charts
from attention.charts.timing_look import Look
from attention.timing import answers, comparison, convergence, growth, recordings
from attention.timing.data_sheets import DATA_SHEETS
from attention.timing.recordings import Timing
from attention.timing.sweep import Case
from attention.ui.markdown import escape
from attention.ui.session import page
from attention.ui.text import timing as text
from attention.ui.views import timing_lines

LOOSE = "Open, faint marks are unstable times; hover to see why. "
CHARTS = {
    "time": "Seconds per call against length, both axes logarithmic: {} the band reaches up to the upper quartile. "
    f"{LOOSE}Dashed lines were recorded elsewhere. The colour is the implementation, the shape the device and the setting.",
    "speed-up": "How many times faster, {}, with a band for the uncertainty of both. Attention is compared with attention, "
    f"layers with layers. A star marks the length from which it is faster. {LOOSE}",
    "roofline": "Operations per second against operations per byte, below the best that each device reached in the same run: "
    f"its copy speed (slope) and its matrix product (ceiling). Roofs are grey, with the marks of their device. {LOOSE}",
    "memory": "Peak memory of a call beyond its inputs: from torch's allocator on an accelerator, from the process's resident "
    "size on a CPU (to about 1 MiB). A busy machine does not change it.",
    "transfer": "Shares of a call with its transfer: computing, copying q, k and v to the device, and copying the results "
    "back. Pale bars are unstable times.",
}
QUICKEST = {  # the statistic that is drawn for each case
    "time": "the line is the minimum, as other load only adds time;",
    "speed-up": "minimum over minimum",
}
MEDIAN = {
    "time": "the line is the median,",
    "speed-up": "median over median",
}  # for recordings without a quickest call
TEXTBOOK = "matmul softmax matmul"  # the base of comparisons until another one is selected
LIMITS = (
    "The least time that a GPU can take: its operations at the peak rate of its data sheet, or its bytes at its memory's "
    "bandwidth, whichever takes longer, and 3 µs to launch one kernel. No GPU was measured for it."
)
NOTHING = "No line matches this selection."
SENTENCES = 24  # maximum number of sentences about where a device is faster
SHARES = "of matmul peak", "of copy speed"  # columns of the table, as percentages
FORMATS = {
    name: st.column_config.NumberColumn(name, format="%.4g")
    for name in (
        "quickest, ms",
        "median, ms",
        "lower quartile, ms",
        "upper quartile, ms",
        "GFLOP/s",
        "times the best",
        "peak MiB",
        "to device, ms",
        "results back, ms",
        "first call, ms",
    )
} | {name: st.column_config.NumberColumn(name, format="%.1f%%") for name in SHARES}


def draw(found: Sequence[Timing], cases: Sequence[Case], lengths: Sequence[int], folded: bool) -> None:
    """Draws the selected chart, notes about it, and the tables, `folded` or not.

    `cases`: those of the sweep, which have limits by data sheet. `lengths` fixes the axes while points are still missing.
    """
    found = list(found)
    if not found:
        _bounds(cases)
        return
    chosen = _chart(found, lengths)
    _machine_notes(found, timing_lines.first(chosen, timing_lines.MOST))
    with st.expander(text.NUMBERS, icon=":material/table:") if folded else nullcontext():
        _table(found, chosen)


def _bounds(cases: Sequence[Case]) -> None:
    """Draws the limits by data sheets of a sweep of which nothing was timed."""
    lines = _limits(cases)
    if lines:
        figure, config = charts.seconds([], {case.length for case in cases}, lines), {"displaylogo": False}
        st.plotly_chart(figure, key="timing_bounds", width="stretch", config=config, alt=f"Lines: {LIMITS}")


def _chart(found: list[Timing], lengths: Sequence[int]) -> list[Timing]:
    """Draws the chart of the selected timings, and returns these."""
    offered, bases = _available_charts(found), comparison.bases(found)
    if page.widgets().get("timing_chart") not in offered:  # a recording with more charts was removed
        page.widgets()["timing_chart"] = "time"
    more: dict[str, Any] = {}
    with st.container(gap="small"):
        how: Any = {"key": "timing_chart", "required": True}
        which = st.pills("Chart", offered, **how) or "time"
        chosen = timing_lines.selected_timings(found)
        if which in ("time", "memory"):
            more["lengths"] = lengths
        if which == "time":
            timed = any(timing.device != "cpu" for timing in chosen)
            more["limits"] = _limits(_cases_of(chosen, lengths), timed)
        if which == "speed-up":
            more = _against(bases)
    drawn = QUICKEST if any(timing.quickest is not None for timing in chosen) else MEDIAN
    about = CHARTS[which].format(drawn.get(which, ""))
    st.caption(re.split("[:.] ", about)[0], help=about)
    most = timing_lines.BARS if which == "transfer" else timing_lines.MOST
    shown = timing_lines.first(_of_use(which, chosen, more), most)
    if not shown:
        st.info(NOTHING)
        return chosen
    if some := timing_lines.line_count_text(shown, _of_use(which, found, more)):
        st.caption(some)
    picture = {"format": "png", "filename": f"attention-{which}", "scale": 2}
    config = {"displaylogo": False, "displayModeBar": True, "toImageButtonOptions": picture}
    alt = f"{'Bars' if which == 'transfer' else 'Lines'}: {about}"
    st.plotly_chart(charts.CHARTS[which](shown, **more), key=f"timing_{which}", width="stretch", config=config, alt=alt)
    return chosen


def _cases_of(chosen: list[Timing], lengths: Sequence[int]) -> list[Case]:
    """The cases of some timings, and of one of them at other lengths."""
    known = comparison.with_times(chosen)
    return [*(replace(known[0].case, length=length) for length in lengths if known), *(timing.case for timing in known)]


def _limits(cases: Sequence[Case], timed: bool = False) -> dict[str, dict[int, float]]:
    """Draws the choice of GPUs whose limits are drawn, and returns these; there are none for cases of several settings.

    `timed`: whether a GPU was timed, so that none is chosen at first.
    """
    if len(set(map(comparison.setting, cases))) != 1:
        return {}
    first = [] if timed else [answers.SHEET]
    how: dict[str, Any] = {"selection_mode": "multi", "default": first, "key": "timing_limits"}
    names = st.pills("Limits by data sheet", list(DATA_SHEETS), help=LIMITS, **how)
    return answers.limits(cases, names)


def _available_charts(found: list[Timing]) -> list[str]:
    """The charts for which there are data in these timings."""
    lacks = {"speed-up": not comparison.bases(found), "transfer": not any(timing.to_device for timing in found)}
    return [name for name in CHARTS if not lacks.get(name)]


def _against(bases: list[str]) -> dict[str, Any]:
    """Draws the choice of the base of the speed-up, the CPU or an implementation, and whether transfer counts."""
    first = next((name for name in (comparison.CPU, TEXTBOOK) if name in bases), bases[0])
    against = st.selectbox("How many times faster than", bases, bases.index(first), key="timing_against", width=240)
    transfer = against == comparison.CPU and st.toggle("Count the transfer", key="timing_transfer")
    return {"against": against, "transfer": transfer}


def _of_use(which: str, timings: list[Timing], how: dict[str, Any]) -> list[Timing]:
    """The timings that a chart can show."""
    if which == "speed-up":
        return timing_lines.comparable_timings(timings, how["against"])
    return [timing for timing in timings if timing.to_device or which != "transfer"]


def _machine_notes(found: list[Timing], drawn: list[Timing]) -> None:
    """Says how busy a machine was, and on which devices shares of the peak exceed 100%."""
    for sentence in convergence.disturbance_sentences(found):
        st.caption(escape(sentence))
    for sentence in comparison.busy(drawn):
        st.caption(escape(sentence))


def _table(found: list[Timing], chosen: list[Timing]) -> None:
    pays = comparison.CPU in comparison.bases(found)
    named = dict(zip(names := ["Break-even length"] * pays + ["Growth", "Every case"], st.tabs(names), strict=True))
    if pays:
        with named["Break-even length"]:
            _pays(timing_lines.first(timing_lines.comparable_timings(chosen, comparison.CPU), timing_lines.MOST))
    with named["Growth"]:
        _growth(found)
    with named["Every case"]:
        frame = pd.DataFrame(comparison.columns(found)).dropna(axis="columns", how="all")
        for name in frame.columns.intersection(SHARES):
            frame[name] *= 100
        st.dataframe(frame, hide_index=True, key="timing_table", column_config=FORMATS)
    with st.container(horizontal=True):
        json, csv = (lambda: recordings.write_recording(found)), (lambda: recordings.table(found))
        st.download_button("JSON", json, "timings.json", "application/json", key="timing_json", on_click="ignore")
        st.download_button("CSV", csv, "timings.csv", "text/csv", key="timing_csv", on_click="ignore")
        st.caption("PNG: use the camera button above the chart.")


def _pays(drawn: list[Timing]) -> None:
    """Draws a sentence for each pair of a CPU and another device among the lines that are drawn."""
    said = comparison.crossovers(drawn) or ["No selected setting was timed on both a CPU and another device."]
    st.markdown("\n".join(f"- {escape(sentence)}" for sentence in said[:SENTENCES]))
    if len(said) > SENTENCES:
        st.caption(f"{len(said) - SENTENCES:,} more pairs are not listed. Use *Lines* above the chart to choose.")


def _growth(found: list[Timing]) -> None:
    """Draws the factor of time for twice the length, per line; for lines without one, the reason."""
    rows, reasons, look = [], Counter(), Look.of(found)
    for label, line in recordings.lines(found).items():
        if rise := growth.growth(line):
            rows.append(
                {
                    "line": look.legend_label(label, line[0]),  # as in the legend
                    "time for twice the length": f"{rise.doubling:.3g} times",
                    "exponent of the length": rise.power,
                    "fitted over": rise.over,
                }
            )
        else:
            reasons[growth.why_not(line)] += 1
    if rows:
        st.dataframe(pd.DataFrame(rows), hide_index=True, key="timing_growth")
    for reason, count in reasons.most_common():
        st.caption(escape(f"No exponent for {count:,} line{'s' * (count != 1)}: {reason}."))
