"""A room, as its teacher sees it: its code, its link as a QR code, and bars that grow as students answer.

The room asks what the page asks: a question of the link or of a lesson, the question of a card, or a ready-made one whose text is
enough. The room learns the right answer when it is revealed on the page. An owner allows rooms by ATTENTION_CLASS.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from attention.config import Config
from attention.serving.settings import settings
from attention.streamlit_internals import browser_token
from attention.ui import predict, results
from attention.ui.predict import Question
from attention.ui.question_codec import decode
from attention.ui.rooms import CLASSROOMS, Asked, RoomError, Verdict
from attention.ui.session import page, present
from attention.ui.session.share import qr_code
from attention.ui.text import rooms as text
from attention.ui.views import card_bar, mask_question, own_question, questions, row_question

EVERY = 1.0  # seconds between two counts of the answers
READY_MADE: dict[str, Callable[[Config], Question]] = {
    "mask": mask_question.question,
    "row": lambda config: row_question.question(results.heads.trace(config.truncated)),
}


@dataclass(frozen=True)
class Shown:
    """A question that the page shows, and whether its answer is revealed."""

    question: Question
    is_revealed: bool

    @property
    def without_answer(self) -> Asked:
        """The question without its answer."""
        return Asked(self.question.text, self.question.guesses)

    @property
    def verdict(self) -> Verdict:
        """The right answers, and why."""
        known = self.question
        right = tuple(at for at, guess in enumerate(known.guesses) if known.answer and predict.is_right(known, guess))
        return Verdict(right, known.why)


def is_allowed() -> bool:
    """Whether the owner of this server allows rooms."""
    return settings().class_


def browser_key() -> str:
    """The secret by which a browser's rooms and answers are its own: its cookie, or the session if it has none."""
    return browser_token(st.context.cookies) or page.visitor()


def part() -> page.Part:
    """The room of a page, above its picture; absent unless the owner allows rooms."""
    return page.Part("room", _draw, _look, presented=True)


def _look(setting: Any) -> object:
    if not is_allowed():
        return None
    code, shown = CLASSROOMS.code_of(browser_key()), _find_question(setting)
    return (code, shown, present.is_presented(setting)) if code or shown else None


def _draw(setting: Any) -> None:
    shown = _find_question(setting)
    if not CLASSROOMS.code_of(browser_key()):
        if not present.is_presented(setting):
            st.button(text.OFFER, key="open room", icon=":material/groups:", help=text.OFFER_HELP, on_click=_open)
        return
    try:
        _follow(shown)
    except RoomError as error:
        st.warning(str(error))
    if present.is_presented(setting):
        st.fragment(_draw_line, run_every=EVERY)()
        return
    with st.container(border=True, key="room"):
        _draw_room(shown is not None)


def _follow(shown: Shown | None) -> None:
    """Asks in the room what the page asks, and tells it the answer once the page does."""
    if shown:
        CLASSROOMS.ask(browser_key(), shown.without_answer)
        if shown.is_revealed:
            CLASSROOMS.reveal(browser_key(), shown.without_answer, shown.verdict)


def _draw_room(asks: bool) -> None:
    code = CLASSROOMS.code_of(browser_key())
    link = f"{_folder()}/room?code={code}"
    way, answers = st.columns([1, 2], gap="medium")
    with way:
        st.subheader(text.CODE.format(code=code), anchor=False)
        st.html(qr_code(link, text.QR_CODE_ALT))
        st.caption(text.JOIN.format(link=_short(link)))
        with st.container(horizontal=True):
            if st.button(text.ENLARGE, key="enlarge room"):
                _enlarge(code, link)
            st.button(text.CLOSE, key="close room", help=text.CLOSE_HELP, on_click=_close)
    with answers:
        st.fragment(_draw_tally, run_every=EVERY)()
        st.caption(text.HOW if asks else text.NOT_ASKED)


def _draw_tally() -> None:
    try:
        found = CLASSROOMS.tally(browser_key())
    except RoomError:
        st.info(text.CLOSED)
        return
    if found.asked is None:
        st.caption(text.WAITING)
        return
    answered = sum(found.counts)
    with st.container(key="room-bars"):
        st.markdown(found.asked.text)
        for number, (guess, count) in enumerate(zip(found.asked.guesses, found.counts, strict=True)):
            is_right = found.verdict is not None and number in found.verdict.right
            said = (text.RIGHT_BAR if is_right else text.BAR).format(guess=guess, count=count)
            st.progress(count / max(1, answered), said)
        st.markdown(text.JOINED.format(count=answered, students=found.students))


def _draw_line() -> None:
    """Draws the room over a presentation, whose question names its answers by letters."""
    with st.container(key="room-line"):
        try:
            code, found = CLASSROOMS.code_of(browser_key()), CLASSROOMS.tally(browser_key())
        except RoomError:
            st.markdown(text.CLOSED)
            return
        letters = "\u2003".join(
            f"{letter} **{count}**" for letter, count in zip("ABCDEFGHIJ", found.counts, strict=False)
        )
        joined = text.JOINED.format(count=sum(found.counts), students=found.students)
        st.markdown("\u2003".join(filter(None, (text.CODE.format(code=code), letters, joined))))


@st.dialog(text.TITLE, width="large")
def _enlarge(code: str, link: str) -> None:
    with st.container(key="room-code"):
        st.title(code, anchor=False)
        st.html(qr_code(link, text.QR_CODE_ALT))
        st.markdown(text.JOIN.format(link=_short(link)))


def _open() -> None:
    try:
        CLASSROOMS.open(browser_key())
    except RoomError as error:
        page.note([str(error)])
    page.change()


def _close() -> None:
    CLASSROOMS.close(browser_key())
    page.change()


def _folder() -> str:
    """The address of the folder that the pages are in."""
    return (st.context.url or "").partition("?")[0].rpartition("/")[0]


def _short(link: str) -> str:
    """A link as people type it, in code, so that it is not one."""
    return f"`{link.partition('://')[2] or link}`"


def _find_question(setting: Any) -> Shown | None:
    """The question with answers that the page shows; None if there is none, or if it needs its picture beside it."""
    question, is_revealed = None, False
    if getattr(setting, "ask", ""):
        question, is_revealed = own_question.question(decode(setting.ask)), predict.is_revealed(setting)
    elif card := page.card():
        question = card_bar.example_question(card.example)
        is_revealed = card_bar.is_revealed(card)
    elif isinstance(setting, Config) and (ready := READY_MADE.get(questions.ours(setting))):
        question, is_revealed = ready(setting), predict.is_revealed(setting)
    if present.is_presented(setting):
        is_revealed = present.is_revealed(setting)
    return Shown(question, is_revealed) if question and question.guesses else None
