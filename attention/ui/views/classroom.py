"""For a class: a button beside the title of a page, and the dialog that asks a question and makes a lesson."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from attention.components.copy_link import copy_link
from attention.config import Config
from attention.settings import EDITION
from attention.ui import predict
from attention.ui.controls.knobs import SETTINGS
from attention.ui.markdown import escape
from attention.ui.question_codec import Draft, decode
from attention.ui.session import page
from attention.ui.session.share import LONG
from attention.ui.session.visit_state import session
from attention.ui.text import lessons as text
from attention.ui.text.questions import OFFERS
from attention.ui.views import lesson_editor, question_form, questions

WIDE = 1080  # pixels of the dialog
FITTING = {
    "masks": ("mask",),
    "softmax": ("temperature",),
}  # the built-in question of a page; that of others is about the row
WITHOUT = ("implementations",)  # the built-in questions are about attention itself, this page about published code


def button() -> page.Part:
    """The button of a page."""
    return page.Part("classroom", _draw, _look)


def _look(config: Any) -> object:
    """What the button and the dialog depend on; absent beside a card, which has a question of its own."""
    if page.card():
        return None
    is_open = page.visit_state().classroom
    return is_open, is_open and _loadable(config), _fitting_question(config)


def _draw(config: Any) -> None:
    with st.container(key="class-button", horizontal=True, width="content"):
        questions.offer(_fitting_question(config))
        st.button(text.TITLE, icon=":material/school:", key="open class", on_click=_open)
    if page.visit_state().classroom:
        open_dialog()


def _fitting_question(config: Any) -> dict[str, str]:
    """The built-in question about what the page shows, with the label of its button; {} if a question is asked."""
    ready = ready_questions(config)
    if not ready or session().page in WITHOUT or config.ask or questions.ours(config):
        return {}
    name = next((name for name in FITTING.get(session().page, ()) if name in ready), "row")
    return {name: text.PREDICT}


def _open() -> None:
    page.visit_state().classroom = True


def _shut(**values: Any) -> None:
    """Sets knobs and closes the dialog, which a run of the whole page does. What was written last may not be drawn yet."""
    page.visit_state().draft = question_form.draft()
    page.put(**values)
    page.visit_state().classroom = False


@st.dialog(text.TITLE, width=WIDE, on_dismiss=_shut)
def open_dialog() -> None:
    """Draws the dialog about the page behind it."""
    if not page.visit_state().classroom:
        st.rerun()
    config = page.setting()
    _offer_ready_questions(config)
    at, count = page.visit_state().editing, len(page.visit_state().chain)
    own = text.OWN_NEXT.format(count=count) if count else text.OWN
    st.markdown(own if at is None else text.EDITS.format(number=at + 1))
    form, seen = st.columns([3, 2], gap="medium")
    with form:
        question_form.draw()
    code, wrong = question_form.pack(question_form.draft())
    with seen:
        hides = at is None and questions.is_hidden(config)
        asked = questions.hiding_question(config) if hides else None
        question_form.draw_as_seen(lesson_editor.place(), lesson_editor.picture(), hides, asked)
        _draw_warning(config, code, wrong)
    with st.container(horizontal=True, vertical_alignment="center", key="class-actions"):
        lesson_editor.draw_actions(code)
        if at is None:
            _offer_link(config, code, wrong)
    lesson_editor.draw_steps()


def _offer_ready_questions(config: Any) -> None:
    """Draws the buttons that ask a built-in question about a config."""
    names = ready_questions(config)
    if names:
        st.markdown(text.READY)
        with st.container(horizontal=True):
            questions.offer(names, "class", icon=None, ask=_shut)


def ready_questions(config: Any) -> dict[str, str]:
    """The built-in questions that can be asked about these settings, with the labels of their buttons."""
    if not isinstance(config, Config):
        return {}
    return {name: label for name, label in OFFERS.items() if questions.can_be_asked(name, config)}


def _draw_warning(config: Any, code: str, wrong: str) -> None:
    """Draws what is wrong with the question, or with its link."""
    draft = question_form.draft()
    if code and draft.options and draft.right_option is None:
        st.warning(text.NO_RIGHT, icon=":material/help:")
    if wrong:
        st.warning(escape(wrong), icon=":material/edit:")
    elif code and _length(config, code) > LONG:
        st.warning(text.LONG_QUESTION.format(most=LONG), icon=":material/content_cut:")


def _offer_link(config: Any, code: str, wrong: str) -> None:
    """Draws the buttons that copy, try and load a question."""
    lacking = "" if code else text.WRONG_QUESTION if wrong else text.NO_QUESTION
    copy_link("copy_question", text.COPY_QUESTION, _entries(config, code), ("predict",), lacking)
    st.button(text.TRY, on_click=_ask_draft, key="ask own", icon=":material/visibility:", help=text.TRY_HELP)
    if _loadable(config):
        st.button(text.LOAD_QUESTION, on_click=_load_question, key="load own", icon=":material/edit:")


def _ask_draft() -> None:
    """Asks the question as it is written now, which may be newer than what was drawn."""
    code, _ = question_form.pack(question_form.draft())
    if code:
        _shut(**predict.none(page.setting()) | {"ask": code})


def _load_question() -> None:
    """Puts the question of the link into the form."""
    question_form.replace(Draft.of(decode(page.setting().ask)))


def _loadable(config: Any) -> bool:
    """Whether the link has a question whose answer was revealed here and that is not in the form."""
    code, _ = question_form.pack(question_form.draft())
    return bool(config.ask) and predict.is_revealed(config) and code != config.ask


def _entries(config: Any, code: str) -> dict[str, str]:
    """The query parameters that make a link to the current page ask the question."""
    settings = SETTINGS[type(config)]
    asks = settings.to_query(replace(config, ask=code))
    return {name: asks[name] for name in (EDITION, f"{settings.linked}ask") if name in asks} if code else {}


def _length(config: Any, code: str) -> int:
    """The number of characters of the link."""
    there = (st.context.url or "").partition("?")[0]
    return len(there) + 1 + len(SETTINGS[type(config)].link(replace(config, **predict.none(config) | {"ask": code})))
