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
NAMES = frozenset((*SIZES, "mask", "span", "scale", "temperature"))


def draw(story: Story, stops: Stops, change: Change) -> None:
    """Draws every control with its callback for changes."""
    st.caption(text.THIS_HEAD)
    for name, rules in RULES.items():
        knobs.menu(name, story, help=help_with_rules(STORIES.knobs[name].help, rules), on_change=change)
        if name == "mask" and MASKS[story.mask].span:
            knobs.slider("span", story, on_change=change)
    knobs.slider("temperature", story, on_change=change)
    with st.container(key="own-picture"):
        st.caption(text.OPENS_HEADS)
        knobs.stops("tokens", story, stops["tokens"], format_func="{:,}".format, on_change=change)
        knobs.slider("heads", story, on_change=change)
        knobs.slider("d_model", story, stops["d_model"], on_change=change)


def _stops(story: Story, last: Story, before: Stops | None) -> Stops:
    return before or ends(Config(), Config())


STORY = Kind(STORIES, draw, lambda story: bool(MASKS[story.mask].span), NAMES, stops=_stops)
