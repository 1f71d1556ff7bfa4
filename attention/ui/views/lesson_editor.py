"""Makes a lesson: steps are added one by one, each with its page and settings, and one link opens them all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from attention.components.copy_link import copy_link
from attention.settings import LESSON, ConfigError
from attention.ui.controls.knobs import SETTINGS
from attention.ui.lesson_codec import ASK, STEPS, Step, encode
from attention.ui.markdown import escape
from attention.ui.menu import page_title
from attention.ui.predict import none
from attention.ui.session import model_run, page
from attention.ui.session.share import LONG
from attention.ui.session.visit_state import session
from attention.ui.text import lessons as text


def draw(code: str, wrong: str, forget: Callable[[], None]) -> None:
    """Draws the steps so far, a button that adds a question (`code`, "" if none is ready), and the link of all steps.

    `wrong`: what is wrong with the question; `forget` empties its form once it was added.
    """
    chain = page.visit_state().chain
    st.markdown(f"**{text.MAKE}**", help=text.MAKE_HELP)
    for at, step in enumerate(chain):
        with st.container(horizontal=True, vertical_alignment="center"):
            label = text.STEP.format(number=at + 1, page=page_title(step.page), text=escape(step.text))
            st.markdown(label, width="content")
            st.button(
                "", key=f"remove step {at}", icon=":material/close:", help=text.REMOVE, on_click=_remove, args=(at,)
            )
    st.button(
        text.ADD.format(count=len(chain), most=STEPS),
        key="add step",
        icon=":material/playlist_add:",
        on_click=_add,
        args=(code, forget),
        disabled=not code or bool(wrong) or len(chain) >= STEPS,
    )
    try:
        link = f"{_folder()}{chain[0].page}?{LESSON}={encode(chain)}" if chain else ""
    except ConfigError as error:
        st.warning(escape(str(error)), icon=":material/content_cut:")
        return
    copy_link("copy_lesson", text.COPY, lacking="" if chain else text.EMPTY, copies=link)
    if chain:
        st.caption(text.LENGTH.format(count=len(link)) + text.LONG.format(most=LONG) * (len(link) > LONG))


def _add(code: str, forget: Callable[[], None]) -> None:
    """Adds the question with the picture that is shown, as its link has it."""
    setting = page.current_setting()
    settings = SETTINGS[type(setting)]
    query = model_run.carry(settings.to_query(replace(setting, **none(setting)))) or settings.newest
    entries = {name: value for name, value in query.items() if name not in (ASK, f"{settings.linked}{ASK}")}
    page.visit_state().chain.append(Step(session().page, tuple(entries.items()), code))
    forget()


def _remove(at: int) -> None:
    del page.visit_state().chain[at]


def _folder() -> str:
    """The address of the folder that the pages are in."""
    return (st.context.url or "").partition("?")[0].rpartition("/")[0] + "/"
