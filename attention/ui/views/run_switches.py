"""A button that switches the selected head of a model's run off or on: shows a run of the model without it, or with it."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attention.config import Config
from attention.models.prompt import PROMPTS, Prompt
from attention.models.summaries import WAYS
from attention.ui.session import model_run, page
from attention.ui.text import interventions as text

ROOM = 8  # characters that one more head takes in a link
HEADS = next(iter(WAYS))  # the summary with every head


def offer(config: Config) -> None:
    """Draws the button, for a run of a model that has every head."""
    if (prompt := _prompt(config)) is None:
        return
    off = is_off(config)
    st.button(
        (text.SWITCH_ON if off else text.SWITCH).format(layer=config.layer, head=config.head),
        key="switch head",
        icon=":material/toggle_on:" if off else ":material/toggle_off:",
        help=text.SWITCH_HELP.format(model=prompt.model),
        disabled=not off and len(prompt.off) + ROOM > (PROMPTS.knobs["off"].high or 0),
        on_click=partial(_switch, prompt),
    )


def look(config: Config) -> object:
    """What the button shows; None if there is none."""
    prompt = _prompt(config)
    return None if prompt is None else (prompt, config.layer, config.head)


def is_off(config: Config) -> bool:
    """Whether the selected head is switched off in the run that is shown."""
    prompt = _prompt(config)
    return prompt is not None and (config.layer, config.head) in prompt.heads_off


def off_note(config: Config) -> str:
    """What it means that the selected head is switched off, as Markdown; "" if it is not."""
    return text.IS_OFF.format(layer=config.layer, head=config.head) if is_off(config) else ""


def _prompt(config: Config) -> Prompt | None:
    """The run that is shown; None for any other source, and for a summary."""
    prompt = page.visit_state().prompts.get(config.source)
    return prompt if prompt is not None and prompt.summary == HEADS and not prompt.part else None


def _switch(prompt: Prompt) -> None:
    page.change(**model_run.switch_head(page.current_setting(), prompt))
