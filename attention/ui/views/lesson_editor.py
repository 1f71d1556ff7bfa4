"""Makes a lesson: steps are added one by one, each with its page and settings, and one link opens them all."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qs, urlencode, urlsplit

import streamlit as st

from attention.components.copy_link import copy_link
from attention.settings import LESSON, ConfigError
from attention.ui import question_codec
from attention.ui.controls.knobs import SETTINGS
from attention.ui.lesson_codec import ASK, STEPS, Step, decode, encode
from attention.ui.markdown import escape
from attention.ui.menu import page_title
from attention.ui.predict import none
from attention.ui.question_codec import Draft
from attention.ui.session import model_run, page
from attention.ui.session.share import LONG
from attention.ui.session.visit_state import session
from attention.ui.text import lessons as text
from attention.ui.views import question_form

Settings = tuple[tuple[str, str], ...]


def place() -> tuple[int, int] | None:
    """The number of the step that is in the form, and the number of steps; None if there is no lesson."""
    chain, at = page.visit_state().chain, page.visit_state().editing
    if not chain:
        return None
    return (at + 1, len(chain)) if at is not None else (len(chain) + 1, len(chain) + 1)


def picture() -> tuple[str, str]:
    """The page and the query of the picture of the step that is in the form."""
    at = page.visit_state().editing
    name, entries = _here() if at is None else _picture(page.visit_state().chain[at])
    return name, urlencode(entries)


def draw_actions(code: str) -> None:
    """Draws the buttons that add a question (`code`, "" if none is ready) to the lesson, or change one of its steps."""
    chain, at = page.visit_state().chain, page.visit_state().editing
    if at is None:
        # enabled without a question, too: a button that is disabled loses the focus, and Esc no longer closes the dialog
        full, help = len(chain) >= STEPS, None if code else text.NO_STEP
        label, icon = text.ADD.format(count=len(chain), most=STEPS), ":material/playlist_add:"
        st.button(label, key="add step", icon=icon, on_click=_save, args=(code,), disabled=full, help=help)
        return
    label, off = text.SAVE.format(number=at + 1), not code
    st.button(
        label, key="save step", on_click=_save, args=(code, True), disabled=off, help=text.SAVE_HELP, type="primary"
    )
    st.button(
        text.SAVE_PICTURE, key="save picture", on_click=_save, args=(code,), disabled=off, help=text.SAVE_PICTURE_HELP
    )
    st.button(text.CANCEL, key="cancel step", on_click=_leave, type="tertiary")


def draw_steps() -> None:
    """Draws the steps so far, with buttons that move, edit and delete them, and the link of the lesson."""
    chain = page.visit_state().chain
    st.markdown(text.MAKE, help=text.MAKE_HELP)
    st.caption(text.MORE if chain else text.FIRST)
    for at, step in enumerate(chain):
        _draw_step(at, step, len(chain))
    if not chain:
        st.text_input(text.CONTINUE, key="class lesson", on_change=_continue)
        if page.widgets().get("class lesson"):
            st.warning(text.NO_LESSON, icon=":material/link_off:")
        return
    try:
        link = f"{_folder()}{chain[0].page}?{LESSON}={encode(chain)}"
    except ConfigError as error:
        st.warning(escape(str(error)), icon=":material/content_cut:")
        return
    with st.container(horizontal=True, vertical_alignment="center", key="lesson-link"):
        copy_link("copy_lesson", text.COPY, copies=link)
        st.link_button(text.OPEN, link, icon=":material/open_in_new:", help=text.OPEN_HELP, type="tertiary")
    st.caption(text.LENGTH.format(count=len(link)) + text.LONG.format(most=LONG) * (len(link) > LONG))


def _draw_step(at: int, step: Step, count: int) -> None:
    """Draws a step: its picture and question, and its buttons."""
    asked = question_codec.decode(step.ask)
    unmarked = bool(asked.options) and asked.right is None
    with st.container(horizontal=True, vertical_alignment="center", key=f"lesson-step-{at}"):
        name, entries = _picture(step)
        with st.container(width=112):
            question_form.draw_picture(name, urlencode(entries))
        said = {"number": at + 1, "page": page_title(step.page), "text": escape(step.text)}
        st.markdown(text.STEP.format(mark=text.UNMARKED if unmarked else "", **said), width="stretch")
        with st.container(horizontal=True, width="content", gap="small"):
            for label, icon, off, call, args in (
                (text.UP, "arrow_upward", at == 0, _swap, (at, at - 1)),
                (text.DOWN, "arrow_downward", at == count - 1, _swap, (at, at + 1)),
                (text.EDIT, "edit", False, _edit, (at,)),
                (text.REMOVE, "delete", False, _remove, (at,)),
            ):
                help, key = label.format(number=at + 1), f"{icon} step {at}"
                icon = f":material/{icon}:"
                st.button("", icon=icon, key=key, help=help, on_click=call, args=args, disabled=off, type="tertiary")


def _here() -> tuple[str, Settings]:
    """The page with its settings, as a link without a question has them."""
    setting = page.current_setting()
    settings = SETTINGS[type(setting)]
    query = model_run.carry(settings.to_query(replace(setting, **none(setting)))) or settings.newest
    return session().page, tuple(
        (name, value) for name, value in query.items() if name not in (ASK, f"{settings.linked}{ASK}")
    )


def _picture(step: Step) -> tuple[str, Settings]:
    return step.page, step.settings


def _save(code: str, keeps_picture: bool = False) -> None:
    """Adds the question with the picture that is shown, or changes the step that is being edited."""
    chain, at = page.visit_state().chain, page.visit_state().editing
    if not code:
        return
    if at is None:
        chain.append(Step(*_here(), code))
    else:
        chain[at] = Step(*(_picture(chain[at]) if keeps_picture else _here()), code)
    _leave()


def _edit(at: int) -> None:
    """Puts a step into the form."""
    page.visit_state().editing = at
    question_form.replace(Draft.of(question_codec.decode(page.visit_state().chain[at].ask)))


def _leave() -> None:
    """Empties the form."""
    page.visit_state().editing = None
    question_form.replace(Draft())


def _swap(at: int, other: int) -> None:
    chain, visit = page.visit_state().chain, page.visit_state()
    chain[at], chain[other] = chain[other], chain[at]
    visit.editing = {at: other, other: at}.get(visit.editing, visit.editing) if visit.editing is not None else None


def _remove(at: int) -> None:
    visit = page.visit_state()
    del visit.chain[at]
    if visit.editing == at:
        _leave()
    elif visit.editing is not None and visit.editing > at:
        visit.editing -= 1


def _continue() -> None:
    """Takes the steps of the lesson whose link was pasted."""
    try:
        entry = parse_qs(urlsplit(page.widgets().get("class lesson", "").strip()).query).get(LESSON, [""])[0]
        page.visit_state().chain = [*decode(entry).steps]
    except ValueError:  # ConfigError is one, too
        return


def _folder() -> str:
    """The address of the folder that the pages are in."""
    return (st.context.url or "").partition("?")[0].rpartition("/")[0] + "/"
