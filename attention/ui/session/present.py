"""Pages reduced to one picture: the presentation of the selected head, which fills the screen, and embedded pages."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from html import escape
from typing import Any, NamedTuple

import streamlit as st

from attention.components.present import present_keys
from attention.config import Config
from attention.serving.previews import START
from attention.ui import preview, results
from attention.ui.markdown import escape as escape_markdown
from attention.ui.question_codec import decode
from attention.ui.session import address_bar, share
from attention.ui.session.card_in_link import current_card
from attention.ui.session.part import Part
from attention.ui.session.role_note import role_note
from attention.ui.session.visit_state import session, widgets
from attention.ui.text import sharing as text

PRESENTED = "present"  # the value of the knob `view`
MARK = '<span class="one-picture {}"></span>'  # the style sheet of pages hides menu and controls beside it


def is_embedded() -> bool:
    """Whether the page is shown in a frame of another page, by `?embed=true`."""
    return bool(st.context.is_embedded)


def is_presented(setting: Any) -> bool:
    """Whether the selected head fills the screen; a built-in question is asked on its page, as the picture would answer it."""
    if not isinstance(setting, Config) or setting.view != PRESENTED or session().page not in preview.KINDS:
        return False
    return bool(setting.ask) or setting.predict == "none"


def shows_one_picture(setting: Any) -> bool:
    """Whether only the picture of the page is shown, without controls and other parts."""
    return is_embedded() or is_presented(setting)


def embedded_mark() -> str:
    """The mark of an embedded page."""
    return MARK.format("embedded") if is_embedded() else ""


def draw_mark(setting: Any) -> None:
    """Hides menu and controls behind a presentation."""
    if is_presented(setting):
        st.html(MARK.format("presented"))


def beside_picture(parts: Iterable[Part]) -> list[Part]:
    """The parts beside a view, which are not shown if the page shows one picture alone."""
    return [replace(part, look=partial(_look_beside_picture, part)) for part in parts]


def _look_beside_picture(part: Part, setting: Any) -> object:
    is_hidden = is_embedded() or (is_presented(setting) and not part.presented)
    return None if is_hidden else part.look(setting)


def draw(view: Callable[[Any], None], setting: Any, change: Callable[..., None]) -> None:
    """Draws the view, or the presentation of its head."""
    if is_presented(setting):
        _draw_presentation(setting, change)
    else:
        view(setting)


class Asked(NamedTuple):
    """A question beside a presented head: its name, text, guesses, answer and reason, and whether it hides the picture."""

    name: str
    text: str
    guesses: tuple[str, ...]
    answer: str
    why: str
    hides: bool = False


def presented_question(config: Config) -> Asked | None:
    """The question of the link, or of its card; None if there is none."""
    if config.ask:
        asked = decode(config.ask)
        return Asked(config.ask, asked.text, asked.options, asked.right or "", asked.why, asked.hides)
    if card := current_card(session()):
        example = card.example
        return Asked(card.name, example.asks, example.guesses, example.answer, example.why)
    return None


def _draw_presentation(config: Config, change: Callable[..., None]) -> None:
    """Draws the selected head over the whole screen, with buttons for those who have no keys."""
    theme = "dark" if st.context.theme.type == "dark" else "light"
    asked = presented_question(config)
    shown = asked is not None and session().kept.presented == asked.name
    title = escape(preview.head_title(config))
    if asked and asked.hides and not shown:
        st.html(f'<div class="presentation {theme}"></div>')
    else:
        head = share.draw_head(config.truncated, theme, bare=asked is not None, said=() if asked else _role(config))
        svg = b64encode(head.encode()).decode()
        place = " beside-question" if asked else ""
        st.html(f'<img class="presentation {theme}{place}" src="data:image/svg+xml;base64,{svg}" alt="{title}">')
    if asked:
        _draw_question(asked, shown)
    with st.container(horizontal=True, key="presenter"):
        if asked:
            st.button(text.HIDE if shown else text.REVEAL, key="present reveal", on_click=reveal_answer)
        for label, by in (("←", -1), ("→", 1)):
            other = _other_head(config, by)
            off = other == config.head
            st.button(label, key=f"present {by}", on_click=change, kwargs={"head": other}, disabled=off)
        st.button(text.LEAVE, key="present leave", on_click=change, kwargs={"view": "page"})
    present_keys(lambda: move_head(change), reveal_answer, lambda: change(view="page"))


def _role(config: Config) -> tuple[str, ...]:
    """What the presented head does, in a sentence; nothing if it has no role, or if only a part of its tokens is shown."""
    role = results.heads.roles(config)[config.head] if config == config.truncated else None
    note = role_note(config, role)
    return (f"{role.says[:1].upper()}{role.says[1:]}", *([note] if note else [])) if role else ()


def _draw_question(asked: Asked, shown: bool) -> None:
    """Draws a question beside the head, with its answer once it is `shown`."""
    with st.container(key="presented-question-alone" if asked.hides and not shown else "presented-question"):
        st.markdown(f"**{escape_markdown(asked.text)}**")
        for letter, guess in zip("ABCDEF", asked.guesses, strict=False):
            right = shown and guess == asked.answer
            said = text.GUESS.format(letter=letter, guess=escape_markdown(guess))
            st.markdown(text.RIGHT_GUESS.format(guess=said) if right else said)
        if shown and (asked.why or not asked.answer):
            st.markdown(escape_markdown(asked.why) or text.OPEN_QUESTION)


def is_revealed(config: Config) -> bool:
    """Whether the answer beside the presented head is revealed."""
    asked = presented_question(config)
    return asked is not None and session().kept.presented == asked.name


def reveal_answer() -> None:
    """Reveals the answer beside the head, or hides it again. What is revealed here stays hidden on the page."""
    kept, asked = session().kept, presented_question(session().here.setting)
    kept.presented = "" if asked is None or kept.presented == asked.name else asked.name


def draw_way_out() -> None:
    """Draws the link from an embedded page to the whole one."""
    if not is_embedded():
        return
    page, query, setting = session().page, address_bar.link_query(), session().here.setting
    with st.container(horizontal=True, vertical_alignment="center", key="open-in-lab"):
        there = f"./{page if page != START else ''}{'?' * bool(query)}{query}"
        st.markdown(f"[{text.OPEN_IN_LAB}]({there})", width="content")
        if page in preview.KINDS and not preview.question_of(setting):
            st.caption(escape_markdown(" · ".join(preview.origin_lines(setting))), width="stretch")


def move_head(change: Callable[..., None]) -> None:
    """An arrow key was pressed; the browser may send anything."""
    said = widgets().get("present")
    moved = said.get("move") if isinstance(said, Mapping) else None
    by = moved.get("by") if isinstance(moved, Mapping) else None
    if by in (-1, 1):
        change(head=_other_head(session().here.setting, by))


def _other_head(config: Config, by: int) -> int:
    return max(0, min(config.heads - 1, config.head + by))
