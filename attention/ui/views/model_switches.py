"""Heads of a language model that are switched off: which, how, and what its answer loses; all heads in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

import streamlit as st

from attention.interventions.ablation import HeadCosts
from attention.interventions.projections import Head
from attention.models.parts import layers
from attention.models.prompt import OTHER, Prompt
from attention.models.words import Words
from attention.number_format import format_change, format_head, format_token
from attention.ui import next_step
from attention.ui.controls import knobs
from attention.ui.jobs.job_queue import JOBS
from attention.ui.jobs.model_jobs import Ask, LoadedModelJob, ModelJob
from attention.ui.jobs.study_jobs import EveryHeadJob, Study, Switched, SwitchJob
from attention.ui.markdown import escape
from attention.ui.session import gestures, page, run_links
from attention.ui.text import interventions as text
from attention.ui.views import heads_parts as parts
from attention.ui.views import job_status, model_words, token_rows

AStudy = TypeVar("AStudy", bound=LoadedModelJob)
LOOK = 0.3  # seconds between two checks of a running job
OFF, EVERY = "off", "every"  # the studies of a visit


def draw(prompt: Prompt) -> None:
    """Draws the section, for a model that has predicted next words."""
    task, words = page.visit_state().reading, next_words()
    if task is None or words is None:
        return
    with st.expander(text.OFF, icon=":material/toggle_off:", expanded=bool(prompt.off)):
        st.caption(text.OFF_ABOUT)
        _controls(prompt)
        if prompt.off:
            wanted, live = _request_effect(prompt, task, words), is_open(OFF)
            st.fragment(_live_switched, run_every=LOOK if live else None)(wanted, live)
        else:
            st.caption(text.NONE_OFF)
        every, live = make_study(prompt, task, words, ()), is_open(EVERY)
        st.fragment(_live_every, run_every=LOOK if live else None)(every, live)


def next_words() -> Words | None:
    """What the decoder that has run predicts; None for other models, whose heads can't be switched off."""
    task = page.visit_state().reading
    words = task.found.words if task is not None and task.found is not None else None
    return None if words is None or words.fills else words


def make_study(prompt: Prompt, task: ModelJob, words: Words, heads: tuple[Head, ...]) -> Study:
    """The study of these heads on the text whose result is shown."""
    other = prompt.other if prompt.how == "resample" else ""
    place = model_words.place(prompt, words)
    return Study(
        *task.settings, heads=heads, how=prompt.how, other=other, answer=prompt.answer, against=prompt.against, at=place
    )


def _controls(prompt: Prompt) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        knobs.menu(
            "how", prompt, format_func=text.WAYS.__getitem__, on_change=page.change, help=text.WAY_HELP, width=220
        )
        knobs.line("off", prompt, on_change=page.change, width=180, placeholder="3.1 5.0")
        knobs.line("answer", prompt, on_change=page.change, width=130, placeholder="most probable")
        knobs.line("against", prompt, on_change=page.change, width=130, placeholder="second")
    st.caption(text.WAY_TELLS[prompt.how])
    if prompt.how == "resample":
        knobs.area("other", prompt, on_change=page.change, height=88)
    with st.container(horizontal=True, vertical_alignment="center"):
        here, off = page.visit_state().selected, prompt.heads_off
        if here is not None:
            label = text.SWITCH_ON if here in off else text.SWITCH
            st.button(
                label.format(layer=here[0], head=here[1]),
                key="switch",
                icon=":material/toggle_on:" if here in off else ":material/toggle_off:",
                on_click=lambda: page.change(off=_toggle(here)),
            )
        if off:
            st.button(text.CLEAR, key="all on", on_click=lambda: page.change(off=""))


def _toggle(head: Head) -> str:
    """Returns the heads that are off after this one was switched off, or on again."""
    off = set(page.current_setting().heads_off) ^ {head}
    return " ".join(f"{layer}.{number}" for layer, number in sorted(off))


def on_map_click() -> None:
    """A head was clicked in the map of layers and heads, where a click selects and switches it."""
    clicked = gestures.clicked_head("layers")
    layer, head = clicked.get("layer"), clicked.get("head")
    if isinstance(layer, int) and isinstance(head, int):
        page.visit_state().turns += 1
        page.change(layer=layer, head=head, off=_toggle((layer, head)))


def draw_heads_off(prompt: Prompt, task: ModelJob, words: Words) -> None:
    """Draws which heads are off, and what the answer loses once it is known."""
    if not prompt.off:
        return
    _request_effect(prompt, task, words)
    job, named = page.visit_state().studies.get(OFF), _head_list(prompt.heads_off)
    if isinstance(job, SwitchJob) and job.found is not None:
        st.caption(text.HEADS_OFF_COST.format(heads=named, **_logits(job.found)))
    else:
        st.caption(text.HEADS_OFF.format(heads=named))


def _request_effect(prompt: Prompt, task: ModelJob, words: Words) -> Study:
    wanted = make_study(prompt, task, words, prompt.heads_off)
    request(OFF, SwitchJob, wanted, partial(SwitchJob, wanted, clock=JOBS.clock, before=words.predictions))
    return wanted


def _head_list(heads: Sequence[Head]) -> str:
    return ", ".join(format_head(head, layer).lower() for layer, head in heads)


def _logits(effect: Switched) -> dict[str, str]:
    """The two tokens, and the difference of their logits with all heads and without some, as words."""
    tokens, logits = effect.tokens, effect.found.logits
    answer, against = (escape(token_rows.token_name(name)) for name in tokens.names)
    before, after = (format_change(float(row[tokens.answer] - row[tokens.against]), plus=False) for row in logits)
    return {"answer": answer, "against": against, "before": before, "after": after}


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


def _live_switched(wanted: Study, live: bool) -> None:
    job = wait(OFF, wanted, live, text.RUNNING)
    if isinstance(job, SwitchJob) and job.found is not None and not job.open:
        _show_effect(job.found)
        _draw_links(wanted)


def _draw_links(wanted: Study) -> None:
    """Draws links to the maps of all heads of the run, compared with those of the run that has no head off."""
    off = " ".join(f"{layer}.{head}" for layer, head in wanted.heads)
    ran = Prompt(model=wanted.offer.name, text=wanted.text, second=wanted.second)
    prompt = replace(ran, off=off, how=wanted.how, other=wanted.other or OTHER)
    run, after = page.visit_state().reading, min(layer for layer, _ in wanted.heads) + 1
    every = run.found.parts.values() if run is not None and run.found is not None else ()
    if after >= sum(layers(part.stack) for part in every):
        st.caption(text.NO_MAPS)
        return
    with st.container(horizontal=True):
        next_step.page_link("layers", text.MAPS_LAYERS, run_links.comparison_query(prompt))
        next_step.page_link("heads", text.MAPS_HEADS.format(layer=after), run_links.comparison_query(prompt, after))


def _show_effect(effect: Switched) -> None:
    """Draws what the answer loses without some heads."""
    found, tokens = effect.found, effect.tokens
    st.markdown(
        text.EFFECT.format(
            heads=_head_list(found.heads),
            **_logits(effect),
            loss=f"{found.before.loss:.2f}",
            without=f"{found.after.loss:.2f}",
        )
    )
    left, right = parts.beside()
    with left:
        place = format_token(token_rows.token_name(tokens.labels[found.at]), found.at)
        st.caption(text.TABLE.format(token=escape(place)))
        token_rows.draw_pairs(effect.chances)
    with right:
        st.caption(text.LOSS_CHANGE)
        token_rows.draw_losses(tokens.labels, (found.after.losses - found.before.losses).tolist(), change=True)


def _live_every(wanted: Study, live: bool) -> None:
    job = offer_study(EVERY, EveryHeadJob, wanted, live, text.RUNNING_EVERY, text.EVERY, "every head", text.EVERY_HELP)
    if job is not None and job.found is not None and job.tokens is not None:
        _show_costs(job.found, job.tokens.names)


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


def _show_costs(costs: HeadCosts, names: tuple[str, str]) -> None:
    """Draws what the absence of each head costs, as a map of layers and heads."""
    values = costs.logit
    row, head = divmod(int(values.abs().argmax()), values.shape[1])
    answer, against = (escape(token_rows.token_name(name)) for name in names)
    st.markdown(
        text.COST.format(
            head=format_head(head, costs.layers[row]),
            answer=answer,
            against=against,
            value=format_change(float(values[row, head])),
        )
    )
    token_rows.draw_map(
        costs.layers, values.tolist(), page.visit_state().selected, "head", "costs", text.METRICS["logit"]
    )
    st.caption(text.COST_MAP.format(answer=answer))
