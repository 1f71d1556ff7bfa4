"""The form of a question, and the question as students see it.

The draft is kept while settings and pages change, until it is edited; it is in no link before it is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape as escape_html
from typing import Any

import streamlit as st

from attention.serving.previews import picture_address
from attention.settings import ConfigError
from attention.ui import predict, preview
from attention.ui.predict import Question
from attention.ui.question_codec import NO_RIGHT, OPTIONS, QUESTION, WHY, Draft, encode
from attention.ui.session import page
from attention.ui.text import cards
from attention.ui.text import lessons as text
from attention.ui.views import own_question

TYPED = 5000  # characters of a field that are kept: too long a text can still be shortened, as a message asks


def draw() -> None:
    """Draws the fields, each with what was written before, as Streamlit forgets widgets that are not drawn."""
    fill(draft())
    most = f"{QUESTION}"
    st.text_area(text.QUESTION, key=_key("text"), height=68, help=text.QUESTION_HELP.format(most=most))
    st.caption(text.ANSWERS)
    with st.container(horizontal=True, key="answer-rows"):
        rows = [*range(OPTIONS), NO_RIGHT]
        st.radio(
            text.RIGHT,
            rows,
            format_func=_answer_label,
            key=_key("right"),
            label_visibility="collapsed",
            width="content",
        )
        with st.container(key="answer-fields", width="stretch"):
            for at in range(OPTIONS):
                st.text_input(_answer_label(at), key=_key(f"answer {at}"), label_visibility="collapsed")
    st.text_area(text.WHY, key=_key("why"), height=68, help=text.WHY_HELP.format(most=WHY))
    st.toggle(text.HIDES, key=_key("hides"), help=text.HIDES_HELP)
    page.visit_state().draft = draft()


def draw_as_seen(
    place: tuple[int, int] | None, shown: tuple[str, str], hides: bool = False, open_question: Question | None = None
) -> None:
    """Draws the draft as students see it, before and after the answer is revealed; without one, the page with its question.

    `place`: its number and the number of steps, if it is a step of a lesson; `shown`: the page and the query of its picture.
    `hides`: whether a question hides the page behind the form, and `open_question`: which one, if it can be drawn here.
    """
    is_open = hides and not draft().is_started
    try:
        asked = own_question.question(draft().to_question())
    except ConfigError:
        asked = open_question if is_open else None
    st.caption(text.SEEN)
    with st.container(border=True, key="as-seen"):
        if place:
            where = cards.PLACE.format(number=place[0], count=place[1])
            st.markdown(f"**{text.LESSON}** :gray[· {where}]")
        if asked:
            st.markdown(f"**{text.QUESTION}.** {asked.text}")
            if asked.guesses:
                st.radio(text.GUESS, asked.guesses, index=None, disabled=True, key=_key("seen"))
        if draft().hides or is_open:
            st.caption(text.SEEN_HIDDEN)
        else:
            draw_picture(*shown)
        if asked and not is_open:
            st.caption(text.REVEALED)
            predict.show_verdict(asked, None)


def draw_picture(name: str, query: str) -> None:
    """Draws the small picture of a page, as a chat shows its link."""
    source, alt = escape_html(picture_address(".", name, query)), escape_html(preview.describe(name, query).title)
    st.html(
        f'<span class="link-preview"><img src="{source}" alt="{alt}" width="1200" height="630" loading="lazy"></span>'
    )


def fill(new: Draft) -> None:
    """Sets the fields to a draft, except those that match: a value that is set replaces what is being typed there."""
    for name, value in _values(new).items():
        if page.widgets().get(_key(name)) != value:
            page.widgets()[_key(name)] = value


def replace(new: Draft) -> None:
    """Makes another draft that of the form."""
    page.visit_state().draft = new
    fill(new)


def draft() -> Draft:
    """The current draft: from the fields, or as of when they were last drawn."""
    written, kept = page.widgets(), _values(page.visit_state().draft)
    now = {name: _cut(written[_key(name)]) if _key(name) in written else value for name, value in kept.items()}
    answers = tuple(now.pop(f"answer {at}") for at in range(OPTIONS))
    return Draft(answers=answers, **now)


def pack(new: Draft) -> tuple[str, str]:
    """A draft encoded for a link, "" if it is not a valid question yet, and what is wrong with it."""
    if not new.is_started:
        return "", ""
    try:
        return encode(new.to_question()), ""
    except ConfigError as error:
        return "", str(error)


def _values(of: Draft) -> Mapping[str, Any]:
    """What the fields contain, by their names."""
    answers = {f"answer {at}": answer for at, answer in enumerate(of.answers)}
    return answers | {name: value for name, value in vars(of).items() if name != "answers"}


def _cut(value: Any) -> Any:
    """The first `TYPED` characters of a text. Streamlit would show a limit of its own as if it were the question's."""
    return value[:TYPED] if isinstance(value, str) else value


def _answer_label(at: int) -> str:
    return text.NONE if at == NO_RIGHT else text.ANSWER.format(number=at + 1)


def _key(name: str) -> str:
    return f"class {name}"
