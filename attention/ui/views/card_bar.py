"""The bar of the card that a link has opened: what to look at, a question with its answer, and the cards before and after."""

from __future__ import annotations

from typing import Any

import streamlit as st

from attention.examples import Example
from attention.lessons.cards import Card, find_card
from attention.lessons.path import Check
from attention.settings import LESSON
from attention.ui import next_step, predict
from attention.ui.lesson_codec import Lesson, encode
from attention.ui.markdown import escape
from attention.ui.menu import page_title
from attention.ui.predict import Question
from attention.ui.session import page
from attention.ui.session.card_in_link import current_lesson
from attention.ui.session.visit_state import session
from attention.ui.text import cards as text
from attention.ui.text import lessons

READY, WAITING = "card-next", "card-next-waits"  # keys of the link to the next step: the right guess is chosen, or not
TENSORS = "tensors"  # what a knob is about if it changes numbers


def example_question(asked: Example | Check) -> Question:
    """A question of an example, or of the end of the path."""
    return Question(
        f"**{escape(asked.asks)}**", tuple(map(escape, asked.guesses)), escape(asked.answer), escape(asked.why)
    )


def question_key(card: Card) -> str:
    """The key of the question of a card, which a card of the path has in common with that of the gallery."""
    return f"card {card.example.title}"


def is_waiting() -> bool:
    """Whether the page shows a card whose answer is not revealed."""
    card = page.card()
    return card is not None and not is_revealed(card)


def is_revealed(card: Card) -> bool:
    """Whether the right guess is chosen for the question of a card, which reveals the answer."""
    return predict.is_right(example_question(card.example), predict.chosen_guess(question_key(card)))


def has_next() -> bool:
    """Whether the bar has a button to the next step of the path."""
    card = page.card()
    return bool(card and card.is_step and find_card(card.after))


def bar() -> page.Part:
    """The bar of a page, above its picture; absent if the link has no card of this page."""
    return page.Part("card", _draw, _look)


def _look(setting: Any) -> object:
    card = page.card()
    if lesson := current_lesson(session()):
        return lesson, session().page
    return (card.name, _is_changed(card, setting), predict.chosen_guess(question_key(card))) if card else None


def _is_changed(card: Card, setting: Any) -> bool:
    """Whether the tensors are others than those of the card; what is selected and how it is shown does not count."""
    opened, knobs = page.open_query(card.example.query), session().here.kind.settings.knobs
    return any(getattr(setting, name) != getattr(opened, name) for name, knob in knobs.items() if knob.about == TENSORS)


def _draw(setting: Any) -> None:
    card = page.card()
    if lesson := current_lesson(session()):
        _draw_lesson(lesson)
        return
    if card is None:
        return
    example, question = card.example, example_question(card.example)
    with st.container(border=True, key="card-bar"):
        st.markdown(f"**{escape(example.title)}** :gray[· {text.PLACE.format(number=card.number, count=card.count)}]")
        said, asked = st.columns(2)  # beside each other, to leave more room to the picture
        with said:
            st.markdown(escape(card.learns or example.says))
            if card.do:
                st.markdown(text.TRY.format(do=card.do))
            if _is_changed(card, setting):
                _draw_change(card)
        with asked:
            guess = predict.draw_question(question_key(card), question, on_guess=page.change)
        if guess is not None:
            predict.judge_guess(question, guess)
        _draw_links(card, predict.is_right(question, guess))


def _draw_change(card: Card) -> None:
    """Draws that the settings are no longer those of the card, and the way back."""
    usual = vars(page.open_query(card.example.query))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(text.CHANGED, width="content")
        st.button(text.RESTORE, on_click=page.change, kwargs=usual, key="restore card", type="tertiary")


def _draw_lesson(lesson: Lesson) -> None:
    """Draws the place of a step in its lesson, and the links to others; its question stands above the picture."""
    number, count, step = lesson.number, len(lesson.steps), lesson.step
    others = (
        (number - 1, lessons.PREVIOUS, ":material/arrow_back:"),
        (number + 1, lessons.NEXT, ":material/arrow_forward:"),
    )
    with (
        st.container(border=True, key="card-bar"),
        st.container(horizontal=True, vertical_alignment="center", key="lesson-head"),
    ):
        st.markdown(f"**{lessons.LESSON}** :gray[· {text.PLACE.format(number=number, count=count)}]", width="content")
        if step.page != session().page:
            label = lessons.HERE.format(page=page_title(step.page))
            next_step.page_link(step.page, label, {LESSON: encode(lesson.steps, number)}, ":material/school:")
        for other, label, icon in others:
            if 1 <= other <= count:
                next_step.page_link(lesson.steps[other - 1].page, label, {LESSON: encode(lesson.steps, other)}, icon)
        st.button("", icon=":material/close:", key="close lesson", help=lessons.CLOSE, on_click=_close, type="tertiary")


def _draw_links(card: Card, is_right: bool) -> None:
    """Draws the links to other cards; on the path, the next step is the button to press after the right guess."""
    every = {"about": "learn" if card.is_step else "all"}
    before, after = find_card(card.before), find_card(card.after)
    with st.container(horizontal=True, vertical_alignment="center", key="card-links"):
        next_step.page_link("examples", text.STEPS if card.is_step else text.ALL, every, ":material/apps:")
        if before:
            next_step.page_link(before.example.page, text.PREVIOUS, before.query, ":material/arrow_back:")
        with st.container(key=(READY if is_right else WAITING) if card.is_step else None, width="content"):
            if after:
                label = text.NEXT_STEP if card.is_step else text.NEXT
                next_step.page_link(after.example.page, label, after.query, ":material/arrow_forward:")
            elif card.is_step:
                next_step.page_link("examples", text.END, {"about": "questions"}, ":material/arrow_forward:")
        st.button("", icon=":material/close:", key="close card", help=text.CLOSE, on_click=_close, type="tertiary")


def _close() -> None:
    page.visit_state().card = page.visit_state().lesson = ""
    page.change()
