"""The leak test on the Model page: its button, its progress and its result."""

from __future__ import annotations

from base64 import b64encode
from functools import partial
from html import escape as escape_html

import streamlit as st

from attention.interventions import leak_page
from attention.interventions.leaks import Leaks
from attention.models.parts import square
from attention.ui.jobs.job_queue import JOBS
from attention.ui.jobs.model_jobs import LeakJob, ModelJob
from attention.ui.markdown import escape
from attention.ui.session import page
from attention.ui.text import leaks as text
from attention.ui.views import job_status

LOOK = 0.5  # seconds between two checks of a running test
FILE = "leaks.html"
INK, GROUND = "light-dark(#1f2430, #eceef2)", "light-dark(#ffffff, #14171c)"  # of the picture in both themes
IMAGE = '<img alt="{}" src="data:image/svg+xml;base64,{}" style="width: 100%; max-width: 560px">'


def draw() -> None:
    """Draws the section, for a model that has run on a text."""
    run, job = page.visit_state().reading, page.visit_state().leak_test
    if run is None or run.found is None or run.found.patches is not None:
        return
    with st.expander(text.TITLE, icon=":material/water_drop:"):
        st.caption(text.ABOUT)
        live = job is not None and job.open
        st.fragment(_live, run_every=LOOK if live else None)(live)


def _live(live: bool) -> None:
    """Draws the button, the progress or the result; it reruns the page to start and to end its timer."""
    job, run = page.visit_state().leak_test, page.visit_state().reading
    if live != (job is not None and job.open):
        st.rerun()
    if job is not None and job.open:
        job.look(page.visitor())
        said = text.PROGRESS.format(model=escape(job.settings.offer.name))
        why = text.CANCEL_HELP.format(seconds=LeakJob.leave_after_s)
        job_status.show_progress(job, JOBS, said, partial(job.leave, page.visitor()), why, key="cancel leaks")
        return
    shown = job if job is not None and run is not None and job.settings == run.settings else None
    if shown is None or shown.found is None:
        st.button(text.START, key="test_leaks", icon=":material/play_arrow:", on_click=begin, help=text.START_HELP)
    if shown is not None and shown.found is not None:
        _show_result(shown.found, shown.settings.offer.name if run is not None and _is_bidirectional(run) else "")
    elif shown is not None and shown.state == "failed":
        st.error(escape(shown.said), icon=":material/error:")
    elif shown is not None:
        st.caption(text.STOPPED)


def begin() -> None:
    """Tests the model on the text whose result is shown."""
    kept = page.visit_state()
    if kept.reading is None:
        return
    if kept.leak_test is not None and kept.leak_test.settings == kept.reading.settings and not kept.leak_test.open:
        JOBS.forget(kept.leak_test)
    kept.leak_test = JOBS.request(LeakJob, kept.reading.settings, page.visitor())


def _is_bidirectional(run: ModelJob) -> bool:
    """Whether a model has one kind of attention, in which every token sees every other."""
    if run.found is None or len(run.found.parts) != 1:
        return False
    (part,) = run.found.parts.values()
    return part.stack.q is not None and bool(square(part.stack, 0).all())


def _show_result(found: Leaks, bidirectional: str) -> None:
    """Shows the result; `bidirectional` names a model that is not meant to be causal, whose changes are no leaks."""
    count, told = len(found.tokens), found.summary
    if found.pairs and bidirectional:
        told = text.BIDIRECTIONAL.format(
            model=escape(bidirectional), pairs=len(found.pairs), every=count * (count - 1) // 2
        )
        st.info(told, icon=":material/info:")
    elif found.pairs:
        st.warning(text.FAILED.format(summary=escape(found.summary)), icon=":material/error:")
    elif not found.ok:
        st.warning(text.DIFFERS.format(summary=escape(found.summary)), icon=":material/error:")
    else:
        st.success(text.PASSED.format(summary=escape(found.summary)), icon=":material/check_circle:")
    left, right = st.columns([3, 2], gap="medium")
    with left:
        # An image of its own, because st.html leaves out SVG. It has a ground, as some browsers don't tell it the theme.
        svg = leak_page.drawing(found, INK, GROUND, causal=not bidirectional)
        st.html(IMAGE.format(escape_html(told), b64encode(svg.encode()).decode()))
        st.caption(text.PICTURE_BIDIRECTIONAL if bidirectional else text.PICTURE)
    with right:
        # A cache and padding on the left are for models that generate text: of others, only what was compared is listed.
        variants = [each for each in found.variants if each.change is not None or not bidirectional]
        st.markdown("\n".join(f"- {escape(str(each))}" for each in (*variants, *found.notes)))
        st.caption(text.HIDDEN)
        if not bidirectional:
            data = found.html()
            st.download_button(text.SAVE, data, FILE, "text/html", on_click="ignore", icon=":material/download:")
