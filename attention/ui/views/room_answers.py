"""A room, as students see it: the question and large buttons for its answers; the right one once it is revealed.

The page is in no menu, and exists only where the owner allows rooms. It never gets the right answer before it is revealed.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from attention.runtime.threads import one_thread
from attention.ui import predict
from attention.ui.predict import Question
from attention.ui.rooms import CLASSROOMS, LENGTH, Asked, RoomError, Verdict, typed_code
from attention.ui.session import address_bar, page
from attention.ui.text import rooms as text
from attention.ui.views.room import browser_key

FIELD, REFUSED = "room code", "room refused"  # keys of the field, and of why the last answer was refused


def show() -> None:
    """Draws the page."""
    st.set_page_config(page_title=f"{text.TITLE} · Attention Lab", page_icon=page.ICON)
    one_thread()
    st.html(page.LOOKS)
    code = typed_code(address_bar.room_code())
    with st.container(key="room-answers"):
        try:
            if code:
                CLASSROOMS.look(code, browser_key())
        except RoomError as error:
            st.warning(str(error))
            code = ""
        if not code:
            _draw_entrance()
        else:
            pace = CLASSROOMS.pace()
            st.fragment(partial(_draw_question, code, pace), run_every=pace)()
        st.caption(text.ANONYMOUS)


def _draw_entrance() -> None:
    st.text_input(text.ENTER, key=FIELD, max_chars=2 * LENGTH, help=text.ENTER_HELP, on_change=_enter)
    st.button(text.ENTER_BUTTON, key="enter room", type="primary", on_click=_enter)


def _enter() -> None:
    address_bar.open_room(typed_code(page.widgets().get(FIELD) or ""))


def _draw_question(code: str, pace: float) -> None:
    """Draws the current question; the whole page again if the room was closed, or pages have to look less often."""
    try:
        sheet = CLASSROOMS.look(code, browser_key())
    except RoomError:
        st.rerun()
    if pace != CLASSROOMS.pace():
        st.rerun()
    if sheet.asked is None:
        st.markdown(text.SOON.format(code=code))
        return
    st.markdown(sheet.asked.text)
    if said := page.widgets().pop(REFUSED, ""):  # no toast: one that a fragment draws removes the styles of the page
        st.warning(said)
    if sheet.verdict is None:
        _draw_guesses(code, sheet.number, sheet.asked.guesses, sheet.mine)
        st.markdown(text.CHOOSE if sheet.mine is None else text.CHOSEN)
        st.caption(text.LOOK)
    else:
        st.markdown("\n".join(f"- {guess}" for guess in sheet.asked.guesses))
        _draw_verdict(sheet.asked, sheet.verdict, sheet.mine)


def _draw_guesses(code: str, question: int, guesses: tuple[str, ...], mine: int | None) -> None:
    """Draws a button for each answer; the chosen one differs in colour and icon."""
    for number, guess in enumerate(guesses):
        st.button(
            guess,
            key=f"answer {question} {number}",
            type="primary" if number == mine else "secondary",
            icon=":material/check:" if number == mine else ":material/radio_button_unchecked:",
            width="stretch",
            on_click=_answer,
            args=(code, question, number),
        )


def _answer(code: str, number: int, guess: int) -> None:
    try:
        CLASSROOMS.answer(code, browser_key(), number, guess)
    except RoomError as error:
        page.widgets()[REFUSED] = str(error)


def _draw_verdict(asked: Asked, verdict: Verdict, mine: int | None) -> None:
    """Draws which answer is right, and why."""
    right = tuple(asked.guesses[number] for number in verdict.right)
    question = Question(asked.text, asked.guesses, right[0] if right else "", verdict.why, right[1:])
    predict.show_verdict(question, None if mine is None else asked.guesses[mine])
