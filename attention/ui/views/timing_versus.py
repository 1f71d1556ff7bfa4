"""CPU against GPU: the answer in a sentence, its chart, the choices for it, and the numbers with their sources."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from attention.charts import cpu_gpu as charts
from attention.timing import cpu_gpu_series, cpu_gpu_summary, recordings
from attention.timing.cpu_gpu_series import PUBLISHED
from attention.timing.cpu_gpu_settings import METHODS, CpuGpuSettings, Timed, is_published
from attention.timing.published import TOKENS, WIDTH
from attention.timing.recordings import Timing
from attention.ui.controls import knobs
from attention.ui.markdown import escape
from attention.ui.session import page

NAMES = {"time": "Time", "times faster": "Times faster", "rate": "Rate", "limits": "Limits"}
SETTING = "16,384 tokens in all (the longer, the fewer sequences), 2,048 channels in all heads"
ABOUT = {
    "time": "Seconds a call against the length, both axes logarithmic: the lower, the faster.",
    "times faster": "The CPU's time over the GPU's, at each length of which both have one. Above one the GPU pays.",
    "rate": "Operations a second against the length, for every line by the papers' count: 4 b h n² d forward, half of it "
    "under a causal mask, 3.5 times that with the backward pass.",
    "limits": "Operations a second against operations for each byte that must move (of two bytes a number), under what "
    "each can do at best: memory's speed on the slope, products on the ceiling. A GPU's limits are by its data sheet.",
}
KEY = (
    "Solid, filled: measured here. Dashed, filled: recorded on another machine. Dotted, thin strokes: published by others. What "
    "did not settle, timed too few times or too far apart, is an open, faint mark that no line joins."
)
MINE = (512, 1024, 2048, 4096)  # lengths that a CPU computes within a minute or two
FORMATS: dict[str, Any] = {
    name: st.column_config.NumberColumn(said, format="localized", width=width)
    for name, said, width in (
        ("tokens", "tokens", 70),
        ("ms", "ms", 80),
        ("TFLOP/s", "TFLOP/s", 80),
        ("times as fast as the CPU", "times the CPU", 110),
        ("with the way", "with the way", 100),
    )
} | {
    name: st.column_config.TextColumn(width=width)
    for name, width in (("method", 130), ("numbers", 70), ("numbers of that", 130), ("known", 100))
}
SHOWN = (  # the columns of the file that fit into a window
    "device", "method", "numbers", "tokens", "ms", "times as fast as the CPU", "with the way", "numbers of that",
    "TFLOP/s", "known", "note", "place", "address",
)  # fmt: skip


def draw(timed: Timed, timings: list[Timing]) -> None:
    """Draws the whole comparison from these timings."""
    versus = timed.versus
    cpu, gpus = cpu_gpu_series.cpu(versus, timings), cpu_gpu_series.gpus(versus, timings)
    st.markdown(f"##### {escape(cpu_gpu_summary.headline(cpu, gpus, versus))}")
    st.markdown(escape(f"{cpu_gpu_summary.between(cpu, gpus)} {cpu_gpu_summary.crossing(versus, timings)}".strip()))
    if cpu is None:
        said = "Sets the controls at the side to the CPU of this picture; *Measure here* then measures."
        st.button("Set the sweep to this", key="versus_sweep", on_click=page.change, kwargs=_like(versus), help=said)
    _choices(timed)
    _picture(versus, cpu, gpus)
    if cpu_gpu_summary.against(cpu, gpus):
        st.caption(escape(cpu_gpu_summary.answer(cpu, gpus, versus)))
    _below(versus, cpu, gpus)


def _choices(timed: Timed) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        knobs.segments("picture", timed, format_func=NAMES.__getitem__, width="content")
        knobs.segments("mask", timed, width="content")
        knobs.segments("d_head", timed, width="content")
        knobs.segments("work", timed, width="content")
        with st.popover("More"):
            knobs.segments("lines", timed)
            knobs.pills("gpus", timed)
            offered = [name for name in METHODS if is_published(name, timed.work)]
            knobs.menu("method", timed, offered)
            knobs.segments("cpu_dtype", timed)
            knobs.segments("transfer", timed)
            knobs.menu("bus", timed)


def _picture(
    versus: CpuGpuSettings, cpu: cpu_gpu_series.TimingSeries | None, gpus: list[cpu_gpu_series.TimingSeries]
) -> None:
    camera = {"format": "png", "filename": "attention-cpu-against-gpu", "scale": 2}
    config = {"displaylogo": False, "displayModeBar": "hover", "toImageButtonOptions": camera}
    alt = f"Lines: {ABOUT[versus.picture]} {cpu_gpu_summary.answer(cpu, gpus, versus)}"
    figure = charts.figure(versus, cpu, gpus)
    if not figure.data:
        st.info("There is nothing to divide: it takes a time of a CPU and one of a GPU.", icon=":material/info:")
        return
    st.plotly_chart(figure, key="versus_chart", width="stretch", config=config, alt=alt)


def _below(
    versus: CpuGpuSettings, cpu: cpu_gpu_series.TimingSeries | None, gpus: list[cpu_gpu_series.TimingSeries]
) -> None:
    """Draws a caption of the chart, and the table of numbers."""
    apart = [gpu for gpu in gpus if gpu.setting]
    other = f" {apart[0].device}: {apart[0].setting}, so it has rates alone." if apart else ""
    st.caption(
        f"{ABOUT[versus.picture]} At one setting: {SETTING}.{other} {escape(cpu_gpu_summary.published_sentence())}"
    )
    with st.expander("The numbers, and where each stands"):
        st.caption(KEY)
        table: dict[str, Any] = cpu_gpu_summary.columns(cpu, gpus)
        st.dataframe(
            pd.DataFrame(table),
            hide_index=True,
            key="versus_table",
            column_config=FORMATS | {"address": st.column_config.LinkColumn("address")},
            column_order=[name for name in SHOWN if name != "note" or any(table.get("note", ()))],
        )
        if any(gpu.kind == PUBLISHED for gpu in gpus):
            st.caption("Published figures are given as they were printed, and were not measured by this app.")
        csv = partial(recordings.sheet, table)
        st.download_button("CSV", csv, "cpu-against-gpu.csv", "text/csv", key="versus_csv", on_click="ignore")


def _like(versus: CpuGpuSettings) -> dict[str, Any]:
    """The knobs of a sweep that measures the CPU of this chart."""
    heads = WIDTH // int(versus.d_head)
    kinds = {"masks": (versus.mask,), "passes": (versus.work,), "dtypes": (versus.cpu_dtype,)}
    sizes = {"lengths": MINE, "heads": (heads,), "d_heads": (int(versus.d_head),), "tokens": TOKENS}
    return {**kinds, **sizes, "implementations": ("SDPA",)}
