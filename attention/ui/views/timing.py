"""Timing: measures here, opens recordings, and shows time, speed-up, roofline, memory and transfer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import streamlit as st

from attention.timing import break_even, chart_findings, comparison, devices, line_names
from attention.timing.answers import answers, setting_text
from attention.timing.cpu_gpu_series import MEASURED
from attention.timing.cpu_gpu_settings import BREAK_EVEN, LINES, Timed
from attention.timing.line_choice import USUAL
from attention.timing.recordings import Timing
from attention.timing.subject import Subject, subject
from attention.timing.sweep import Sweep
from attention.ui import results
from attention.ui.heading import draw_finding, draw_title
from attention.ui.jobs.timing_jobs import TIMING_JOBS
from attention.ui.jobs.timing_process import TimingJob
from attention.ui.limits import limits
from attention.ui.markdown import escape
from attention.ui.session import page, present
from attention.ui.text import terms
from attention.ui.text import timing as text
from attention.ui.views import (
    job_status,
    questions,
    timing_browser,
    timing_chart,
    timing_recordings,
    timing_results,
    timing_sizes,
    timing_versus,
)

EVERY = 1.5  # seconds between two updates during a measurement
TOP = "measure-timing"  # the anchor of the title of the page
LEAVING = text.LEAVING.format(seconds=TimingJob.leave_after_s)


def view(timed: Timed) -> None:
    """The page of a sweep: what was set comes first, or else the comparison of a CPU and GPUs at published sizes."""
    if questions.question_closes(timed):
        return
    timing_sizes.follow(timed)
    task = _task(timed)
    found = _subject(timed)
    mine, is_break_even = page.visit_state().sweep, timed.picture == BREAK_EVEN
    others = [
        *(mine.timings.values() if mine else ()),
        *timing_recordings.opened_timings(),
        *results.timing.shipped_timings(),
    ]
    if present.is_embedded():
        _draw_alone(timed, found, others)
        return
    often = EVERY if task and task.open else None
    live = st.fragment(_live, run_every=often)
    compared = [*timing_browser.timings(), *others]
    if found.follows:
        draw_title("timing")
        st.fragment(_answer, run_every=often)(timed)
        timing_sizes.draw(timed, found, timing_chart.available_charts(found.timings), False)
        timing_results.draw_choices(found.timings, task.settings.lengths if task else ())
        live(timed, True)
        terms.draw("timing", without=_absent_terms(timing_chart.selected_chart(found.timings)))
    else:
        timing_versus.draw(timed, compared, partial(_choices, timed, found))
    _measure_yourself(timed, found, task, compared)
    timing_browser.draw_measured(timed, [] if found.follows else others, found.follows)
    if task is not None:
        st.fragment(_progress, run_every=EVERY if task.open else None)(timed)
    if found.apart:  # which the choice of sizes can't leave
        with st.expander(text.PUBLISHED, icon=":material/stacked_line_chart:"):
            timing_versus.draw(replace(timed, picture="time") if timed.picture == LINES else timed, compared)
    elif not found.follows and task is not None and not (is_break_even and task is mine):  # which is a line of it
        is_open = task.open and not is_break_even
        with st.expander(text.LINES, expanded=is_open, icon=":material/stacked_line_chart:"):
            live(timed, False)
    elif not found.follows:
        _gpu_or_how(timed.sweep, found.timings)
    timing_recordings.draw(timed.sweep)
    with st.expander(text.HOW, icon=":material/science:"):
        st.markdown(text.METHOD)


def _choices(timed: Timed, found: Subject, crosses: bool) -> None:
    """Draws the sizes and charts; `crosses`: whether the page shows the break-even, whose sizes have other charts, too."""
    few = _subject(replace(timed, picture=LINES)).timings if crosses else []
    timing_sizes.draw(timed, found, timing_chart.available_charts(few) if crosses else [], crosses)


def _absent_terms(chart: timing_chart.Chart) -> tuple[str, ...]:
    """The terms of the page that a chart and the sentences beside it do not use."""
    if chart.break_even and not chart.break_even.longest.queries:  # which says where the copy takes its time
        return "fused kernel", "FLOP"
    return (
        "bus",
        "pinned memory",
        *["FLOP"] * (chart.which != "roofline"),
        *["fused kernel"] * (chart.which == BREAK_EVEN),
    )


def _draw_alone(timed: Timed, found: Subject, others: list[Timing]) -> None:
    """Draws the chart of an embedded page, with the sentence that it answers."""
    if found.follows:
        finding = _finding(timed, found, timing_chart.selected_chart(found.timings))
        draw_finding(escape(chart_findings.headline(finding)[0] or found.answers[0].headline))
        timing_results.draw_alone(found.timings, found.cases)
    else:
        timing_versus.draw_alone(timed, others)


def _subject(timed: Timed) -> Subject:
    """What the page is about now: a measurement may have found more since it was drawn last."""
    mine, there = page.visit_state().sweep, _task(timed)
    measured = tuple(mine.timings.values()) if mine else ()
    others = tuple(there.timings.values()) if there and there is not mine else ()
    opened = timing_recordings.opened_timings()
    return subject(timed, [*timing_browser.timings(), *measured, *opened], others, results.timing.shipped_timings())


def _sweep(timed: Timed) -> Sweep:
    """What the button measures: at the sizes of one text one kernel alone, whose few times become stable soon."""
    is_one_kernel = timing_sizes.has_one_text(timed) and not timed.implementations
    return replace(timed.sweep, implementations=(USUAL[0],)) if is_one_kernel else timed.sweep


def _task(timed: Timed) -> TimingJob | None:
    """This visitor's measurement, or the last one of this sweep on this host, but for sizes with which the page may open."""
    found = page.visit_state().sweep
    if found is None and not timing_sizes.has_one_text(timed):  # whose charts one visitor's times would change for all
        found = TIMING_JOBS.last_measurement(_sweep(timed))
    if found is not None:
        found.look(page.visitor())
        TIMING_JOBS.line.tidy()  # what it waited for may be available now
    return found


def _measure_yourself(timed: Timed, found: Subject, task: TimingJob | None, compared: list[Timing]) -> None:
    """Draws two cards with a button each: the GPU of the visitor, and this server. `compared`: all timings of a break-even."""
    with st.container(key="measure-here"):
        st.header(text.YOURSELF, anchor=timing_sizes.YOURS)
        mine, server = st.columns(2, gap="small")
        with mine.container(border=True, height="stretch"):
            st.markdown(f"**{text.YOUR_GPU}**")
            timing_browser.draw_button(timed, found.follows)
        with server.container(border=True, height="stretch"):
            st.markdown(f"**{text.THIS_SERVER[len(results.timing.devices()) > 1]}**")
            _start(_sweep(timed), task)
            if task and not task.open and (said := _result(timed, found, compared)):
                st.markdown(text.RESULT.format(finding=escape(said), anchor=TOP))


def _result(timed: Timed, found: Subject, compared: list[Timing]) -> str:
    """What the break-even of the lines of the page says of what was measured on this server; empty if these are no times."""
    if found.follows:
        chart = timing_chart.selected_chart(found.timings)
        is_of_times = chart.which in (BREAK_EVEN, timing_sizes.TIME, timing_sizes.RATIO)
        crossing = break_even.of_pair(break_even.pair(chart.shown)) if is_of_times else None
    else:
        crossing = break_even.break_even(compared, timed.one_text) if timed.picture == BREAK_EVEN else None
    if crossing is None:
        return ""
    is_compared = MEASURED in (crossing.cpu.kind, crossing.gpu.kind)
    return line_names.of_keys(crossing.headline if is_compared else crossing.not_compared, crossing.timings)


def _start(sweep: Sweep, task: TimingJob | None) -> None:
    """Draws a caption with what a measurement on this server does, and its button."""
    going = task is not None and task.open
    off = going or not limits().measure or bool(_absent(sweep))
    st.caption(LEAVING if going else _estimate(sweep))
    st.button(text.MEASURE, key="measure", on_click=_measure, args=(sweep,), disabled=off)


def _measure(sweep: Sweep) -> None:
    page.visit_state().sweep = TIMING_JOBS.submit(sweep, page.visitor())


def _estimate(sweep: Sweep) -> str:
    """What the button would do, or why it can't."""
    if not limits().measure:
        return escape(text.NO_MEASURING.format(why=limits().why))
    present = results.timing.devices()
    if absent := _absent(sweep):
        here = ", ".join(text.PRESENT.format(key=key, name=name) for key, name in present.items())
        return escape(text.ABSENT.format(absent=", ".join(absent), present=here))
    names = [name for key, name in present.items() if not sweep.devices or key in sweep.devices]
    threads, count = sweep.threads or devices.cores(), sweep.combinations * (1 if sweep.devices else len(present))
    what = text.SEVERAL_CASES.format(cases=_cases(count))
    if 1 < count == len(sweep.lengths) and sweep.implementations:
        what = text.ONE_CASE_EACH.format(name=sweep.implementations[0], count=count)
    return escape(
        text.ESTIMATE.format(
            what=what,
            seconds=min(sweep.seconds, limits().seconds),
            devices=", ".join(names),
            count=threads,
            threads=text.THREAD if threads == 1 else text.THREADS,
        )
    )


def _absent(sweep: Sweep) -> list[str]:
    """The devices of a sweep that this host does not have; a link may name any."""
    return [key for key in sweep.devices if key not in results.timing.devices()]


def _answer(timed: Timed) -> None:
    """Draws the finding of the page: what the selected chart shows, and in small what it rests on."""
    found = _subject(timed)
    chart, answer = timing_chart.selected_chart(found.timings), found.answers[0]
    shown = answers(chart.subject)
    if chart.which == "time" and shown and found.is_timed:
        answer = shown[0]
    finding = _finding(timed, found, chart)
    if not finding:
        draw_finding(escape(answer.headline))
        copied, _, more = answer.first.partition(". ")
        rest = " ".join(filter(None, [more, answer.caution, answer.rest]))
        st.caption(escape(f"{copied.rstrip('.')}."), help=escape(rest) or None)
    else:
        said, more = chart_findings.headline(finding)
        draw_finding(escape(said))
        if crossing := chart.break_even:
            said = line_names.of_keys(crossing.with_copy, chart.shown)
            st.caption(
                escape(f"{said} {text.DECODER * bool(crossing.longest.queries)}".rstrip()), help=escape(answer.text)
            )
        elif chart.shown:
            reading, why = timing_results.how_to_read(chart)
            st.caption(f"{escape(more)} {reading}".lstrip(), help=why or None)
    setting = _common_setting(chart.subject, found.timings) if finding else answer.setting
    if several := _several(found, setting, chart.which == timing_sizes.RATIO):
        st.caption(escape(several))


def _finding(timed: Timed, found: Subject, chart: timing_chart.Chart) -> str:
    """The headline if it is the finding of the chart; empty if it is the answer that compares a CPU and a GPU.

    Times of several settings are compared with each other, those of one setting by how they grow with the length. Where that
    is not known, as times are not stable, it is that a GPU's hardly grow, or from which length on it is faster.
    """
    if chart.which != "time":
        return chart.finding
    said = chart_findings.time_finding(chart.subject) if found.is_timed else ""
    return said or chart.ratio


def _several(found: Subject, setting: str, is_ratio: bool) -> str:
    """Of which `setting` of several the headline is, and what of them was not timed; empty for one setting."""
    if not _has_several(found):
        return ""
    lacks = text.NOT_TIMED.format(values=", ".join(found.not_timed)) if found.not_timed else ""
    return f"{(text.OF_BOTH if is_ratio else text.SEVERAL).format(setting=setting) if setting else ''}{lacks}".strip()


def _has_several(found: Subject) -> bool:
    return len(comparison.settings(found.cases)) > 1


def _common_setting(shown: Sequence[Timing], timings: Sequence[Timing]) -> str:
    """The setting of the timings that a chart shows, in words; empty if they have several."""
    return setting_text(shown[0], list(timings)) if len(comparison.settings(shown)) == 1 else ""


def _live(timed: Timed, first: bool) -> None:
    """Draws what changes during a measurement: the chart, the table and the other answers; `first`, below the first answer."""
    found, task = _subject(timed), _task(timed)
    if first or found.timings:
        chart = timing_chart.selected_chart(found.timings)
        told = first and bool(_finding(timed, found, chart))
        has_answer = first and not (told and _has_several(found))
        timing_results.draw(
            found.timings,
            found.cases,
            task.settings.lengths if task else (),
            first,
            told,
            _about(found, chart) if first else "",
        )
        others = found.answers[has_answer:]  # without that of the headline
        with st.expander(text.OTHERS, icon=":material/tune:") if first and others else nullcontext():
            for each in others:
                st.markdown(escape(each.text))
    _gpu_or_how(timed.sweep, found.timings)


def _about(found: Subject, chart: timing_chart.Chart) -> str:
    """What a chart is of, for its caption: the settings."""
    return escape(timing_sizes.settings_text(chart.shown or found.cases))


def _progress(timed: Timed) -> None:
    """Draws the progress of a measurement, and the page once more when it ends."""
    task = _task(timed)
    if task is None:
        return
    _show_progress(task)
    ended, page.visit_state().going = page.visit_state().going and not task.open, task.open
    if ended:
        page.visit_state().finished += 1
        st.rerun()


def _show_progress(task: TimingJob) -> None:
    """Draws the progress of a sweep, or how it ended and the results of its cases."""
    measured = sum(timing.error is None for timing in task.timings.values())
    said, rest = _outcome_text(task, measured), _rest(task, measured)
    if task.open:
        cancel = partial(task.leave, page.visitor())
        job_status.show_progress(task, TIMING_JOBS.line, said + rest, cancel, text.FINISHED.format(leaving=LEAVING))
    elif task is not page.visit_state().sweep:
        since = ago(task.clock() - (task.ended or 0))
        job_status.show_end(task, text.MEASURED.format(ago=since, cases=_cases(measured), rest=rest))
    elif task.state == "failed":
        st.error("\n\n".join(filter(None, (said, rest.strip()))), icon=":material/error:")
    else:
        job_status.show_end(task, said + rest)


def _outcome_text(task: TimingJob, measured: int) -> str:
    """The state of a measurement in words; `_rest` has the cases that need a comment."""
    if task.state == "running" and task.held:
        return text.HELD
    held = text.HELD_FIRST if TIMING_JOBS.is_blocked else ""
    return text.STATES[task.state].format(
        cases=_cases(measured),
        kept=text.CASE_KEPT if measured == 1 else text.CASES_KEPT,
        seconds=task.leave_after_s,
        why=escape(task.lacks) or text.ONE_AT_A_TIME.format(held=held),
        what=text.NOT_MEASURED if task.started is None else text.BROKE_OFF,
        said=escape(task.said),
    )


def _cases(count: int) -> str:
    return text.COUNT.format(count=count, cases=text.CASE if count == 1 else text.CASES)


def ago(seconds: float) -> str:
    """A time span since an event, in words."""
    minutes = int(seconds // 60)
    if minutes < 1:
        return text.JUST_NOW
    if minutes >= 100:
        return text.HOURS_AGO.format(hours=minutes / 60)
    return text.MINUTES_AGO.format(count=minutes, minutes=text.MINUTE if minutes == 1 else text.MINUTES)


def _rest(task: TimingJob, measured: int) -> str:
    """Sentences about the cases that are not stable, failed or were not begun."""
    loose = sum(timing.error is None and not timing.settled for timing in task.timings.values())
    failed, unbegun = [timing.error for timing in task.timings.values() if timing.error is not None], task.unbegun
    found = []
    if loose and not task.open:
        found.append(text.LOOSE.format(count=loose))
    if failed:
        why = ", ".join(dict.fromkeys(error.partition(":")[0] for error in failed))
        found.append(text.FAILED.format(count=len(failed), why=escape(why)))
    if unbegun > 0 and not task.open:
        were, why = text.WAS if unbegun == 1 else text.WERE, text.TIME_UP if task.state == "done" else ""
        found.append(text.NOT_STARTED.format(count=unbegun, were=were, why=why))
    count, names = task.unsupported
    if count:
        were, them = (text.WAS, text.IT) if count == 1 else (text.WERE, text.THEM)
        found.append(text.NOT_SUPPORTED.format(count=count, were=were, them=them, names=escape(", ".join(names))))
    return "".join(found)


def _gpu_or_how(sweep: Sweep, found: Sequence[Timing]) -> None:
    """If there is no GPU and no recording of one, says so, and which command records one."""
    if len(results.timing.devices()) > 1 or any(timing.device != "cpu" for timing in found):
        return
    told = text.NO_GPU.format(
        here=text.ONLY_CPU if limits().measure else "",
        command=timing_recordings.command(sweep),
        where=text.WITH_THESE if found else text.HERE,
    )
    st.caption(told) if found else st.info(told, icon=":material/info:")
