"""The sidebar of the Model page: which of this host's models reads, and what that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from attention.models.catalogue import Offer, chosen
from attention.models.packages import ModelError, missing
from attention.models.reading import READINGS, Reading
from attention.models.sizes import megabytes
from attention.ui.controls import knobs
from attention.ui.controls.kind import Change, Kind, Stops
from attention.ui.limits import models
from attention.ui.words import plain

NAMES = frozenset({"model"})
FREE = "Or type the name of any model on the hub, as google-bert/bert-base-uncased."


def draw(reading: Reading, stops: Stops, change: Change) -> None:
    """Which model, and where it comes from."""
    host = models()
    if not (host.offers or host.free):
        st.caption("No model can be chosen here." if host.off else "There is no model here yet.")
        return
    names = [*host.offers] or [""]
    options = tuple(dict.fromkeys([*([] if reading.model else [""]), *names, reading.model]))
    more = {"accept_new_options": True, "placeholder": "Choose, or type a name of the hub"} if host.free else {}
    knobs.menu(
        "model", reading, options, format_func=_called, help=FREE if host.free else None, on_change=change, **more
    )
    if offer := offered(reading):
        st.caption(plain(f"{offer.says[:1].upper()}{offer.says[1:]}. At most {megabytes(host.most)} of memory."))


def _called(name: str) -> str:
    """A choice for the reader; the first of the list where none was chosen."""
    return name or next(iter(models().offers), "Choose a model")


def offered(reading: Reading) -> Offer | None:
    """The model of a reading, the first of the list where it names none; None where it can't be had here."""
    host = models()
    try:
        return chosen(reading.model or next(iter(host.offers), ""), host.offers, host.free)
    except ModelError:
        return None


def look(reading: Reading) -> tuple[Any, ...]:
    """Whatever of a reading the controls show beside the values that people set in them."""
    host = models()
    return tuple(host.offers), host.free, offered(reading)


def _known(reading: Reading, query: Mapping[str, Any]) -> tuple[Reading, list[str]]:
    """Without a model that this host has not; said where a link asks for one."""
    host = models()
    if not reading.model or missing() or host.off:
        return reading, []
    try:
        chosen(reading.model, host.offers, host.free)
    except ModelError as error:
        return replace(reading, model=""), [str(error)]
    return reading, []


READING = Kind(READINGS, draw, look, NAMES, opened=_known)
