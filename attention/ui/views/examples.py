"""Examples: the path of twelve steps, all pictures with their links, and the questions at the end of the path."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

import streamlit as st

from attention.examples import LEVELS, Tour
from attention.lessons.cards import Card, find_card, gallery, path
from attention.lessons.path import CHECKS
from attention.recorded.file import RecordingError
from attention.ui import next_step, predict, results
from attention.ui.heading import draw_heading, draw_section, reserve_heading
from attention.ui.markdown import escape
from attention.ui.menu import page_title
from attention.ui.session import page, present
from attention.ui.text import cards
from attention.ui.text import examples as text
from attention.ui.views import card_bar

IN_A_ROW = 3
# The text next to it says what it shows, so screen readers skip it; `st.image` can't set an empty `alt`.
PICTURE = (
    '<img class="thumbnail" alt="" width="80" height="80" style="display: block" src="data:image/png;base64,{image}">'
)


def view(tour: Tour) -> None:
    """Draws the path, its questions, or a card for each example of a page, or of all pages."""
    SECTIONS.get(tour.about, _draw_gallery)(tour)


def _draw_sections(tour: Tour) -> None:
    """Draws a button per section of the page: the same choice as in the sidebar."""
    chosen = tour.about if tour.about in SECTIONS else "all"
    with st.container(horizontal=True, gap="small", key="sections"):
        for name, (label, icon) in text.SECTIONS.items():
            st.button(
                label.format(count=len(gallery())),
                key=f"section {name}",
                icon=icon,
                type="primary" if name == chosen else "secondary",
                on_click=page.change,
                kwargs={"about": name},
            )


def _draw_gallery(tour: Tour) -> None:
    """Draws the cards of a page, or of all pages, by difficulty."""
    shown = {name: card for name, card in gallery().items() if tour.about in ("all", card.example.page)}
    draw_heading("examples", _finding(shown), help=text.HELP)
    if present.is_embedded():
        return
    _draw_sections(tour)
    _draw_filter(tour)
    _begin_pictures(shown)
    for level in LEVELS:
        _draw_level(level, [card for card in shown.values() if card.example.level == level])


def _finding(shown: Mapping[str, Card]) -> str:
    """How many examples are shown, and how many of them are steps of the path as well."""
    if len(shown) == 1:
        return text.FINDING_ONE
    titles = {step.example.title for step in path().values()}
    steps = sum(card.example.title in titles for card in shown.values())
    return text.FINDING.format(count=len(shown), also=text.ALSO.format(steps=steps) if steps else "")


def _draw_filter(tour: Tour) -> None:
    """Draws a button per page that has examples, which shows those alone."""
    with st.container(horizontal=True, gap="small"):
        for name in ("all", *dict.fromkeys(card.example.page for card in gallery().values())):
            st.button(
                text.ALL if name == "all" else page_title(name),
                key=f"only {name}",
                type="primary" if name == tour.about else "secondary",
                on_click=page.change,
                kwargs={"about": name},
            )


def _draw_level(level: str, shown: list[Card]) -> None:
    if not shown:
        return
    draw_section(level)
    with st.container(key=f"path-steps {level}"):
        _draw_rows(shown, _draw_card)


def _begin_pictures(names: Iterable[str]) -> None:
    for name in names:
        with suppress(RecordingError):
            results.examples.picture.begin(name)


def _draw_rows(cards: list[Card], draw: Callable[[Card], None]) -> None:
    """Draws cards in rows, each with its thumbnail at its left."""
    for first in range(0, len(cards), IN_A_ROW):
        for column, card in zip(st.columns(IN_A_ROW), cards[first : first + IN_A_ROW], strict=False):
            with (
                column.container(border=True, height="stretch"),
                st.container(horizontal=True, wrap=False, vertical_alignment="top"),
            ):
                with suppress(RecordingError):  # a card whose recording is damaged has no picture
                    image = b64encode(results.examples.picture(card.name)).decode()
                    st.html(PICTURE.format(image=image), width="content")
                with st.container(gap=None):
                    draw(card)


def _draw_card(card: Card) -> None:
    """Draws an example as a link, what one sees in it, its page, and what one needs to know first."""
    example = card.example
    next_step.page_link(example.page, escape(example.title), card.query)
    st.caption(escape(card.finding))
    needs = text.NEEDS.format(needs=escape(example.needs)) if example.needs else ""
    st.caption(text.PLACE.format(page=page_title(example.page), needs=needs))


def _draw_path(tour: Tour) -> None:
    """Draws the steps of the path in order, and where to begin or to continue."""
    steps, last = path(), page.visit_state().step
    draw_heading("examples", cards.PATH_SAYS, help=text.HELP)
    if present.is_embedded():
        return
    _draw_sections(tour)
    _begin_pictures(steps)
    here = steps.get(last) or next(iter(steps.values()))
    label = (cards.CONTINUE if last else cards.BEGIN).format(number=here.number)
    with st.container(key="begin", horizontal=True, vertical_alignment="center"):
        next_step.page_link(here.example.page, label, here.query, ":material/play_arrow:")
        _draw_progress(len(steps.keys() & {last, *page.visit_state().opened_steps}), len(steps))
    with st.container(key="path-steps"):
        _draw_rows([*steps.values()], _draw_step)


def _draw_progress(opened: int, count: int) -> None:
    """Draws how many steps of the path were opened; before the first one, what a step has."""
    if opened:
        st.progress(opened / count, cards.OPENED.format(opened=opened, count=count), width=260)
    else:
        st.caption(cards.PATH_HAS, width="content")


def _draw_step(card: Card) -> None:
    """Draws a step of the path as a link, and what one learns there."""
    title = escape(card.example.title)
    next_step.page_link(card.example.page, cards.STEP.format(number=card.number, title=title), card.query)
    st.caption(escape(card.learns))
    visit = page.visit_state()
    if card.name == visit.step or card.name in visit.opened_steps:
        st.markdown(cards.HERE if card.name == visit.step else cards.VISITED)


def _draw_checks(tour: Tour) -> None:
    """Draws the questions at the end of the path."""
    with reserve_heading():
        heading = st.container()
    _draw_sections(tour)
    right = 0
    for number, check in enumerate(CHECKS, 1):
        with st.container(border=True):
            key = f"check {number}"
            question = card_bar.example_question(check)
            guess = predict.draw_question(key, question, lines=True)
            right += predict.is_right(question, guess)
            if guess is None:
                continue
            predict.judge_guess(question, guess)
            if not predict.is_right(question, guess):
                continue
            if card := find_card(check.card):
                label = cards.SEE.format(title=escape(card.example.title))
                next_step.page_link(card.example.page, label, card.query, ":material/arrow_forward:")
    with heading:
        draw_heading("examples", cards.CHECKS_SAY.format(right=right, count=len(CHECKS)))


SECTIONS: dict[str, Callable[[Tour], None]] = {"learn": _draw_path, "questions": _draw_checks}
