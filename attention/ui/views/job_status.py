"""A background job as every page shows it: progress, remaining time, pause, cancel, and its end."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import monotonic, sleep

import streamlit as st

from attention.maps.estimate import THREADS
from attention.runtime.threads import cores
from attention.tables.rows import duration
from attention.ui.jobs import pace
from attention.ui.jobs.job import Job
from attention.ui.jobs.job_queue import JobQueue
from attention.ui.session import page
from attention.ui.text import jobs as text

BRIEFLY, LOOK = 1.0, 0.01  # seconds


def show_progress(
    task: Job,
    line: JobQueue,
    said: str,
    cancel: Callable[[], None],
    why: str | None = None,
    word: str = text.CANCEL,
    key: str = "cancel",
) -> None:
    """Draws a job that this visitor waits for: text, time, and buttons. The last one, `word`, calls `cancel`, which calls
    `task.leave`; `why` is its help text, and `key` the name of its widget.
    """
    visitor = page.visitor()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(task.shown_share, status_text(task, said, line.before(task), visitor, line.other(task)))
        if task.pauses and visitor in task.resting:
            st.button(
                text.CONTINUE, key="continue", icon=":material/play_arrow:", on_click=line.go_on, args=(task, visitor)
            )
        elif task.pauses:
            st.button(
                text.PAUSE,
                key="pause",
                icon=":material/pause:",
                on_click=line.pause,
                args=(task, visitor),
                help=text.PAUSE_HELP,
            )
        st.button(word, key=key, on_click=cancel, help=why)


def wait_briefly(task: Job) -> None:
    """Waits for a job that is mostly done within a third of a second, on a busy machine within one: the page is drawn once."""
    end = monotonic() + BRIEFLY
    while task.open and monotonic() < end:
        sleep(LOOK)


def show_end(task: Job, said: str, again: Callable[[], None] | None = None) -> None:
    """Draws the end of a job in its place, and a button that starts it again."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(1.0 if task.state == "done" else min(task.share, 1.0), said)
        if again is not None:
            st.button(text.AGAIN, key="again", on_click=again)


def status_text(task: Job, said: str, before: int, visitor: str, other: str = "") -> str:
    """The text about a job, and what it waits for: its turn, the `other` job that runs, or the remaining seconds."""
    if task.state == "waiting":
        jobs, others = text.JOBS if before > 1 else text.JOB, text.OTHER.format(other=other) if other else ""
        earlier = text.EARLIER.format(count=before, jobs=jobs, other=others) if before else ""
        said, left = text.WAITING.format(earlier=earlier, said=said), text.ONCE_IT_STARTS
    elif task.state == "paused":
        said, left = text.PAUSED.format(said=said), text.WHEN_IT_CONTINUES
    else:
        said = text.SHARED.format(said=said) if visitor in task.resting else said
        left = text.LEFT_NOW.format(pace=_pace(task))
    if task.seconds_left is None:
        return said
    return text.LEFT.format(said=said, about=task.about.capitalize(), time=_time_left(task), left=left)


def _time_left(task: Job) -> str:
    """The remaining time, rounded: a number that keeps changing suggests more than is known."""
    left = math.ceil(task.seconds_left or 0.0)
    return duration(left if left < 10 or task.about != "about" else 5 * math.ceil(left / 5))


def _pace(task: Job) -> str:
    """Why it takes longer than estimated, as far as is known."""
    if task.guess is None:
        return ""
    if pace.busy(THREADS, cores()):
        return text.BUSY
    return text.SLOW if task.slow else ""
