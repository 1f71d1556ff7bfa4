"""Results of measurements: charts, where and when they were made, tables and downloads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from attention.charts import timings as charts
from attention.charts.timing_look import Look
from attention.timing import answers, chart_findings, comparison, convergence, growth, recordings
from attention.timing.data_sheets import DATA_SHEETS
from attention.timing.recordings import Timing
from attention.timing.sweep import Case
from attention.ui.markdown import escape
from attention.ui.session import page
from attention.ui.text import timing as text
from attention.ui.views import timing_lines, timing_sizes

TEXTBOOK = "matmul softmax matmul"  # the base of comparisons until another one is selected
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


def draw(found: Sequence[Timing], cases: Sequence[Case], lengths: Sequence[int], first: bool) -> None:
    """Draws the selected chart, notes about it, and the tables.

    `first`: as the first picture of the page, which has the choice of the chart above it, and its tables folded. `cases`: those
    of the sweep, which have limits by data sheet. `lengths` fixes the axes while points are still missing.
    """
    found = list(found)
    if not found:
        _bounds(cases)
        return
    chosen = _chart(found, lengths, chosen_above=first)
    _machine_notes(found, timing_lines.first(chosen, timing_lines.MOST))
    with st.expander(text.NUMBERS, icon=":material/table:") if first else nullcontext():
        _table(found, chosen)


def draw_alone(found: Sequence[Timing], cases: Sequence[Case]) -> None:
    """Draws the chart of times alone; if there are none, that of the limits by a data sheet."""
    timed = timing_lines.first(comparison.with_times(found), timing_lines.MOST)
    limits = {} if timed or len(set(map(comparison.setting, cases))) != 1 else answers.limits(cases, [answers.SHEET])
    figure = charts.seconds(timed, () if timed else {case.length for case in cases}, limits)
    alt = text.LINES_ALT.format(chart=text.LIMITS_HELP if limits else text.CHARTS["time"].format(drawn="", faint=""))
    st.plotly_chart(figure, key="timing_time", width="stretch", config={"displaylogo": False}, alt=alt)


def _bounds(cases: Sequence[Case]) -> None:
    """Draws the limits by data sheets of a sweep of which nothing was timed."""
    lines = _limits(cases)
    if lines:
        figure, config = charts.seconds([], {case.length for case in cases}, lines), {"displaylogo": False}
        st.plotly_chart(
            figure,
            key="timing_bounds",
            width="stretch",
            config=config,
            alt=text.LINES_ALT.format(chart=text.LIMITS_HELP),
        )


def _chart(found: list[Timing], lengths: Sequence[int], chosen_above: bool) -> list[Timing]:
    """Draws the chart of the selected timings, and returns these."""
    offered, bases = available_charts(found), comparison.bases(found)
    more: dict[str, Any] = {}
    with st.container(gap="small"):
        if not chosen_above:
            timing_sizes.choose_chart(offered)
        which = page.widgets().get(timing_sizes.CHART)
        which = which if which in offered else "time"
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            chosen = timing_lines.selected_timings(found)
            if which in ("time", "memory"):
                more["lengths"] = lengths
            if which == "time":
                timed = any(timing.device != "cpu" for timing in chosen)
                more["limits"] = _limits(_cases_of(chosen, lengths), timed)
            if which == "speed-up":
                more = _against(bases)
    drawn = text.QUICKEST if any(timing.quickest is not None for timing in chosen) else text.MEDIAN
    about = text.CHARTS[which].format(drawn=drawn.get(which, ""), faint=text.FAINT)
    most = timing_lines.BARS if which == "transfer" else timing_lines.MOST
    shown = timing_lines.first(_of_use(which, chosen, more), most)
    if not shown:
        st.info(text.NO_LINE)
        return chosen
    if some := timing_lines.line_count_text(shown, _of_use(which, found, more)):
        st.caption(some)
    picture = {"format": "png", "filename": f"attention-{which}", "scale": 2}
    config = {"displaylogo": False, "displayModeBar": True, "toImageButtonOptions": picture}
    alt = (text.BARS_ALT if which == "transfer" else text.LINES_ALT).format(chart=about)
    st.plotly_chart(charts.CHARTS[which](shown, **more), key=f"timing_{which}", width="stretch", config=config, alt=alt)
    st.caption(re.split("[:.] ", about)[0], help=about)
    pair = {name: value for name, value in more.items() if name in ("against", "transfer")}
    if said := chart_findings.line_finding(which, shown, **pair):
        st.markdown(escape(said))
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
    with st.popover(text.LIMITS, help=text.LIMITS_HELP):
        names = st.pills(text.LIMITS, list(DATA_SHEETS), label_visibility="collapsed", **how)
    return answers.limits(cases, names)


def available_charts(found: Iterable[Timing]) -> list[str]:
    """The charts for which there are data in these timings."""
    found = list(found)
    lacks = {"speed-up": not comparison.bases(found), "transfer": not any(timing.to_device for timing in found)}
    return [name for name in text.CHARTS if not lacks.get(name)]


def _against(bases: list[str]) -> dict[str, Any]:
    """Draws the choice of the base of the speed-up, the CPU or an implementation, and whether transfer counts."""
    first = next((name for name in (comparison.CPU, TEXTBOOK) if name in bases), bases[0])
    against = st.selectbox(text.AGAINST, bases, bases.index(first), key="timing_against", width=240)
    transfer = against == comparison.CPU and st.toggle(text.TRANSFER, key="timing_transfer")
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
    named = dict(zip(names := [text.BREAK_EVEN] * pays + [text.GROWTH, text.EVERY_CASE], st.tabs(names), strict=True))
    if pays:
        with named[text.BREAK_EVEN]:
            _pays(timing_lines.first(timing_lines.comparable_timings(chosen, comparison.CPU), timing_lines.MOST))
    with named[text.GROWTH]:
        _growth(found)
    with named[text.EVERY_CASE]:
        frame = pd.DataFrame(comparison.columns(found)).dropna(axis="columns", how="all")
        for name in frame.columns.intersection(SHARES):
            frame[name] *= 100
        st.dataframe(frame, hide_index=True, key="timing_table", column_config=FORMATS)
    with st.container(horizontal=True):
        json, csv = (lambda: recordings.write_recording(found)), (lambda: recordings.table(found))
        st.download_button("JSON", json, "timings.json", "application/json", key="timing_json", on_click="ignore")
        st.download_button("CSV", csv, "timings.csv", "text/csv", key="timing_csv", on_click="ignore")
        st.caption(text.PNG)


def _pays(drawn: list[Timing]) -> None:
    """Draws a sentence for each pair of a CPU and another device among the lines that are drawn."""
    said = comparison.crossovers(drawn) or [text.NO_PAIR]
    st.markdown("\n".join(f"- {escape(sentence)}" for sentence in said[:SENTENCES]))
    if len(said) > SENTENCES:
        st.caption(text.MORE_PAIRS.format(count=len(said) - SENTENCES))


def _growth(found: list[Timing]) -> None:
    """Draws the factor of time for twice the length, per line; for lines without one, the reason."""
    rows, reasons, look = [], Counter(), Look.of(found)
    for label, line in recordings.lines(found).items():
        if rise := growth.growth(line):
            name = look.legend_label(label, line[0])  # as in the legend
            rows.append((name, text.TIMES.format(factor=rise.doubling), rise.power, rise.over))
        else:
            reasons[growth.why_not(line)] += 1
    if rows:
        st.dataframe(pd.DataFrame(rows, columns=list(text.GROWTH_COLUMNS)), hide_index=True, key="timing_growth")
    for reason, count in reasons.most_common():
        template = text.NO_EXPONENT if count == 1 else text.NO_EXPONENT_MORE
        st.caption(escape(template.format(count=count, reason=reason)))
