"""Heads of a language model that are switched off: which, how, and what its answer loses; all heads in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from attention.interventions.projections import Head
from attention.models.parts import layers
from attention.models.prompt import OTHER, Prompt
from attention.models.words import Words
from attention.number_format import format_change, format_head, format_token
from attention.ui import next_step
from attention.ui.controls import knobs
from attention.ui.jobs.job_queue import JOBS
from attention.ui.jobs.model_jobs import ModelJob
from attention.ui.jobs.study_jobs import Study, Switched, SwitchJob
from attention.ui.markdown import escape
from attention.ui.session import gestures, page, run_links
from attention.ui.text import interventions as text
from attention.ui.views import heads_parts as parts
from attention.ui.views import model_costs, model_words, studies, token_rows

OFF = "off"  # the study of a visit


def draw(prompt: Prompt) -> None:
    """Draws the section, for a model that has predicted next words."""
    task, words = page.visit_state().reading, next_words()
    if task is None or words is None:
        return
    with st.expander(text.OFF, icon=":material/toggle_off:", expanded=bool(prompt.off)):
        st.caption(text.OFF_ABOUT)
        _controls(prompt)
        if prompt.off:
            wanted, live = _request_effect(prompt, task, words), studies.is_open(OFF)
            st.fragment(_live_switched, run_every=studies.LOOK if live else None)(wanted, live)
        else:
            st.caption(text.NONE_OFF)
        here = page.visit_state().selected
        if here is not None:
            model_costs.draw_ways(prompt, make_study(prompt, task, words, (here,)), words.predictions)
        model_costs.draw(prompt, make_study(prompt, task, words, ()))


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


def on_map_click(more: Mapping[str, int] = gestures.NOTHING) -> None:
    """A head was clicked in the map of layers and heads, where a click selects and switches it; sets the knobs `more`, too."""
    clicked = gestures.clicked_head("layers")
    layer, head = clicked.get("layer"), clicked.get("head")
    if isinstance(layer, int) and isinstance(head, int):
        page.visit_state().turns += 1
        page.change(layer=layer, head=head, off=_toggle((layer, head)), **more)


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
    studies.request(OFF, SwitchJob, wanted, partial(SwitchJob, wanted, clock=JOBS.clock, before=words.predictions))
    return wanted


def _head_list(heads: Sequence[Head]) -> str:
    return ", ".join(format_head(head, layer).lower() for layer, head in heads)


def _logits(effect: Switched) -> dict[str, str]:
    """The two tokens, and the difference of their logits with all heads and without some, as words."""
    tokens, logits = effect.tokens, effect.found.logits
    answer, against = (escape(token_rows.token_name(name)) for name in tokens.names)
    before, after = (format_change(float(row[tokens.answer] - row[tokens.against]), plus=False) for row in logits)
    return {"answer": answer, "against": against, "before": before, "after": after}


def _live_switched(wanted: Study, live: bool) -> None:
    job = studies.wait(OFF, wanted, live, text.RUNNING)
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
