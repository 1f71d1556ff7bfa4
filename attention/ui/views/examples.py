"""Examples: pictures of what attention does, with their links; and the path of twelve."""

from __future__ import annotations

import html
from base64 import b64encode
from collections.abc import Callable

import streamlit as st

from attention.examples import LEVELS, Tour
from attention.lessons.cards import Card, gallery, path
from attention.lessons.path import CHECKS
from attention.ui import next_step, predict, results
from attention.ui.heading import draw_heading, reserve_heading
from attention.ui.markdown import escape
from attention.ui.menu import page_title
from attention.ui.session import page, present
from attention.ui.text import cards
from attention.ui.text import examples as text
from attention.ui.views import card_bar

IN_A_ROW = 2
# The text next to it says what it shows, so screen readers skip it; `st.image` can't set an empty `alt`.
PICTURE = '<img class="thumbnail" alt="" width="96" height="96" style="display: block" src="data:image/png;base64,{}">'
FOLD = '<details class="card-question"><summary>{label}</summary>{said}</details>'


def view(tour: Tour) -> None:
    """Draws the path, its questions, or a card for each example of a page, or of all pages."""
    if tour.about in SECTIONS:
        SECTIONS[tour.about]()
        return
    shown = {name: card for name, card in gallery().items() if tour.about in ("all", card.example.page)}
    draw_heading("examples", text.FINDING.format(count=len(shown)), help=text.HELP)
    if present.is_embedded():
        return
    if tour.about == "all":
        next_step.page_link("examples", f"**{cards.TO_PATH}**", {"about": "learn"}, ":material/school:")
    _draw_filter(tour)
    for name in shown:
        results.examples.picture.begin(name)
    for level in LEVELS:
        _draw_level(level, [card for card in shown.values() if card.example.level == level])


def _draw_filter(tour: Tour) -> None:
    """Draws a button per page that has examples, which shows those alone: the same choice as in the sidebar."""
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
    st.markdown(f"#### {level}")
    for first in range(0, len(shown), IN_A_ROW):
        for column, card in zip(st.columns(IN_A_ROW), shown[first : first + IN_A_ROW], strict=False):
            with column.container(border=True, height="stretch"):
                _draw_card(card)


def _draw_card(card: Card) -> None:
    example = card.example
    with st.container(horizontal=True, wrap=False, vertical_alignment="top"):
        st.html(PICTURE.format(b64encode(results.examples.picture(card.name)).decode()), width="content")
        with st.container(gap=None):
            st.markdown(f"**{escape(example.title)}**")
            st.caption(escape(example.says))
            with st.container(horizontal=True, vertical_alignment="top", gap="small"):
                label = text.OPEN.format(page=page_title(example.page))
                next_step.page_link(example.page, label, card.query, ":material/arrow_forward:")
                needs = [cards.NEEDS.format(needs=example.needs)] if example.needs else []
                said = "".join(f"<p>{html.escape(each)}</p>" for each in (example.asks, *needs))
                st.html(FOLD.format(label=text.QUESTION, said=said))


def _draw_path() -> None:
    """Draws the steps of the path in order, and where to begin or to continue."""
    steps, last = path(), page.visit_state().step
    draw_heading("examples", cards.PATH_SAYS, title=cards.PATH)
    here = steps.get(last) or next(iter(steps.values()))
    label = cards.CONTINUE.format(number=here.number) if last else cards.BEGIN
    next_step.page_link(here.example.page, f"**{label}**", here.query, ":material/play_arrow:")
    for card in steps.values():
        title, where = escape(card.example.title), page_title(card.example.page)
        label = cards.STEP.format(number=card.number, title=title, page=where)
        next_step.page_link(card.example.page, label, card.query)
    next_step.page_link("examples", cards.END, {"about": "questions"}, ":material/quiz:")


def _draw_checks() -> None:
    """Draws the questions at the end of the path."""
    with reserve_heading():
        heading = st.container()
    right = 0
    for number, check in enumerate(CHECKS, 1):
        with st.container(border=True):
            right += predict.draw_question(f"check {number}", card_bar.example_question(check))
    with heading:
        draw_heading("examples", cards.CHECKS_SAY.format(right=right, count=len(CHECKS)), title=cards.END)
    next_step.page_link("examples", cards.AGAIN, {"about": "learn"}, ":material/school:")


SECTIONS: dict[str, Callable[[], None]] = {"learn": _draw_path, "questions": _draw_checks}
