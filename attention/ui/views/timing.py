"""Timing: measure here, add recordings, and see time, speed-up, roofline, memory and transfer."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from attention import comparison, recordings
from attention.charts import timings as charts
from attention.components.copy_link import copy_link
from attention.recordings import RecordingError, Timing
from attention.sweep import Sweep, flags
from attention.ui import compute, measuring, page
from attention.ui.measuring import DESK, Job
from attention.ui.words import plain

EVERY = 1.5  # seconds between two looks at what is being measured
COMMAND = "python -m attention.timing"
CHARTS = {
    "time": "Time against length, both axes logarithmic: the median in a band between the quartiles. An open mark: "
    "the quartiles stayed over 10 % of the median apart. A dashed line was recorded elsewhere.",
    "speed-up": "How many times faster than the CPU, with what the quartiles leave open. The star: where it pays.",
    "roofline": "Operations a second against operations a byte, under what each device reached at best: its copying "
    "speed (the slope) and its matrix product (the ceiling), measured in the same run.",
    "memory": "The most that a call held beyond its inputs: torch's allocator on an accelerator, the greatest resident "
    "size of the process on a CPU (exact to about 1 MiB).",
    "transfer": "What a call takes, and what moving q, k and v there and the results back takes.",
}
METHOD = """
- **What is timed** is a whole call, with the memory that it asks for. Inputs, masks, layers and compiled kernels are
  made before. Data are normal and drawn anew for each visit; a GPU is waited for before the clock is read.
- **Order.** Each case is visited at least three times, in rounds that are shuffled anew, until its quartiles are within
  10 % of the median or the budget is spent. The timer is `torch.utils.benchmark`, with the threads that are stated.
- **Operations** are counted as 4 b h n² d for a forward pass (two products; the softmax is not counted), 3.5 times that
  with the backward pass, and half of it under a causal mask where the implementation skips the future. A layer adds
  2 b n (h d)² for each of its maps. *Of matmul peak* and *of copy speed* compare with the best product and the best copy on the
  same device, in the same run; the least traffic counts, so that caches can take it over 100 %.
- **Transfer** is from and to ordinary memory: q, k and v there, all results back, the weights included where they are.
- **Running out of memory** is a result. What would not fit by count, or outlast the budget, is not tried and says so.
- nn.MultiheadAttention runs in eval mode forward (without a mask it then uses no fused kernel) and in train mode
  backward. An explicit mask, which it needs for causal, forfeits the causal skip.
"""


def view(sweep: Sweep) -> None:
    """The page of a sweep."""
    title, link = st.columns([5, 1], vertical_alignment="bottom")
    with title:
        st.markdown("**Timing.** How long does this attention take, and from which length on does a GPU pay?")
    with link:
        copy_link()
    job: Job | None = page.kept("job")
    _start(sweep, job)
    st.fragment(_live, run_every=EVERY if job and job.open else None)()
    _recordings(sweep)
    with st.expander("How it is measured"):
        st.markdown(METHOD)


def _start(sweep: Sweep, job: Job | None) -> None:
    """The button, and what pressing it means."""
    button, told = st.columns([1, 4], vertical_alignment="center")
    going = job is not None and job.open
    with button:
        if going:
            st.button(
                "Cancel",
                key="cancel",
                on_click=DESK.cancel,
                args=(job,),
                width="stretch",
                help="What was measured stays.",
            )
        else:
            off = not measuring.allowed()
            st.button(
                "Measure here",
                key="measure",
                type="primary",
                on_click=_measure,
                args=(sweep,),
                width="stretch",
                disabled=off,
            )
    with told:
        st.caption(_estimate(sweep))


def _measure(sweep: Sweep) -> None:
    page.put(job=DESK.submit(sweep))


def _estimate(sweep: Sweep) -> str:
    if not measuring.allowed():
        return "The owner of this host has switched measuring off. Recordings can still be shown."
    names = ", ".join(f"{name}" for key, name in compute.devices().items() if not sweep.devices or key in sweep.devices)
    count = sweep.combinations * (1 if sweep.devices else len(compute.devices()))
    threads = f"{sweep.threads}" if sweep.threads else "all"
    return plain(
        f"Up to {count:,} cases in at most {min(sweep.seconds, measuring.longest()):g} seconds, on {names}, with "
        f"{threads} CPU threads, in a process of its own."
    )


def _live() -> None:
    """What changes while a sweep is being measured: its progress, the charts and the table."""
    job: Job | None = page.kept("job")
    if job is not None:
        _progress(job)
        if not job.open and page.kept("job_was_open"):
            page.put(job_was_open=False)
            st.rerun()
        page.put(job_was_open=job.open)
    found = _timings(job)
    _gpu_or_how(found)
    if found:
        _chart(found, job.sweep.lengths if job else ())
        _said(found)
        _table(found)


def _progress(job: Job) -> None:
    before = DESK.before(job)
    measured = sum(timing.error is None for timing in job.timings.values())
    words = {
        "waiting": f"Waiting: {before} before this one. One sweep at a time is measured on this host.",
        "measuring": f"Measuring: {measured} cases so far.",
        "done": f"Measured {measured} cases.",
        "cancelled": f"Cancelled; {measured} cases were measured and stay.",
        "failed": f"Measuring failed. {plain(job.said)}",
    }
    if job.state == "failed":
        st.error(words["failed"], icon=":material/error:")
    else:
        st.progress(min(job.share, 1.0) if job.state != "done" else 1.0, text=words[job.state])


def _timings(job: Job | None) -> list[Timing]:
    """All that is shown: measured here, shipped with the app, and uploaded."""
    uploaded = page.kept("uploaded", [])
    return [*(job.timings.values() if job else ()), *compute.shipped(), *uploaded]


def _gpu_or_how(found: Sequence[Timing]) -> None:
    """Where there is no GPU and no recording of one: says so, and what to run."""
    if len(compute.devices()) > 1 or any(timing.device != "cpu" for timing in found):
        return
    text = (
        "No GPU here, and no recording of one: what is measured here is the CPU alone. On a machine with a GPU, run "
        f"`{COMMAND} --out gpu.json` and open the file below under *Recordings*; its lines then stand beside these."
    )
    st.caption(text) if found else st.info(text, icon=":material/info:")


def _chart(found: list[Timing], lengths: Sequence[int]) -> None:
    which = st.segmented_control(
        "Chart", list(CHARTS), key="timing_chart", default="time", required=True, label_visibility="collapsed"
    )
    how: dict[str, Any] = {}
    if which in ("time", "memory"):
        how["lengths"] = lengths
    if which == "speed-up":
        how["transfer"] = st.toggle("Count the transfer", key="timing_transfer")
    st.caption(CHARTS[which])
    if which == "speed-up" and not comparison.crossovers(found):
        st.info("A speed-up needs the same implementation on a CPU and on another device. Add a recording below.")
        return
    if which == "transfer" and not any(timing.to_device for timing in found):
        st.info("Nothing was moved: the timings so far are of a CPU.")
        return
    picture = {"format": "png", "filename": f"attention-{which}", "scale": 2}
    config = {"displaylogo": False, "displayModeBar": True, "toImageButtonOptions": picture}
    st.plotly_chart(charts.CHARTS[which](found, **how), key=f"timing_{which}", width="stretch", config=config)


def _said(found: list[Timing]) -> None:
    """Where and when each device was measured."""
    origins = {timing.origin: timing for timing in found}
    told = [
        f"{origin}: torch {timing.torch} on {timing.system}, {timing.threads} CPU threads, float32 precision "
        f"{timing.precision}, {timing.day}"
        for origin, timing in origins.items()
    ]
    st.caption(plain(". ".join(told)))


def _table(found: list[Timing]) -> None:
    pays, growth, all_of_them = st.tabs(["Where a device pays", "Growth", "Every case"])
    with pays:
        said = comparison.crossovers(found) or ["This needs the same implementation on a CPU and on another device."]
        st.markdown("\n".join(f"- {plain(sentence)}" for sentence in said))
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


def _growth(found: list[Timing]) -> pd.DataFrame:
    rows = []
    for label, line in recordings.lines(found).items():
        if rise := comparison.growth(line):
            error = f" ± {rise.error:.2f}" if rise.error is not None else ""
            over = f"{rise.lengths[0]:,} to {rise.lengths[1]:,}"
            rows.append(
                {"line": label, "time grows as length to the power": f"{rise.exponent:.2f}{error}", "over": over}
            )
    return pd.DataFrame(rows)


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


def _recordings(sweep: Sweep) -> None:
    """Timings from elsewhere: how to make them, and where to put them."""
    with st.expander("Recordings: timings from another machine", expanded=bool(page.kept("uploaded"))):
        st.markdown(
            "This records the sweep of this page on any machine; open the file here, and its lines join the charts."
        )
        st.code(shlex.join([*COMMAND.split(), *flags(sweep), "--out", "gpu.json"]), language="bash")
        files = st.file_uploader(
            "Recordings (.json)", "json", True, key="recordings", max_upload_size=8, on_change=_uploaded
        )
        if page.kept("uploaded") and not files:  # the uploader forgets its files when the page is left
            st.button("Take the opened recordings away", key="forget", on_click=page.put, kwargs={"uploaded": []})
        for problem in page.kept("upload_problems", []) if files else []:
            st.error(plain(problem), icon=":material/error:")


def _uploaded() -> None:
    """Reads what was opened; a file that is no recording is named with what is wrong in it."""
    found, problems = [], []
    for file in page.kept("recordings") or []:
        try:
            found += compute.recording(file.getvalue(), file.name)
        except RecordingError as error:
            problems.append(f"{file.name}: {error}")
    page.put(uploaded=found, upload_problems=problems)
