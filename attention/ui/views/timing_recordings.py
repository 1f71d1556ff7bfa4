"""Recordings on the Timing page: how to make them, where to open them, and the list of open ones."""

from __future__ import annotations

import shlex
from dataclasses import replace

import streamlit as st

from attention.streamlit_internals import is_deleted
from attention.timing import recordings
from attention.timing.recordings import RecordingError, Timing
from attention.timing.sweep import Sweep, flags
from attention.ui import results
from attention.ui.markdown import escape
from attention.ui.session import page
from attention.ui.text import timing as text

FILES = 12  # maximum number of open recordings


def opened_timings() -> list[Timing]:
    """The timings of all recordings that this visitor has opened."""
    return [timing for timings in page.visit_state().opened.values() for timing in timings]


def command(sweep: Sweep) -> str:
    """The command that records a sweep on all devices of another machine: devices named here may not exist there."""
    return shlex.join(["python", "-m", "attention.timing", *flags(replace(sweep, devices=())), "--out", "gpu.json"])


def draw(sweep: Sweep) -> None:
    """Draws how to record this sweep elsewhere, and the recordings that are open."""
    files = page.visit_state().opened
    with st.expander(text.RECORDINGS, expanded=bool(files or results.timing.unreadable_recordings())):
        st.markdown(text.RECORD)
        st.code(command(sweep), language="bash")
        key = f"recordings_{page.visit_state().uploads}"  # a new key each time: files that were opened are listed below it
        st.file_uploader(
            text.RECORDING_FILES, "json", True, key=key, max_upload_size=8, on_change=_take_in, args=(key,)
        )
        for file in results.timing.unreadable_recordings():
            st.warning(escape(text.UNREADABLE.format(problem=file)), icon=":material/warning:")
        for problem in page.visit_state().problems:
            st.error(escape(problem), icon=":material/error:")
        for name, timings in files.items():
            told, button = st.columns([5, 1], vertical_alignment="center")
            told.markdown(escape(_about(name, timings)))
            button.button(text.REMOVE, key=f"remove_{name}", on_click=_remove, args=(name,), width="stretch")


def _about(name: str, timings: list[Timing]) -> str:
    devices = ", ".join(dict.fromkeys(timing.device_name for timing in timings))
    days = " to ".join(sorted({min(timing.day for timing in timings), max(timing.day for timing in timings)}))
    cases = text.CASE if len(timings) == 1 else text.CASES
    return text.RECORDING.format(name=name, count=len(timings), cases=cases, devices=devices, days=days)


def _take_in(key: str) -> None:
    """Opens the uploaded files in addition to those that are open; for each file that fails, notes what is wrong."""
    visit = page.visit_state()
    files, problems = dict(visit.opened), []
    for file in page.widgets().get(key) or []:
        if is_deleted(file):
            problems.append(text.INTERRUPTED)
            continue
        source = _source(file.name, [*files, *(timing.source for timing in results.timing.shipped_timings())])
        try:
            found = results.timing.recording(file.getvalue(), source)
            _check(found, files)
        except RecordingError as error:
            problems.append(text.PROBLEM.format(file=file.name, problem=error))
        else:
            files[source] = found
    visit.opened, visit.problems, visit.uploads = files, problems, visit.uploads + 1


def _source(file: str, taken: list[str]) -> str:
    """The name of a recording: that of its file, with a number if the name is taken."""
    base, number = recordings.name(file, "a file", most=90), 1
    while (source := base if number == 1 else f"{base} #{number}") in taken:
        number += 1
    return source


def _check(found: list[Timing], files: dict[str, list[Timing]]) -> None:
    """Raises RecordingError if the file is empty or already open, or if too many are open."""
    if not found:
        raise RecordingError(text.EMPTY)
    for name, timings in files.items():
        if [_bare(timing, name) for timing in timings] == [_bare(timing, found[0].source) for timing in found]:
            raise RecordingError(text.ALREADY_OPEN.format(name=name))
    if len(files) >= FILES:
        raise RecordingError(text.TOO_MANY.format(most=FILES))


def _bare(timing: Timing, name: str) -> Timing:
    """The timing without the name under which it was opened."""
    return replace(timing, source=timing.source.removeprefix(name))


def _remove(name: str) -> None:
    visit = page.visit_state()
    visit.opened = {other: timings for other, timings in visit.opened.items() if other != name}
    visit.problems = []
