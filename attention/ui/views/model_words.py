"""The next words of a language model, the loss of each token, and a button that appends the next one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from attention.interventions.predictions import choose_token
from attention.models.loading import Model
from attention.models.prompt import PROMPTS, Prompt
from attention.models.run import Run
from attention.models.words import BROKEN, FILLED, Words
from attention.number_format import format_mean, format_token
from attention.ui.controls import knobs
from attention.ui.jobs.job_queue import JOBS
from attention.ui.jobs.model_jobs import LOADED_MODELS, ModelJob
from attention.ui.markdown import escape
from attention.ui.session import page
from attention.ui.text import interventions as text
from attention.ui.views import heads_parts as parts
from attention.ui.views import job_status, token_rows


def draw(prompt: Prompt) -> None:
    """Draws the section, for a model that has run on a text."""
    task = page.visit_state().reading
    run = task.found if task is not None else None
    if task is None or run is None:
        return
    if run.similarity is not None:
        st.markdown(text.SIMILARITY.format(value=format_mean(run.similarity)))
    if run.words is not None:
        _draw_words(prompt, run.words, bool(task.settings.second.strip()))
    elif _can_fill(task, run):
        st.caption(text.LONG.format(most=FILLED))


def _can_fill(task: ModelJob, run: Run) -> bool:
    model: Model | None = LOADED_MODELS.models.get(task.settings.offer)
    return model is not None and model.fills and run.patches is None


def place(prompt: Prompt, words: Words) -> int:
    """The position that is shown: the selected one if the text has it."""
    return prompt.at if 0 <= prompt.at < len(words.ids) else len(words.ids) - 1


def position_menu(prompt: Prompt, words: Words) -> None:
    """Draws the menu of the position after which the model predicts; the last token is -1."""
    last, at = len(words.ids) - 1, place(prompt, words)
    options, shown = (*range(last), -1), -1 if at == last else at
    if prompt.at != shown:
        page.widgets()[PROMPTS.key("at")] = shown
    named = lambda each: f"{each % (last + 1)}: {token_rows.token_name(words.labels[each])}"  # noqa: E731
    knobs.menu("at", replace(prompt, at=shown), options, format_func=named, on_change=page.change, width=180)


def _draw_words(prompt: Prompt, words: Words, paired: bool) -> None:
    at, found = place(prompt, words), words.predictions
    left, right = parts.beside()
    with left:
        said = text.FILLED if words.fills else text.NEXT
        st.markdown(said.format(token=escape(format_token(token_rows.token_name(words.labels[at]), at))))
        rows = zip(found.ids[at].tolist(), found.probabilities[at].tolist(), strict=True)
        token_rows.draw_probabilities([(words.texts[each], share) for each, share in rows])
    with right:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            position_menu(prompt, words)
            if not words.fills:
                knobs.number("seed", prompt, on_change=page.change, width=110)
        if not words.fills:
            knobs.slider("temperature", prompt, (0.0, 2.0, 0.1), on_change=page.change)
            st.button(text.APPEND, key="append", icon=":material/add:", on_click=append, help=text.APPEND_HELP)
            _show_note(words, paired)
    st.caption(text.LOSSES.format(mean=f"{found.loss:.2f}"))
    token_rows.draw_losses(words.labels, found.losses.tolist())


def _show_note(words: Words, paired: bool) -> None:
    kept = page.visit_state()
    if kept.refused_token:
        st.caption(kept.refused_token)
    elif kept.appended and words.ids[: len(kept.appended)] != kept.appended:
        st.caption(text.SPLIT)


def append() -> None:
    """Appends the next token to the text and runs the model again."""
    kept, prompt = page.visit_state(), page.current_setting()
    run = kept.reading.found if kept.reading is not None else None
    if kept.reading is None or run is None or run.words is None:
        return
    words, settings = run.words, kept.reading.settings
    token = choose_token(words.predictions.last, prompt.temperature, prompt.seed + len(words.ids))
    piece = words.decode(token)
    kept.refused_token = _refusal(piece, settings.text, bool(settings.second.strip()))
    if kept.refused_token:
        return
    kept.appended = (*words.ids, token)
    wanted = settings._replace(text=settings.text + piece)
    job = partial(ModelJob, wanted, before=run, clock=JOBS.clock)
    kept.reading = JOBS.request(ModelJob, wanted, page.visitor(), job)
    job_status.wait_briefly(kept.reading)
    page.change(text=wanted.text, at=-1)


def _refusal(piece: str, before: str, paired: bool) -> str:
    """Why a token can't be appended; "" if it can."""
    if paired:
        return text.PAIR
    if not piece:
        return text.ENDS
    if BROKEN in piece:
        return text.BROKEN
    return text.FULL if len(before + piece) > int(PROMPTS.knobs["text"].high or 0) else ""
