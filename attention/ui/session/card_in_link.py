"""The card of a link: an example whose sentence and question the page shows above the picture.

It is an entry of every kind of link, and of no settings. A page that the card is not about keeps it, without showing it.
"""

from __future__ import annotations

from typing import Any

from attention.lessons.cards import Card, find_card, path
from attention.settings import CARD, EDITION, short
from attention.ui.controls.kind import Kind
from attention.ui.session.visit_state import Session


def take_up(state: Session, query: dict[str, str]) -> list[str]:
    """Takes up the card that a link names, or that it has none; returns a message if there is no such card."""
    if not query:
        return []
    name = query.get(CARD, "")
    state.kept.card = name if find_card(name) else ""
    if name in path():
        state.kept.step = name
    return [] if state.kept.card == name else [f"{CARD}={short(name)} is not a card of the examples; it was ignored."]


def settings_of(query: dict[str, str]) -> dict[str, str]:
    """The entries of a link without its card; those of the card's picture if the link has no others."""
    own = {name: value for name, value in query.items() if name != CARD}
    card = find_card(query.get(CARD, ""))
    return own or (card.example.query if card else {})


def current_card(state: Session) -> Card | None:
    """The card that the current page shows."""
    card = find_card(state.kept.card)
    return card if card and card.example.page == state.page else None


def append(state: Session, kind: Kind[Any]) -> dict[str, str]:
    """What the link of a page carries for the card, and the edition of its settings, without which it would be the first."""
    editions = len(kind.settings.editions)
    return {CARD: state.kept.card} | ({EDITION: str(editions)} if editions > 1 else {}) if current_card(state) else {}
