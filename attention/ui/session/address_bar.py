"""The link in the address bar, which mirrors the settings; the only module that uses `st.query_params`.

A page takes up its link at the start of a session, and whenever another link was opened since. What is shown is written back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from attention.serving.moved_links import moved_to
from attention.story.settings import OWN
from attention.streamlit_internals import run_context
from attention.ui.controls.kind import Kind
from attention.ui.session import card_in_link, model_run, own_sentence, question_in_link, uploads
from attention.ui.session.settings_state import SettingsState
from attention.ui.session.visit_state import Session, session, widgets

CODE = "code"  # the entry of the link of a room


def send_on(page: StreamlitPage, pages: Mapping[str, StreamlitPage]) -> None:
    """Opens another of the `pages` if the link of this one now belongs there."""
    if there := moved_to(page.url_path, st.query_params.to_dict()):
        st.switch_page(pages[there.page], query_params=there.query)


def address() -> tuple[str, str]:
    """The query string in the address bar, as far as we know, and the query string of what is shown."""
    return link_query(), urlencode(_shown_link())


def link_query() -> str:
    """The query string of the link to what is shown, as `write_link` writes it."""
    return urlencode(session().here.link)


def room_code() -> str:
    """The code of the room that the link opens, "" if it has none."""
    return st.query_params.get(CODE, "")


def open_room(code: str) -> None:
    """Opens a room on its page."""
    st.query_params.from_dict({CODE: code} if code else {})


def write_link() -> None:
    """Writes the current link to the address bar. This re-renders the page, so call it after the pictures were sent."""
    here, query, shown = session().here, st.query_params.to_dict(), _shown_link()
    here.link = query if model_run.is_opening() else _link(here.kind, shown, query)
    if here.link != query or here.followed:  # a change of page has emptied it
        st.query_params.from_dict(here.link)
    here.followed = False


def _shown_link() -> dict[str, str]:
    """The link of what is shown: settings, and the question and the card that it carries besides; {} for defaults."""
    state, here = session(), session().here
    carried = question_in_link.append(state, here.kind) | card_in_link.append(state, here.kind)
    shown = model_run.carry(here.kind.settings.to_query(here.setting)) | carried
    return card_in_link.shorten(state, here.kind, shown, here.setting)


def _link(kind: Kind[Any], shown: dict[str, str], query: dict[str, str]) -> dict[str, str]:
    """The link that opens what is shown: the one in the address bar if it does, so that the history has no second entry."""
    newest = kind.settings.newest
    full = shown or (newest if kind.begins else {})  # where an empty link opens something else
    same = query == newest and not shown if query else full == kind.begins
    return query if same else full


def arrive(state: Session, kind: Kind[Any], from_elsewhere: bool) -> None:
    """Takes up the link at the start of a session, whenever another link was opened since, and a model's run that is done."""
    here, query = state.held.get(state.about), st.query_params.to_dict()
    is_seen = here is not None and query == here.link and not from_elsewhere
    unknown = [] if is_seen else card_in_link.take_up(state, query)
    if from_elsewhere:
        uploads.passed_by()
        model_run.passed_by()
    new = here is None or _is_new_link(query, here.link, from_elsewhere)
    followed = here is not None and new and not from_elsewhere and not _is_back()
    asked = card_in_link.settings_of(state, query) or dict(kind.begins)
    if here is not None and not new and here.kind is not kind:
        own = here.kind.without_example(here.setting)
        untouched = kind.is_example and not kind.settings.to_query(own)  # so the page may open with its example
        if own != here.setting or (untouched and not query):  # the last page opened with an example of its own
            asked, new = asked or kind.settings.to_query(own), True
    knobs = kind.settings.knobs
    if "source" in knobs or OWN in knobs:
        asked = own_sentence.name_run(asked) if OWN in knobs else asked
        asked = model_run.open_link(asked) if new and ("source" in knobs or model_run.RUN in asked) else asked
        done = model_run.take_result(knobs)
        asked, new = (asked, new) if done is None else (done, True)
    if new or here is None:
        own, notes = question_in_link.split(state, kind, uploads.allowed_query(kind, asked))
        here = state.held[state.about] = SettingsState.of(kind, own, here.labels if here else {})
        here.link, here.notes, here.absent = query, here.notes + notes + unknown, state.kept.absent
        here.followed = followed
        state.told.set_others(widgets(), here.widget_values)
    elif from_elsewhere:
        here.notes = []  # they were shown on the page that caused them
        widgets().update(here.widget_values)
    here.kind = kind


def _is_new_link(query: dict[str, str], last: dict[str, str], from_elsewhere: bool) -> bool:
    """Whether this is another link than the last one.

    The menu opens a page with an empty link, which keeps the settings; going back in the history to an empty link resets
    them to what its page begins with.
    """
    back = _is_back()
    return (query != last and bool(query)) or (back and not query and (from_elsewhere or bool(last)))


def _is_back() -> bool:
    """Whether the user went back or forward in the history."""
    run = run_context()
    return run is not None and run.is_history_navigation
