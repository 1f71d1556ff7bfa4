"""Pages reduced to one picture: the presentation of the selected head, which fills the screen, and embedded pages."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from html import escape
from typing import Any

import streamlit as st

from attention.components.present import present_keys
from attention.config import Config
from attention.ui import preview
from attention.ui.session import address_bar, share
from attention.ui.session.part import Part
from attention.ui.session.visit_state import session, widgets
from attention.ui.text import sharing as text

PRESENTED = "present"  # the value of the knob `view`
MARK = '<span class="one-picture {}"></span>'  # the style sheet of pages hides menu and controls beside it


def is_embedded() -> bool:
    """Whether the page is shown in a frame of another page, by `?embed=true`."""
    return bool(st.context.is_embedded)


def is_presented(setting: Any) -> bool:
    """Whether the selected head fills the screen; a question is asked on its page."""
    if not isinstance(setting, Config) or setting.view != PRESENTED or session().page not in preview.KINDS:
        return False
    return not preview.question_of(setting)


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
    return [replace(part, look=partial(_look_beside_picture, part.look)) for part in parts]


def _look_beside_picture(look: Callable[[Any], object], setting: Any) -> object:
    return None if shows_one_picture(setting) else look(setting)


def draw(view: Callable[[Any], None], setting: Any, change: Callable[..., None]) -> None:
    """Draws the view, or the presentation of its head."""
    if is_presented(setting):
        _draw_presentation(setting, change)
    else:
        view(setting)


def _draw_presentation(config: Config, change: Callable[..., None]) -> None:
    """Draws the selected head over the whole screen, with buttons for those who have no keys."""
    theme = "dark" if st.context.theme.type == "dark" else "light"
    svg = b64encode(share.draw_head(config.truncated, theme).encode()).decode()
    title = escape(preview.head_title(config))
    st.html(f'<img class="presentation {theme}" src="data:image/svg+xml;base64,{svg}" alt="{title}">')
    with st.container(horizontal=True, key="presenter"):
        for label, by in (("←", -1), ("→", 1)):
            other = _other_head(config, by)
            off = other == config.head
            st.button(label, key=f"present {by}", on_click=change, kwargs={"head": other}, disabled=off)
        st.button(text.LEAVE, key="present leave", on_click=change, kwargs={"view": "page"})
    present_keys(lambda: move_head(change), lambda: change(view="page"))


def draw_way_out() -> None:
    """Draws the link from an embedded page to the whole one."""
    if not is_embedded():
        return
    page, query = session().page, address_bar.link_query()
    with st.container(key="open-in-lab"):
        st.markdown(f"[{text.OPEN_IN_LAB}](./{page}{'?' * bool(query)}{query})")


def move_head(change: Callable[..., None]) -> None:
    """An arrow key was pressed; the browser may send anything."""
    said = widgets().get("present")
    moved = said.get("move") if isinstance(said, Mapping) else None
    by = moved.get("by") if isinstance(moved, Mapping) else None
    if by in (-1, 1):
        change(head=_other_head(session().here.setting, by))


def _other_head(config: Config, by: int) -> int:
    return max(0, min(config.heads - 1, config.head + by))
