"""CPU against GPU: the answer in a sentence, its chart, the choices for it, and the numbers with their sources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from attention.charts import break_even as break_even_chart
from attention.charts import cpu_gpu as charts
from attention.timing import break_even, chart_findings, cpu_gpu_series, cpu_gpu_summary, recordings
from attention.timing.break_even import BreakEven
from attention.timing.cpu_gpu_series import IN_BROWSER, PUBLISHED
from attention.timing.cpu_gpu_settings import BREAK_EVEN, CpuGpuSettings, Timed
from attention.timing.published import TOKENS, WIDTH
from attention.timing.recordings import Timing
from attention.ui.heading import draw_finding, draw_heading
from attention.ui.markdown import escape
from attention.ui.session import page
from attention.ui.text import terms
from attention.ui.text import timing as text
from attention.ui.views import timing_results, timing_sizes

MINE = (512, 1024, 2048, 4096)  # lengths that a CPU computes within a minute or two
FORMATS: dict[str, Any] = {
    name: st.column_config.NumberColumn(label, format="localized", width=width)
    for (name, label), width in zip(text.VERSUS_COLUMNS.items(), (70, 80, 80, 110, 100), strict=True)
} | {
    name: st.column_config.TextColumn(width=width)
    for name, width in (("method", 130), ("precision", 80), ("precisions", 165), ("origin", 100))
}
SHOWN = (  # the columns of the file that fit into a window
    "device", "method", "precision", "tokens", "ms", "times as fast as the CPU", "with transfer", "precisions",
    "TFLOP/s", "origin", "note", "source", "address",
)  # fmt: skip


def draw(timed: Timed, timings: list[Timing], choices: Callable[[bool], None] | None = None) -> None:
    """Draws the whole comparison from these timings; with `choices`, which are drawn above the chart, as that of the page.

    `choices` gets whether the break-even is drawn. Without them the sentence is no headline, and the settings are as they are.
    """
    if timed.picture == BREAK_EVEN:
        if found := break_even.break_even(timings, timed.one_text):
            _head(found.headline, found.with_copy, choices and partial(choices, True))
            _break_even_chart(found)
            settings = timing_sizes.settings_text([found.longest])
            about = " ".join(filter(None, [settings, text.ABOUT[BREAK_EVEN], found.beyond]))
            st.caption(escape(about), help=escape(f"{found.timed_code} {found.subject}"))
            if found.not_compared:
                st.caption(escape(found.not_compared))
            st.markdown(f"**{text.WHY_COPY}** {escape(found.reason)}")
            if choices:
                timing_results.draw_numbers([*found.timings])
                terms.draw("timing", without=("fused kernel", "FLOP"))
            return
        timed = replace(timed, picture="time")
    versus = timed.versus
    cpu, gpus = cpu_gpu_series.cpu(versus, timings), cpu_gpu_series.gpus(versus, timings)
    of_ratios = versus.picture in ("time", "times faster")
    beside = (
        cpu_gpu_summary.copy_sentence(cpu, gpus, versus),
        cpu_gpu_summary.other_precision(cpu, gpus, versus, timings),
    )
    copied = " ".join(filter(None, beside)) if of_ratios else ""
    _head(chart_findings.cpu_gpu_finding(cpu, gpus, versus), copied, choices and partial(choices, False))
    if cpu is None:
        st.button(text.USE, key="versus_sweep", on_click=page.change, kwargs=_like(versus), help=text.USE_HELP)
    _picture(versus, cpu, gpus)
    mine = any(gpu.kind == IN_BROWSER for gpu in gpus)  # of which `timing_browser` says from which length on it pays
    why = cpu_gpu_summary.published_copy(gpus, versus) if of_ratios else ""
    _below(versus, cpu, gpus, why, "" if mine else cpu_gpu_summary.crossing(versus, timings))
    if choices:
        without = ["fused kernel", *["pinned memory"] * (not why), *["FLOP"] * of_ratios]
        terms.draw("timing", without=tuple(without))


def _head(finding: str, rest: str, choices: Callable[[], None] | None) -> None:
    """Draws the first sentence of a finding, what follows and the `rest` in small, and the choices."""
    finding, more = chart_findings.headline(finding)
    rest = " ".join(filter(None, (more, rest)))
    if choices:
        draw_heading("timing", escape(finding))
    else:
        st.markdown(escape(finding))
    if rest:
        st.caption(escape(rest))
    if choices:
        choices()


def _break_even_chart(found: BreakEven) -> None:
    alt = text.VERSUS_ALT.format(about=text.ABOUT[BREAK_EVEN], answer=found.headline)
    st.plotly_chart(
        break_even_chart.figure(found), key="versus_chart", width="stretch", config={"displaylogo": False}, alt=alt
    )


def draw_alone(timed: Timed, timings: list[Timing]) -> None:
    """Draws the sentence and the chart alone."""
    versus = timed.versus
    if timed.picture == BREAK_EVEN:
        if found := break_even.break_even(timings, timed.one_text):
            draw_finding(escape(found.headline))
            _break_even_chart(found)
            return
        versus = replace(versus, picture="time")
    cpu, gpus = cpu_gpu_series.cpu(versus, timings), cpu_gpu_series.gpus(versus, timings)
    draw_finding(escape(chart_findings.headline(chart_findings.cpu_gpu_finding(cpu, gpus, versus))[0]))
    _picture(versus, cpu, gpus)
    st.caption(text.CAPTION.format(about=text.ABOUT[versus.picture]))


def _picture(
    versus: CpuGpuSettings, cpu: cpu_gpu_series.TimingSeries | None, gpus: list[cpu_gpu_series.TimingSeries]
) -> None:
    camera = {"format": "png", "filename": "attention-cpu-against-gpu", "scale": 2}
    config = {"displaylogo": False, "displayModeBar": "hover", "toImageButtonOptions": camera}
    answer = cpu_gpu_summary.answer(cpu, gpus, versus)
    alt = text.VERSUS_ALT.format(about=text.ABOUT[versus.picture], answer=answer)
    figure = charts.figure(versus, cpu, gpus)
    if not figure.data:
        st.info(text.NO_RATIO, icon=":material/info:")
        return
    st.plotly_chart(figure, key="versus_chart", width="stretch", config=config, alt=alt)


def _below(
    versus: CpuGpuSettings,
    cpu: cpu_gpu_series.TimingSeries | None,
    gpus: list[cpu_gpu_series.TimingSeries],
    why: str,
    crossing: str,
) -> None:
    """Draws a caption of the chart, with `why` two copies differ, and the table of numbers with what the headline compares."""
    st.caption(f"{text.CAPTION.format(about=text.ABOUT[versus.picture])} {escape(why)}".rstrip())
    with st.expander(text.NUMBERS, icon=":material/table:"):
        is_compared = cpu_gpu_summary.against(cpu, gpus) is not None
        said = cpu_gpu_summary.answer(cpu, gpus, versus) if is_compared else cpu_gpu_summary.between(cpu, gpus)
        st.markdown(escape(said), help=escape(crossing) or None)
        apart = [gpu for gpu in gpus if gpu.setting]
        other = text.APART.format(device=apart[0].device, sizes=apart[0].setting) if apart else ""
        st.caption(text.MARKS.format(apart=other, published=escape(cpu_gpu_summary.published_sentence())))
        table: dict[str, Any] = cpu_gpu_summary.columns(cpu, gpus)
        frame = pd.DataFrame(table)
        numbers = frame.columns.intersection([name for name in text.VERSUS_COLUMNS if name != "tokens"])
        frame[numbers] = frame[numbers].map(lambda value: float(f"{value:.3g}"), na_action="ignore")
        st.dataframe(
            frame,
            hide_index=True,
            key="versus_table",
            placeholder="–",
            column_config=FORMATS | {"address": st.column_config.LinkColumn("address")},
            column_order=[name for name in SHOWN if name != "note" or any(table.get("note", ()))],
        )
        if any(gpu.kind == PUBLISHED for gpu in gpus):
            st.caption(text.QUOTED)
        csv = partial(recordings.sheet, table)
        st.download_button(text.CSV, csv, "cpu-against-gpu.csv", "text/csv", key="versus_csv", on_click="ignore")


def _like(versus: CpuGpuSettings) -> dict[str, Any]:
    """The knobs of a sweep that measures the CPU of this chart."""
    heads = WIDTH // int(versus.d_head)
    kinds = {"masks": (versus.mask,), "passes": (versus.work,), "dtypes": (versus.cpu_dtype,)}
    sizes = {"lengths": MINE, "heads": (heads,), "d_heads": (int(versus.d_head),), "tokens": TOKENS}
    return {**kinds, **sizes, "implementations": ("SDPA",)}
