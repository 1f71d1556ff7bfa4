"""The sidebar of the Model page: which of this host's models reads, and what that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from attention.models.catalogue import Offer, choose_model
from attention.models.packages import ModelError, missing
from attention.models.prompt import PROMPTS, Prompt
from attention.models.sizes import megabytes
from attention.ui.controls import knobs
from attention.ui.controls.kind import Change, Kind, Stops
from attention.ui.limits import models
from attention.ui.markdown import escape

NAMES = frozenset({"model"})
LISTED = (
    "These are the models of this host. Whoever runs it can allow any name of the model hub: ATTENTION_MODELS_FREE=on "
    "(docs/HOSTING.md)."
)
FREE = "Or type the name of any model on the hub, as google-bert/bert-base-uncased."


def draw(prompt: Prompt, stops: Stops, change: Change) -> None:
    """Which model, and where it comes from."""
    host = models()
    if not (host.offers or host.free):
        st.caption("No model can be chosen here." if host.off else "There is no model here yet.")
        return
    # Each option has a label of its own: a browser says the label, and one of two equal ones would be a choice of nobody's.
    names = [*host.offers] if prompt.model else ["", *[*host.offers][1:]]
    options = tuple(dict.fromkeys([*names, prompt.model]))
    more = {"accept_new_options": True, "placeholder": "Choose, or type a name of the hub"} if host.free else {}
    knobs.menu(
        "model",
        prompt,
        options,
        format_func=_choice_label,
        help=FREE if host.free else LISTED,
        on_change=change,
        **more,
    )
    if offer := find_offer(prompt):
        st.caption(escape(f"{offer.says[:1].upper()}{offer.says[1:]}. At most {megabytes(host.most)} of memory."))


def _choice_label(name: str) -> str:
    """A choice for the reader; the first of the list where none was chosen."""
    return name or next(iter(models().offers), "Choose a model")


def find_offer(prompt: Prompt) -> Offer | None:
    """The model of a prompt, the first of the list where it names none; None where it can't be had here."""
    found = _offer_or_error(prompt)
    return found if isinstance(found, Offer) else None


def refusal(prompt: Prompt) -> str:
    """Why the name of a prompt is none of a model that can be had here; "" where it is one, or where it names none."""
    found = _offer_or_error(prompt)
    return str(found) if prompt.model and isinstance(found, ModelError) else ""


def _offer_or_error(prompt: Prompt) -> Offer | ModelError:
    host = models()
    try:
        return choose_model(prompt.model or next(iter(host.offers), ""), host.offers, host.free)
    except ModelError as error:
        return error


def look(prompt: Prompt) -> tuple[Any, ...]:
    """Whatever of a prompt the controls show beside the values that people set in them."""
    host = models()
    return tuple(host.offers), host.free, find_offer(prompt)


def _with_known_model(prompt: Prompt, query: Mapping[str, Any]) -> tuple[Prompt, list[str]]:
    """Without a model that this host has not; said where a link asks for one."""
    host = models()
    if not prompt.model or missing() or host.off:
        return prompt, []
    try:
        choose_model(prompt.model, host.offers, host.free)
    except ModelError as error:
        return replace(prompt, model=""), [str(error)]
    return prompt, []


PROMPT = Kind(PROMPTS, draw, look, NAMES, opened=_with_known_model)
