"""Studies of a loaded model that run in the background: their request, progress and button, for several sections of Model."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import streamlit as st

from attention.ui.jobs.job_queue import JOBS
from attention.ui.jobs.model_jobs import Ask, LoadedModelJob
from attention.ui.jobs.study_jobs import Study
from attention.ui.markdown import escape
from attention.ui.session import page
from attention.ui.text import interventions as text
from attention.ui.views import job_status

AStudy = TypeVar("AStudy", bound=LoadedModelJob)
LOOK = 0.3  # seconds between two checks of a running job


def is_open(name: str) -> bool:
    """Whether a study of this visit has not ended."""
    job = page.visit_state().studies.get(name)
    return job is not None and job.open


def request(
    name: str, kind: type[LoadedModelJob], wanted: Study | Ask, make: Callable[[], LoadedModelJob] | None = None
) -> None:
    """Starts a study unless it is the last one. `make`: makes a job that is mostly done at once."""
    kept = page.visit_state().studies
    if name not in kept or kept[name].settings != wanted:
        kept[name] = JOBS.request(kind, wanted, page.visitor(), make)
        if make is not None:
            job_status.wait_briefly(kept[name])


def wait(name: str, wanted: Study | Ask, live: bool, said: str) -> LoadedModelJob | None:
    """Returns the job if it has ended, after drawing why it has no result; draws its progress otherwise."""
    job = page.visit_state().studies.get(name)
    if live != (job is not None and job.open):
        st.rerun()
    if job is None or job.settings != wanted:
        return None
    if job.open:
        job.look(page.visitor())
        why = text.CANCEL_HELP.format(seconds=job.leave_after_s)
        doing = said.format(model=escape(wanted.offer.name))
        job_status.show_progress(job, JOBS, doing, partial(job.leave, page.visitor()), why, key=f"cancel {name}")
    elif job.state == "failed":
        st.warning(escape(job.said), icon=":material/info:")
    elif job.state != "done":
        st.caption(text.STOPPED)
    return job


def offer_study(
    name: str,
    kind: type[AStudy],
    wanted: Study | Ask,
    live: bool,
    said: str,
    label: str,
    key: str,
    about: str | None = None,
) -> AStudy | None:
    """Returns a study that is done; draws its progress otherwise, or a button that starts it."""
    job = wait(name, wanted, live, said)
    if job is None or (not job.open and job.state != "done"):
        st.button(label, key=key, icon=":material/play_arrow:", on_click=begin, args=(name, kind, wanted), help=about)
    return job if isinstance(job, kind) and job.state == "done" else None


def begin(name: str, kind: type[LoadedModelJob], wanted: Study | Ask) -> None:
    """Starts a study; again after it failed or was stopped."""
    kept = page.visit_state().studies
    JOBS.forget(kept.pop(name, None))
    request(name, kind, wanted)
