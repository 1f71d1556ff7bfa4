"""The visitor's own GPU on the Timing page: the button that measures it, and the measurements of this visit."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import streamlit as st

from attention.components.gpu_timing import KEY, gpu_timing
from attention.timing import recordings
from attention.timing.cpu_gpu_settings import Timed
from attention.timing.recordings import RecordingError, Timing
from attention.timing.sweep import is_like
from attention.timing.webgpu.plan import left_out, plan
from attention.timing.webgpu.results import Measurement, read_message
from attention.timing.webgpu.summary import answer, details
from attention.timing.webgpu.summary import left_out as not_started
from attention.ui.markdown import escape
from attention.ui.session import page
from attention.ui.text import timing as text

MOST = 12  # measurements of a visit that are kept


def timings() -> list[Timing]:
    """The timings of the visitor's GPU in this visit, the last measurement first."""
    found = reversed(page.visit_state().measurements.values())
    return [timing for measurement in found for timing in measurement.gpu]


def draw_button(timed: Timed, follows: bool) -> None:
    """Draws the button, which measures at the sizes that are set if the page `follows` them, else at the picture's."""
    forward = timed.work == "forward"
    found, like = _measurement_here(timed)
    answered = bool(like) if follows else found is not None
    asked = plan(timed.sweep, timed.versus) if forward else None
    gpu_timing(asked, "" if forward else text.ONLY_FORWARD, answered, page.visit_state().finished, on_measured=_take_in)
    if forward and (missing := left_out(timed.sweep)):
        st.caption(escape(missing))


def _measurement_here(timed: Timed) -> tuple[Measurement | None, list[Timing]]:
    """This visit's measurement of the settings, and its timings at the sizes of the sweep."""
    found = page.visit_state().measurements.get((timed.mask, timed.d_head))
    return found, [each for each in found.gpu if is_like(each, timed.sweep, any_dtype=True)] if found else []


def draw_measured(timed: Timed, others: Iterable[Timing], follows: bool) -> None:
    """Draws what was measured, and from which length on it pays beside a CPU of these `others`, if there are any."""
    kept = page.visit_state()
    found, like = _measurement_here(timed)
    if kept.unmeasured:
        st.error(escape(text.UNUSABLE.format(why=kept.unmeasured)), icon=":material/error:")
    if found is None:
        return
    for sentence in answer(found, others, like if follows else ()):
        st.markdown(escape(sentence))
    if missing := not_started(found):
        st.caption(escape(missing))
    with st.expander(text.HOW_YOURS):
        st.markdown(escape(" ".join(details(found))))
    with st.container(horizontal=True, vertical_alignment="center"):
        recording = partial(recordings.write_recording, _all())
        how: dict[str, Any] = {"key": "browser_recording", "on_click": "ignore"}
        st.download_button(text.SAVE, recording, "my-gpu.json", "application/json", **how)
        st.button(text.REMOVE, key="browser_remove", on_click=_remove)
    st.caption(text.KEPT)


def _all() -> list[Timing]:
    """All timings of this visit's browser that a recording can hold: each case once, the last measurement first."""
    found: dict[Any, Timing] = {}
    for measurement in reversed(page.visit_state().measurements.values()):
        for timing in measurement.timings:
            found.setdefault((timing.case, timing.origin), timing)
    return list(found.values())


def _take_in() -> None:
    """Takes in what the browser has sent: it is checked, and replaces the last measurement of the same settings."""
    kept, message = page.visit_state(), (page.widgets().get(KEY) or {}).get("measured")
    try:
        found = read_message(message)
    except RecordingError as error:
        kept.unmeasured = str(error)
        return
    kept.unmeasured = ""
    kept.measurements.pop(found.setting, None)
    kept.measurements[found.setting] = found
    while len(kept.measurements) > MOST:
        del kept.measurements[next(iter(kept.measurements))]


def _remove() -> None:
    page.visit_state().measurements = {}
