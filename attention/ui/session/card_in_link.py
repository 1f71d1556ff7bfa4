"""What a link may have besides settings: the card that its page shows above the picture, or a step of a lesson.

Both are entries of every kind of link, and of no settings. A page that the card is not about keeps it, without showing it.
"""

from __future__ import annotations

from typing import Any

from attention.lessons.cards import Card, find_card, path
from attention.settings import CARD, LESSON, ConfigError
from attention.summary import short
from attention.ui import lesson_codec
from attention.ui.controls.kind import Kind
from attention.ui.lesson_codec import Lesson
from attention.ui.session.visit_state import Session


def take_up(state: Session, query: dict[str, str]) -> list[str]:
    """Takes up the card and the lesson of a link, or that it has none; returns a message for each that does not exist."""
    if not query:
        return []
    entry, notes = query.get(LESSON, ""), []
    try:
        state.kept.lesson = entry if entry and lesson_codec.decode(entry) else ""
    except ConfigError as error:
        state.kept.lesson, notes = "", [str(error)]
    name = query.get(CARD, "")
    state.kept.card = name if find_card(name) else ""
    if name in path():
        state.kept.step = name
        state.kept.opened_steps.add(name)
    unknown = f"{CARD}={short(name)} is not a card of the examples; it was ignored."
    return notes if state.kept.card == name else [*notes, unknown]


def settings_of(state: Session, query: dict[str, str]) -> dict[str, str]:
    """The entries of a link without its card and lesson; those of their picture if the link has no others."""
    own = {name: value for name, value in query.items() if name not in (CARD, LESSON)}
    card, lesson = find_card(query.get(CARD, "")), current_lesson(state)
    if lesson and LESSON in query and lesson.step.page == state.page:
        return own or lesson.step.query
    return own or (card.example.query if card else {})


def current_lesson(state: Session) -> Lesson | None:
    """The lesson of the link, at its step."""
    return lesson_codec.decode(state.kept.lesson) if state.kept.lesson else None


def current_card(state: Session) -> Card | None:
    """The card that the current page shows."""
    card = find_card(state.kept.card)
    return card if card and card.example.page == state.page else None


def append(state: Session, kind: Kind[Any]) -> dict[str, str]:
    """What a link carries for card and lesson, and the edition of its settings, without which it would be the first."""
    lesson = current_lesson(state)
    carried = {CARD: state.kept.card} if current_card(state) else {}
    carried |= {LESSON: state.kept.lesson} if lesson and lesson.step.page == state.page else {}
    return carried | (kind.settings.newest if carried and len(kind.settings.editions) > 1 else {})


def shorten(state: Session, kind: Kind[Any], shown: dict[str, str], setting: Any) -> dict[str, str]:
    """The link of what is shown: the lesson alone if its step opens the same."""
    lesson = current_lesson(state) if LESSON in shown else None
    same = lesson is not None and kind.open(lesson.step.query)[0] == setting
    return {LESSON: shown[LESSON]} if same else shown
