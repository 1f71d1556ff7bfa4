"""Results of measurements: charts, where and when they were made, tables and downloads."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from attention.charts import break_even as break_even_chart
from attention.charts import line_ends
from attention.charts import timings as charts
from attention.timing import (
    answers,
    chart_findings,
    comparison,
    convergence,
    growth,
    line_names,
    recordings,
    result_table,
)
from attention.timing.cpu_gpu_settings import BREAK_EVEN
from attention.timing.data_sheets import DATA_SHEETS
from attention.timing.recordings import Timing
from attention.timing.sweep import Case
from attention.ui.markdown import escape
from attention.ui.session import page
from attention.ui.text import timing as text
from attention.ui.views import timing_chart, timing_lines, timing_notes, timing_sizes

LIMITS_KEY = "timing_limits"
FEW_NAMES = 2  # lines without an exponent that are named
SENTENCES = 24  # maximum number of sentences about where a device is faster
SHARES = "of matmul peak", "of copy speed"  # columns of the table, as percentages
FORMATS = {
    name: st.column_config.NumberColumn(name, format="%.3g")
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
FORMATS["line"] = st.column_config.TextColumn("line", width=300)
FORMATS["settled"] = st.column_config.CheckboxColumn("stable")
FORMATS["tokens"] = st.column_config.NumberColumn("tokens", format="localized")


def draw_choices(found: Sequence[Timing], cases_at: Sequence[int] = ()) -> None:
    """Draws the choices of the selected chart: its lines, and what it compares them with.

    A break-even draws one pair, so that it has a choice of lines only where lines were selected.
    """
    chart = timing_chart.selected_chart(found, cases_at)
    if not found:
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        if chart.which != BREAK_EVEN or timing_lines.has_choice():
            timing_lines.choose(list(found), chart.offered, timing_chart.most(chart.which))
        if chart.which in (
            timing_sizes.TIME,
            timing_sizes.RATIO,
        ) and timing_sizes.RATIO in timing_chart.available_charts(found):
            timing_sizes.choose_ratio()
        if chart.which == "time":
            _choose_limits(_cases_of(chart.selected, cases_at), any(t.device != "cpu" for t in chart.selected))
        if chart.which == "speed-up":
            _choose_base(comparison.bases(found))


def draw(
    found: Sequence[Timing],
    cases: Sequence[Case],
    lengths: Sequence[int],
    first: bool,
    told: bool = False,
    of: str = "",
) -> None:
    """Draws the selected chart, notes about it, and the tables.

    `first`: as the first picture of the page, which has the choices and the finding above it, and its tables folded. `cases`:
    those of the sweep, which have limits by data sheet. `lengths` fixes the axes while points are still missing. `told`: whether
    how to read the chart stands above it. `of`: what the chart is of, for its caption.
    """
    found = list(found)
    if not found:
        _bounds(cases)
        return
    if not first:
        timing_sizes.choose_chart(timing_chart.available_charts(found))
        draw_choices(found, lengths)
    chart = timing_chart.selected_chart(found, lengths)
    _chart(chart, lengths, first, told, of)
    if chart.which != "memory":  # which no other work changes
        drawn = {timing.origin for timing in chart.shown}
        own = [timing for timing in found if not timing.source and timing.origin in drawn]
        _machine_notes(own, [timing for timing in chart.shown if not timing.source])
    with st.expander(text.NUMBERS, icon=":material/table:") if first else nullcontext():
        _table(found, chart.selected)
        recorded = [timing for timing in found if timing.source]
        _machine_notes(recorded, [timing for timing in chart.shown if timing.source])
        for sentence in line_names.origins(found):
            st.caption(escape(sentence))


def draw_alone(found: Sequence[Timing], cases: Sequence[Case]) -> None:
    """Draws the selected chart alone; if there are no times, that of the limits by a data sheet."""
    chart = timing_chart.selected_chart(found)
    if chart.which != "time" and chart.shown:
        _figure(chart, chart.more, _about(chart))
        return
    timed = timing_lines.first(comparison.with_times(found), timing_lines.MOST)
    limits = {} if timed or len(comparison.settings(cases)) != 1 else answers.limits(cases, [answers.SHEET])
    figure = charts.seconds(timed, () if timed else {case.length for case in cases}, limits)
    alt = text.LINES_ALT.format(chart=text.LIMITS_HELP if limits else text.CHARTS["time"].format(drawn="", open=""))
    st.plotly_chart(figure, key="timing_time", width="stretch", config={"displaylogo": False}, alt=alt)


def _bounds(cases: Sequence[Case]) -> None:
    """Draws the limits by data sheets of a sweep of which nothing was timed."""
    _choose_limits(cases, False)
    if lines := _limits(cases):
        figure, config = charts.seconds([], {case.length for case in cases}, lines), {"displaylogo": False}
        st.plotly_chart(
            figure,
            key="timing_bounds",
            width="stretch",
            config=config,
            alt=text.LINES_ALT.format(chart=text.LIMITS_HELP),
        )


def how_to_read(chart: timing_chart.Chart) -> tuple[str, str]:
    """How to read a chart, in one sentence, with how times grow, and for its help why they grow so."""
    lengths = {timing.length for timing in chart.shown}
    if chart.which == "time" and len(lengths) > 1 and not any(t.queries or t.window for t in chart.shown):
        compared = chart_findings.pair_finding(chart.subject)
        growth = chart_findings.growth_finding(chart.subject, brief=True) if compared else ""
        return text.GROWN.format(growth=growth) if growth else text.SQUARE, text.WHY_GROWN
    return f"{_about(chart).partition('. ')[0]}.", ""


def _about(chart: timing_chart.Chart) -> str:
    """How to read a chart, and what it shows."""
    drawn = text.QUICKEST if any(timing.is_minimum for timing in chart.shown) else text.MEDIAN
    base = chart.more.get("against", comparison.CPU)
    base = text.SAME_CODE if base == comparison.CPU else base
    if chart.which == "roofline" and chart_findings.is_of_one_intensity(chart.shown):
        return text.FLAT_LIMIT.format(open=text.OPEN)
    found = chart.break_even
    crossing = (text.BETWEEN if found.between(True) else text.CROSSING) if found and found.meeting(True) else ""
    drawn_as = drawn.get(chart.which, "")
    return text.CHARTS[chart.which].format(drawn=drawn_as, open=text.OPEN, base=base, crossing=crossing)


def _chart(chart: timing_chart.Chart, lengths: Sequence[int], first: bool, told: bool, of: str) -> None:
    """Draws a chart with a caption, and its finding, unless it is the first of the page, which has that above it."""
    which, more = chart.which, dict(chart.more)
    if which == "time":
        more["limits"] = _limits(_cases_of(chart.selected, lengths))
    about = _about(chart)
    if not chart.shown:
        st.info(text.NO_LINE)
        return
    _figure(chart, more, about)
    visible, more_notes = timing_notes.notes(chart.which, chart.shown, chart.selected)
    some, others = timing_lines.line_count_text(chart.shown, chart.offered, more.get("against", ""))
    if comparison.settings(chart.selected) - comparison.settings(chart.shown):
        some, others = f"{some}{others}", ""  # what was ticked and is not drawn
        some = text.ONE_COMBINATION if which == BREAK_EVEN else some
    is_complete = which == timing_sizes.RATIO and not some
    lone = timing_lines.without_counterpart_text(chart.selected, chart.offered) if is_complete else ""
    reading, why = ("", "") if told else how_to_read(chart)
    said = filter(None, [of, reading, *visible, some, lone])
    st.caption(" ".join(said), help=f"{' '.join(filter(None, [why, *more_notes, about]))}{others}")
    if not first and chart.finding:
        st.markdown(escape(chart.finding))
    if (found := chart.break_even) and not found.longest.queries:
        st.markdown(f"**{text.WHY_COPY}** {escape(found.reason)}")
    if timing_lines.count(chart.shown) > line_ends.MOST and which in (timing_sizes.TIME, timing_sizes.RATIO):
        _every_line(chart.shown)


def _every_line(shown: list[Timing]) -> None:
    """Draws a table that names each line of a chart in which most are pale, the fastest first."""
    if found := result_table.at_one_length(shown):
        unit = text.KEYS if all(timing.queries for timing in shown) else text.TOKENS
        fastest = ", ".join(text.FASTEST.format(line=name, machine=machine) for name, machine in found.fastest)
        st.caption(escape(text.EVERY_LINE.format(length=found.length, unit=unit, fastest=fastest)))
        written = {
            name: ["–" if cell is None else escape(cell) if isinstance(cell, str) else f"{cell:.3g}" for cell in cells]
            for name, cells in found.columns.items()
        }
        st.table(pd.DataFrame(written), border="horizontal", hide_index=True)  # whose cells wrap


def _figure(chart: timing_chart.Chart, more: dict[str, Any], about: str) -> None:
    """Draws the figure of a chart with its arguments; `about`: how to read it."""
    which = chart.which
    picture = {"format": "png", "filename": f"attention-{which}", "scale": 2}
    config = {"displaylogo": False, "displayModeBar": "hover", "toImageButtonOptions": picture}
    alt = (text.BARS_ALT if which == "transfer" else text.LINES_ALT).format(chart=about)
    figure = (
        break_even_chart.figure(chart.break_even)
        if chart.break_even
        else charts.CHARTS[which](sorted(chart.shown, key=lambda timing: not timing.source), **more)
    )
    st.plotly_chart(figure, key=f"timing_{which}", width="stretch", config=config, alt=alt)


def _cases_of(chosen: list[Timing], lengths: Sequence[int]) -> list[Case]:
    """The cases of some timings, and of one of them at other lengths."""
    known = comparison.with_times(chosen)
    return [*(replace(known[0].case, length=length) for length in lengths if known), *(timing.case for timing in known)]


def _choose_limits(cases: Sequence[Case], timed: bool) -> None:
    """Draws the choice of GPUs whose limits are drawn; there is none for cases of several settings.

    `timed`: whether a GPU was timed, so that none is chosen at first.
    """
    if len(comparison.settings(cases)) != 1:
        return
    how: dict[str, Any] = {"selection_mode": "multi", "default": [] if timed else [answers.SHEET], "key": LIMITS_KEY}
    with st.popover(text.LIMITS, help=text.LIMITS_HELP):
        st.pills(text.LIMITS, list(DATA_SHEETS), label_visibility="collapsed", **how)


def _limits(cases: Sequence[Case]) -> dict[str, dict[int, float]]:
    """The limits of the chosen GPUs; there are none for cases of several settings."""
    single = len(comparison.settings(cases)) == 1
    return answers.limits(cases, page.widgets().get(LIMITS_KEY) or []) if single else {}


def _choose_base(bases: list[str]) -> None:
    """Draws the choice of the base of the speed-up, the CPU or an implementation, and whether transfer counts."""
    against = st.selectbox(
        text.AGAINST, bases, bases.index(timing_chart.first_base(bases)), key=timing_chart.AGAINST_KEY, width=240
    )
    if against == comparison.CPU:
        st.toggle(text.TRANSFER, key=timing_chart.TRANSFER_KEY)


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
        _every_case(found)
    _downloads(found)


def draw_numbers(found: list[Timing]) -> None:
    """Draws the numbers of a chart of one comparison and where they were measured, folded."""
    with st.expander(text.NUMBERS, icon=":material/table:"):
        _every_case(found, key="break_even")
        _downloads(found, key="break_even")
        for sentence in line_names.origins(found):
            st.caption(escape(sentence))


def _every_case(found: list[Timing], key: str = "timing") -> None:
    """Draws a table of all timings."""
    frame = pd.DataFrame(result_table.columns(found)).dropna(axis="columns", how="all")
    short = line_names.line_names(found)
    frame["line"] = [short[line] for line in frame["line"]]
    for name in frame.columns.intersection(SHARES):
        frame[name] *= 100
    st.dataframe(frame, hide_index=True, key=f"{key}_table", column_config=FORMATS, placeholder="–")


def _downloads(found: list[Timing], key: str = "timings") -> None:
    """Draws the downloads of timings."""
    with st.container(horizontal=True):
        json, csv = (lambda: recordings.write_recording(found)), (lambda: recordings.table(found))
        st.download_button("JSON", json, "timings.json", "application/json", key=f"json of {key}", on_click="ignore")
        st.download_button("CSV", csv, "timings.csv", "text/csv", key=f"csv of {key}", on_click="ignore")
        st.caption(text.PNG)


def _pays(drawn: list[Timing]) -> None:
    """Draws a sentence for each pair of a CPU and another device among the lines that are drawn."""
    names = line_names.line_names(drawn) | line_names.machine_names(drawn)
    said = comparison.crossovers(drawn, names) or [text.NO_PAIR]
    st.markdown("\n".join(f"- {escape(line_names.of_keys(sentence, drawn))}" for sentence in said[:SENTENCES]))
    if len(said) > SENTENCES:
        st.caption(text.MORE_PAIRS.format(count=len(said) - SENTENCES))


def _growth(found: list[Timing]) -> None:
    """Draws the factor of time for twice the length, per line; for lines without one, the reason."""
    rows, reasons, names = [], dict[str, list[str]](), line_names.line_names(found)
    by_label = recordings.lines(found)
    for label, rise in growth.of_lines(by_label).items():
        if rise:
            rows.append((names[label], text.TIMES.format(factor=rise.factor), rise.power, rise.over))
        else:
            reasons.setdefault(growth.why_not(by_label[label]), []).append(names[label])
    if rows:
        st.dataframe(pd.DataFrame(rows, columns=list(text.GROWTH_COLUMNS)), hide_index=True, key="timing_growth")
    for reason, lines in sorted(reasons.items(), key=lambda item: -len(item[1])):
        which = text.AND.join(lines) if len(lines) <= FEW_NAMES else text.LINES_COUNT.format(count=len(lines))
        st.caption(escape(text.NO_EXPONENT.format(lines=which, reason=reason)))
