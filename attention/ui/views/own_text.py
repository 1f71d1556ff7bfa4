"""The text whose words are the tokens: a field on every page that shows them, with a note on how it is used."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.config import Config
from attention.knobs import KNOBS
from attention.models.prompt import Prompt
from attention.ui.controls import knobs, own_text
from attention.ui.markdown import escape
from attention.ui.session import model_run, page
from attention.ui.session.part import Part
from attention.ui.session.visit_state import session
from attention.ui.text import model_run as run_text

KNOB = frozenset({"text"})
NAME = "own text"  # of the part


def draw(config: Config, about: str = "") -> None:
    """Draws the field; if the text is not shown word for word, also the reason and a button that changes that."""
    with st.container(key="own-text"):  # labels are next to their fields there (page.css)
        field, note = st.columns([5, 4], gap="small", vertical_alignment="center")
        into(config, field, note, about=about)


def into(
    config: Config,
    field: DeltaGenerator,
    note: DeltaGenerator,
    instead: Callable[[], None] | None = None,
    about: str = "",
) -> None:
    """Draws the same into given containers; `instead` draws the content of the note unless the text is shown otherwise.

    `about`: a sentence about a text that a model reads, as Markdown.
    """
    if prompt := model_run.reader(config.source):
        why = model_run.refusal(config.source)
        with field:
            _read_line(config, prompt, why)
        with note:
            if instead:
                instead()
                return
            said = run_text.ABSENT.format(model=prompt.model) if why else run_text.READS.format(model=prompt.model)
            st.caption(f"{escape(said)} {about}".rstrip(), help=why or None)
        return
    with field:
        if own_text.uses_text(config):
            knobs.line("text", config, placeholder=run_text.PLACEHOLDER, on_change=page.change)
        else:
            _empty_line(config)
    sentence, (label, values) = own_text.text_notice(config), own_text.offer_length(config)
    if instead and not sentence:
        with note:
            instead()
        return
    with note, st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
        st.caption(escape(sentence), width="content")
        if label:
            st.button(label, on_click=page.change, kwargs=values, key="fit text")
        else:
            st.empty()


def _empty_line(config: Config) -> None:
    """Draws an empty field while the tokens do not come from a text: a typed one takes their place."""
    key = f"text in place of {config.source} {config.input}"
    knob = KNOBS["text"]
    st.text_input(
        knob.label,
        key=key,
        help=knob.help,
        autocomplete="off",
        placeholder=run_text.PLACEHOLDER,
        on_change=_use_typed,
        args=(key,),
    )


def _use_typed(key: str) -> None:
    config, typed = page.setting(), str(page.widgets()[key])
    _, use = own_text.offer_length(config)
    page.change(**(use if typed == config.text else {"text": typed} if typed.strip() else {}))


def _read_line(config: Config, prompt: Prompt, why: str) -> None:
    """Draws the field of a text that a real model reads; it is no knob, as the text belongs to the source.

    `why`: the reason if the model can't read another text here.
    """
    key = f"read by {config.source}"
    st.text_input(
        KNOBS["text"].label,
        prompt.text,
        key=key,
        help=why or run_text.READ_HELP.format(model=escape(prompt.model)),
        disabled=bool(why),
        autocomplete="off",
        placeholder=run_text.PLACEHOLDER,
        on_change=_on_typed,
        args=(key, prompt),
    )


def _on_typed(key: str, prompt: Prompt) -> None:
    """Runs the model on the typed text; an emptied field gets its text back, with a message."""
    typed = str(page.widgets()[key])
    notes = model_run.read_typed(page.setting(), prompt, typed)
    if not typed.strip():
        page.widgets()[key] = prompt.text
        session().redraw(NAME)
        notes = [run_text.EMPTY]
    page.note(notes)
    page.change()


def look(config: Config) -> object:
    """What is shown of a config next to the text; absent from a step of the path, which is about its own text."""
    if (card := page.card()) and card.is_step:
        return None
    return own_text.text_notice(config), own_text.offer_length(config), config.source


def look_read(config: Config) -> object:
    """The same for pages that have the field only if a real model can read what is typed."""
    return look(config) if model_run.reader(config.source) and not model_run.refusal(config.source) else None


FIELD = Part(NAME, draw, look, KNOB)
READ_FIELD = Part(NAME, draw, look_read)


def read_field(sentence: Callable[[Config], str]) -> Part:
    """Returns `READ_FIELD` with a sentence about the text beside it, as Markdown."""
    return Part(
        NAME,
        lambda config: draw(config, sentence(config)),
        lambda config: (looks := look_read(config)) and (looks, sentence(config)),
    )
