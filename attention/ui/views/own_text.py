"""The text whose words are the tokens: a field on every page that shows them, with a note on how it is used."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.config import Config
from attention.ui import provenance
from attention.ui.controls import knobs, own_text
from attention.ui.heading import draw_title
from attention.ui.markdown import escape
from attention.ui.session import page
from attention.ui.session.part import Part

KNOB = frozenset({"text"})


def draw(config: Config) -> None:
    """Draws the field; if the text is not shown word for word, also the reason and a button that changes that."""
    with st.container(key="own-text"):  # labels are next to their fields there (page.css)
        field, note = st.columns([5, 4], gap="small", vertical_alignment="center")
        into(config, field, note)


def into(
    config: Config, field: DeltaGenerator, note: DeltaGenerator, instead: Callable[[], None] | None = None
) -> None:
    """Draws the same into given containers; `instead` draws the content of the note if there is nothing to say."""
    with field:
        knobs.line("text", config, placeholder="Type a sentence", on_change=page.change)
    sentence, (label, values) = own_text.text_notice(config), own_text.offer_length(config)
    if instead and not sentence:
        with note:
            instead()
        return
    with note, st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
        st.caption(escape(sentence), width="stretch")
        if label:
            st.button(label, on_click=page.change, kwargs=values, key="fit text")
        else:
            st.empty()


def titled(name: str, help: Callable[[Config], str]) -> Part:
    """The title of a page with the field below it; `help` is shown on hover over the title."""

    def draw_both(config: Config) -> None:
        draw_title(name, provenance.beside(config), help(config))
        draw(config)

    return Part(
        "title", draw_both, lambda config: (provenance.beside(config), help(config), look(config)), KNOB, blocks=2
    )


def look(config: Config) -> object:
    """What is shown of a config next to the text."""
    return own_text.text_notice(config), own_text.offer_length(config)


FIELD = Part("own text", draw, look, KNOB)
