"""A background job as every page shows it: progress, remaining time, pause, cancel, and its end."""

from __future__ import annotations

import math
from collections.abc import Callable

import streamlit as st

from attention.maps.estimate import THREADS
from attention.runtime.threads import cores
from attention.tables.rows import duration
from attention.ui.jobs import pace
from attention.ui.jobs.job import Job
from attention.ui.jobs.job_queue import JobQueue
from attention.ui.session import page


def show_progress(
    task: Job,
    line: JobQueue,
    said: str,
    cancel: Callable[[], None],
    why: str | None = None,
    word: str = "Cancel",
    key: str = "cancel",
) -> None:
    """Draws a job that this visitor waits for: text, time, and buttons. The last one, `word`, calls `cancel`, which calls
    `task.leave`; `why` is its help text, and `key` the name of its widget.
    """
    visitor = page.visitor()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(min(task.share, 1.0), status_text(task, said, line.before(task), visitor, line.other(task)))
        if task.pauses and visitor in task.resting:
            st.button(
                "Continue", key="continue", icon=":material/play_arrow:", on_click=line.go_on, args=(task, visitor)
            )
        elif task.pauses:
            how = "Pauses this job. Others may run first; finished parts are kept unless their memory is needed."
            st.button(
                "Pause", key="pause", icon=":material/pause:", on_click=line.pause, args=(task, visitor), help=how
            )
        st.button(word, key=key, on_click=cancel, help=why)


def show_end(task: Job, said: str, again: Callable[[], None] | None = None) -> None:
    """Draws the end of a job in its place, and a button that starts it again."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(1.0 if task.state == "done" else min(task.share, 1.0), said)
        if again is not None:
            st.button("Draw again", key="again", on_click=again)


def status_text(task: Job, said: str, before: int, visitor: str, other: str = "") -> str:
    """The text about a job, and what it waits for: its turn, the `other` job that runs, or the remaining seconds."""
    if task.state == "waiting":
        earlier = f" for {before} earlier job{'s' * (before > 1)}{f'; {other}' * bool(other)}" if before else ""
        said, how = f"Waiting{earlier}. {said}", "once it starts."
    elif task.state == "paused":
        said, how = f"Paused. {said}", "left when it continues."
    else:
        said += " It continues because another visitor waits for it." if visitor in task.resting else ""
        how = f"left{_pace(task)}."
    return said if task.seconds_left is None else f"{said} {_seconds(task)} {how}"


def _seconds(task: Job) -> str:
    """The remaining time, rounded: a number that keeps changing suggests more than is known."""
    left = math.ceil(task.seconds_left or 0.0)
    return (
        f"{task.about.capitalize()} {duration(left if left < 10 or task.about != 'about' else 5 * math.ceil(left / 5))}"
    )


def _pace(task: Job) -> str:
    """Why it takes longer than estimated, as far as is known."""
    if task.guess is None:
        return ""
    if pace.busy(THREADS, cores()):
        return " (the server is busy)"
    return " (longer than estimated)" if task.slow else ""
