"""The sidebar of the Model page: the choice among this host's models, and what the chosen one is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from attention.models.catalogue import PACKAGES, RENAMED, SHORT, Offer, choose_model
from attention.models.packages import ModelError, missing
from attention.models.prompt import PROMPTS, Prompt
from attention.models.sizes import megabytes
from attention.ui.controls import knobs
from attention.ui.controls.kind import Change, Kind, Stops
from attention.ui.limits import models
from attention.ui.markdown import escape
from attention.ui.text import controls as words
from attention.ui.text import model_run as text

NAMES = frozenset({"model"})


def draw(prompt: Prompt, stops: Stops, change: Change) -> None:
    """Draws the choice of the model, and a caption about it."""
    host = models()
    # Labels must be unique: the browser sends the label, so that two equal ones would be ambiguous.
    names = [*host.offers] if prompt.model else ["", *[*host.offers][1:]]
    options = tuple(dict.fromkeys([*names, prompt.model]))
    more = {"accept_new_options": True, "placeholder": words.TYPE_MODEL} if host.free else {}
    knobs.menu(
        "model",
        prompt,
        options,
        format_func=_choice_label,
        help=words.FREE if host.free else words.LISTED,
        on_change=change,
        **more,
    )
    if offer := find_offer(prompt):
        about = f"{offer.says[:1].upper()}{offer.says[1:]}"
        st.caption(escape(words.MODEL.format(about=about, memory=megabytes(host.most))))


def _choice_label(name: str) -> str:
    """The label of a choice; that of the first model in the list if none was chosen."""
    name = name or next(iter(models().offers), words.CHOOSE_MODEL)
    return SHORT.get(name, name)


def find_offer(prompt: Prompt) -> Offer | None:
    """The model of a prompt, or the first in the list if it names none; None if it is not available here."""
    found = _offer_or_error(prompt)
    return found if isinstance(found, Offer) else None


def can_run() -> bool:
    """Whether any model can run here: one of the list whose libraries are installed, or any of the hub."""
    host = models()
    return any(not missing(offer.needs) for offer in host.offers.values()) or (host.free and not missing())


def offer_without_download(name: str) -> Offer:
    """The model of this name, for a run that a link or a typed text asks for; raises ModelError, which says why it can't run."""
    host, name = models(), RENAMED.get(name, name)
    if host.off:
        raise ModelError(text.OFF)
    if name in PACKAGES and (name not in host.offers or missing(host.offers[name].needs)):
        raise ModelError(text.NOT_INSTALLED)
    found = choose_model(name, host.offers, host.free)
    if missing(found.needs):
        raise ModelError(text.LACKS)
    return found


def refusal(prompt: Prompt) -> str:
    """Why the model that a prompt names is not available here; "" if it is, or if it names none."""
    found = _offer_or_error(prompt)
    return str(found) if prompt.model and isinstance(found, ModelError) else ""


def _offer_or_error(prompt: Prompt) -> Offer | ModelError:
    host = models()
    try:
        return choose_model(prompt.model or next(iter(host.offers), ""), host.offers, host.free)
    except ModelError as error:
        return error


def look(prompt: Prompt) -> tuple[Any, ...]:
    """Everything that the controls show of a prompt, except the values of the widgets themselves."""
    host = models()
    return tuple(host.offers), host.free, find_offer(prompt)


def _with_known_model(prompt: Prompt, query: Mapping[str, Any]) -> tuple[Prompt, list[str]]:
    """The prompt with its model under its present name; without one that this host does not have, and a message."""
    host = models()
    if not prompt.model or host.off or not can_run():
        return prompt, []
    try:
        return replace(prompt, model=choose_model(prompt.model, host.offers, host.free).name), []
    except ModelError as error:
        return replace(prompt, model=""), [str(error)]


PROMPT = Kind(PROMPTS, draw, look, NAMES, opened=_with_known_model, applies=can_run)
