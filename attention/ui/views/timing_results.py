"""What was timed, shown: charts, where and when, tables and downloads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from attention.charts import timings as charts
from attention.timing import comparison, recordings
from attention.timing.recordings import Timing
from attention.ui.views import timing_lines
from attention.ui.words import plain

CHARTS = {
    "time": "Time against length, both axes logarithmic: the median in a band between the quartiles. An open mark did "
    "not settle: its quartiles are over 10 % of the median apart, or were taken too few times. A dashed line was recorded "
    "elsewhere. Colours are implementations, shapes devices and whatever else differs.",
    "speed-up": "How many times faster than the CPU, with what the quartiles leave open. The star: where it pays.",
    "roofline": "Operations a second against operations a byte, under what each device reached at best: its copying "
    "speed (the slope) and its matrix product (the ceiling), measured in the same run. A roof is grey and has the "
    "shape of what stands under it.",
    "memory": "The most that a call held beyond its inputs: torch's allocator on an accelerator, the greatest resident "
    "size of the process on a CPU (exact to about 1 MiB).",
    "transfer": "Of a call with its transfer: the share that is computing, that moves q, k and v to the device, and that "
    "moves the results back.",
}

NOTHING = {
    "speed-up": "A speed-up needs the same implementation on a CPU and on another device. Add a recording below.",
    "transfer": "Nothing was moved: the timings so far are of a CPU.",
}
SENTENCES = 24  # on where a device pays, at the most
FORMATS = {
    name: st.column_config.NumberColumn(name, format="%.4g")
    for name in (
        "ms",
        "lower quartile, ms",
        "upper quartile, ms",
        "GFLOP/s",
        "times the best",
        "peak MiB",
        "to device, ms",
        "results back, ms",
        "first call, ms",
    )
} | {name: st.column_config.NumberColumn(name, format="percent") for name in ("of matmul peak", "of copy speed")}


def draw(found: list[Timing], lengths: Sequence[int]) -> None:
    """The chart that was chosen, what is to be known about it, and the tables.

    `lengths` fixes the axes while points are still to come.
    """
    chosen = _chart(found, lengths)
    _said(timing_lines.first(chosen, timing_lines.MOST))
    _table(found, chosen)


def _chart(found: list[Timing], lengths: Sequence[int]) -> list[Timing]:
    """Draws the chart of the timings that were chosen, and gives these."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        which = st.segmented_control(
            "Chart", list(CHARTS), key="timing_chart", default="time", required=True, label_visibility="collapsed"
        )
        chosen = timing_lines.chosen(found)
    how: dict[str, Any] = {}
    if which in ("time", "memory"):
        how["lengths"] = lengths
    if which == "speed-up":
        how["transfer"] = st.toggle("Count the transfer", key="timing_transfer")
    st.caption(CHARTS[which])
    most = timing_lines.BARS if which == "transfer" else timing_lines.MOST
    shown = timing_lines.first(_of_use(which, chosen), most)
    if not shown:
        st.info(NOTHING.get(which, "No line has all of what was chosen."))
        return chosen
    if some := timing_lines.told(shown, _of_use(which, found)):
        st.caption(some)
    picture = {"format": "png", "filename": f"attention-{which}", "scale": 2}
    config = {"displaylogo": False, "displayModeBar": True, "toImageButtonOptions": picture}
    alt = f"{'Bars' if which == 'transfer' else 'Lines'}: {CHARTS[which]}"
    st.plotly_chart(charts.CHARTS[which](shown, **how), key=f"timing_{which}", width="stretch", config=config, alt=alt)
    return chosen


def _of_use(which: str, timings: list[Timing]) -> list[Timing]:
    """Those that a chart has something to say about."""
    if which == "speed-up":
        return timing_lines.compared(timings)
    return [timing for timing in timings if timing.to_device or which != "transfer"]


def _said(found: list[Timing]) -> None:
    """What is to be known before shares are believed."""
    for sentence in comparison.busy(found):
        st.caption(plain(sentence))


def _table(found: list[Timing], chosen: list[Timing]) -> None:
    pays, growth, all_of_them = st.tabs(["Where a device pays", "Growth", "Every case"])
    with pays:
        _pays(timing_lines.first(timing_lines.compared(chosen), timing_lines.MOST))
    with growth:
        st.dataframe(_growth(found), hide_index=True, key="timing_growth")
    with all_of_them:
        frame = pd.DataFrame(comparison.columns(found))
        st.dataframe(frame, hide_index=True, key="timing_table", column_config=FORMATS)
    with st.container(horizontal=True):
        json, csv = (lambda: recordings.written(found)), (lambda: recordings.table(found))
        st.download_button("JSON", json, "timings.json", "application/json", key="timing_json", on_click="ignore")
        st.download_button("CSV", csv, "timings.csv", "text/csv", key="timing_csv", on_click="ignore")
        st.caption("PNG: the camera above the chart.")


def _pays(drawn: list[Timing]) -> None:
    """A sentence for each pair of a CPU and another device among the lines that are drawn."""
    said = comparison.crossovers(drawn) or ["This needs the same implementation on a CPU and on another device."]
    st.markdown("\n".join(f"- {plain(sentence)}" for sentence in said[:SENTENCES]))
    if len(said) > SENTENCES:
        st.caption(f"{len(said) - SENTENCES:,} more pairs are left out. *Lines*, above the chart, chooses.")


def _growth(found: list[Timing]) -> pd.DataFrame:
    rows = []
    for label, line in recordings.lines(found).items():
        if rise := comparison.growth(line):
            error = f" ± {rise.error:.2f}" if rise.error is not None else ""
            over = f"{rise.lengths[0]:,} to {rise.lengths[1]:,}"
            power = f"{rise.exponent:.2f}{error}"
            loose = f"{rise.loose} of its points" if rise.loose else ""
            rows.append({"line": label, "time grows as length to the power": power, "over": over, "not settled": loose})
    return pd.DataFrame(rows)
