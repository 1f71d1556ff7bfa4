"""The text whose words are the tokens: a field on every page that shows them, and beside it what becomes of it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.config import Config
from attention.ui.controls import knobs, own_text
from attention.ui.markdown import escape
from attention.ui.session import page

KNOB = frozenset({"text"})


def draw(config: Config) -> None:
    """The field, and where its text is not shown word for word, why, and a button that has it so."""
    with st.container(key="own-text"):  # labels stand beside their fields there (page.css)
        field, note = st.columns([5, 4], gap="small", vertical_alignment="center")
        into(config, field, note)


def into(
    config: Config, field: DeltaGenerator, note: DeltaGenerator, instead: Callable[[], None] | None = None
) -> None:
    """The same, where a page has room for it; `instead` draws what stands there where there is nothing to be said."""
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


def look(config: Config) -> object:
    """What it shows of a config beside the text."""
    return own_text.text_notice(config), own_text.offer_length(config)


FIELD = page.Part("own text", draw, look, KNOB)
