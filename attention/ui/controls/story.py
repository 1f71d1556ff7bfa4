"""The sidebar of the Start page: what acts on the head of the story, then the sizes, which open Heads once one is moved."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from attention.config import Config
from attention.masks import MASKS
from attention.operations.scale import SCALES
from attention.story.settings import SIZES, STORIES, Story
from attention.ui.controls import knobs
from attention.ui.controls.kind import Change, Kind, Stops
from attention.ui.controls.lengths import ends
from attention.ui.controls.picture import help_with_rules
from attention.ui.text import controls as text

RULES: dict[str, Mapping[str, object]] = {"mask": MASKS, "scale": SCALES}
TEMPERATURES = (
    *(0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    *(1.1, 1.2, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 7.0, 10.0, 14.0, 20.0),
)  # about as far from each other by their ratio, so that the temperatures below 4 have most of the slider
NAMES = frozenset((*SIZES, "mask", "span", "scale", "temperature"))


def draw(story: Story, stops: Stops, change: Change) -> None:
    """Draws every control with its callback for changes."""
    st.caption(text.THIS_HEAD)
    for name, rules in RULES.items():
        knobs.menu(name, story, help=help_with_rules(STORIES.knobs[name].help, rules), on_change=change)
        if name == "mask" and MASKS[story.mask].span:
            knobs.slider("span", story, on_change=change)
    knobs.stops("temperature", story, stops["temperature"], format_func="{:g}".format, on_change=change)
    with st.container(key="own-picture"):
        st.caption(text.SIZES_HERE * (not story.is_own) + text.OPENS_HEADS)
        knobs.stops("tokens", story, stops["tokens"], format_func="{:,}".format, on_change=change)
        knobs.slider("heads", story, on_change=change)
        knobs.slider("d_model", story, stops["d_model"], on_change=change)


def _stops(story: Story, last: Story, before: Stops | None) -> Stops:
    """The stops of the sliders; those of the temperature change only for a value that is none of them, as a link may have."""
    found = before or {**ends(Config(), Config()), "temperature": TEMPERATURES}
    if story.temperature in found["temperature"]:
        return found
    return {**found, "temperature": tuple(sorted({*TEMPERATURES, story.temperature}))}


STORY = Kind(STORIES, draw, lambda story: (bool(MASKS[story.mask].span), story.is_own), NAMES, stops=_stops)
