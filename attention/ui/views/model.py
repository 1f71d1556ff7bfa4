"""Model: runs a model here on a text or a picture, and shows every head of it."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attention.config import Config
from attention.models.prompt import Prompt
from attention.recorded.packages import GET
from attention.sources.providers import readable
from attention.story.head import RIDDLE, riddle_config, riddle_source
from attention.ui.controls.prompt import can_run, find_offer, refusal
from attention.ui.heading import draw_finding
from attention.ui.jobs.job_queue import JOBS
from attention.ui.jobs.model_jobs import ModelJob as Task
from attention.ui.limits import models
from attention.ui.markdown import escape
from attention.ui.session import browser_yield, page, present
from attention.ui.text import model as text
from attention.ui.text import terms
from attention.ui.views import (
    head_survey,
    job_status,
    model_answer,
    model_finding,
    model_input,
    model_leaks,
    model_result,
    model_switches,
    model_words,
)

LOOK = 0.5  # seconds between two checks of a model that is being loaded or run
STAYS = text.CANCEL_HELP.format(seconds=Task.leave_after_s)


def view(prompt: Prompt) -> None:
    """The page of a prompt."""
    if _absent():
        browser_yield.yield_to_browser()
        return
    task = page.visit_state().reading
    if not present.is_embedded():
        draw_finding(_finding(prompt))
    st.fragment(_live, run_every=LOOK if task is not None and task.open else None)(prompt, bool(task and task.open))
    if present.is_embedded():
        return
    head_survey.draw()
    model_words.draw(prompt)
    model_switches.draw(prompt)
    model_answer.draw(prompt)
    model_leaks.draw()
    terms.draw("model")
    browser_yield.yield_to_browser()


def _finding(prompt: Prompt) -> str:
    """What is shown, as a sentence: of the result, of the recording, or the state of the run."""
    task = page.visit_state().reading
    if task is None:
        config, special = _recorded_config(), ()
    else:
        shown = model_result.shown_config(prompt, task) if not task.open else None
        config, special = shown or (None, ())
    return (config and model_finding.finding(prompt, config, special)) or model_input.state_finding()


def _live(prompt: Prompt, live: bool) -> None:
    """Draws the progress, then the result; after the end it reruns the page without a timer."""
    task = page.visit_state().reading
    if task is None:
        if shown := _recorded_config():
            model_result.layers_map(prompt, shown)
        return
    task.look(page.visitor())
    if live and not task.open:
        st.rerun()
    if task.open:
        said = text.PROGRESS.format(now=task.now or text.PREPARING, model=task.settings.offer.name)
        job_status.show_progress(task, JOBS, escape(said), partial(task.leave, page.visitor()), STAYS)
    elif task.found is not None:
        model_result.draw(prompt, task)
    else:
        _show_failure(task)


def _show_failure(task: Task) -> None:
    """Says why there is no result."""
    if task.state == "failed":
        st.error(escape(task.said), icon=":material/error:")
    else:
        st.caption(text.STOPPED)
    if not present.is_embedded():
        st.button(text.BACK, key="recorded", icon=":material/undo:", on_click=model_finding.show_recording)


def _absent() -> bool:
    """Draws what to do if no model can run here, and returns True; returns False if one can."""
    host = models()
    if host.off:
        _show_sources("", "", text.OFF)
    elif not can_run():
        _show_sources(text.NO_MODEL, GET)
    else:
        if unknown := refusal(page.setting()):
            st.error(escape(unknown), icon=":material/error:")
        return find_offer(page.setting()) is None and not page.visit_state().reading and _unchosen(bool(host.offers))
    return True


def _unchosen(any_listed: bool) -> bool:
    """Says what to do first, before a model was chosen."""
    if any_listed:
        _show_sources("", "", text.CHOOSE)
    else:
        _show_sources(text.UNCHOSEN, GET, text.TYPE)
    return True


def _show_sources(said: str, command: str, way: str = "") -> None:
    """Draws a recorded result, above it the `way` to one of one's own if there is one, and below what is `said` of that."""
    shown = _recorded_config()
    if not present.is_embedded():
        draw_finding(_finding(page.setting()))
        if way:
            st.caption(way)
    if shown:
        model_result.layers_map(page.setting(), shown)
    if present.is_embedded() or not said:
        return
    with st.expander(text.GET_LISTED if way else text.GET_FOLD, icon=":material/inventory_2:"):
        st.markdown(escape(said))
        if command:
            st.code(command, language="bash")


def _recorded_config() -> Config | None:
    """What this page shows of a recorded model on one of the two sentences; None if its file is damaged."""
    name = model_finding.sample(page.setting()) or next(iter(RIDDLE))
    source = riddle_source(name)
    if not readable(source):
        return None
    first = riddle_config(name)
    config = model_result.with_selected_head(page.setting(), source, first=(first.layer, first.head))
    return model_result.with_selected_query(page.setting(), config, first.query)
