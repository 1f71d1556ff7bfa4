"""The question of the link's author, which the link of every page carries, even of a page that shows no weights.

Such a page only keeps it in the link; it is asked again on the pages about a config, which have it as one of their knobs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from attention.config import Config
from attention.ui.controls.kind import Kind
from attention.ui.controls.picture import PICTURE
from attention.ui.session.settings_state import SettingsState
from attention.ui.session.visit_state import Session

ASK = "ask"
PICTURES = PICTURE.settings.called


def split(state: Session, kind: Kind[Any], query: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """Splits a query into the page's own settings and the question of the link, which is stored in the session if it is
    valid; returns the settings and a message if it is not.
    """
    if ASK in kind.settings.knobs or ASK not in query:
        return query, []
    setting, notes = PICTURE.open({ASK: query[ASK]})
    if setting.ask:
        here = _pictures(state)
        here.setting = replace(here.setting, ask=setting.ask, predict="none")
    return {name: value for name, value in query.items() if name != ASK}, notes


def remember_config(state: Session, config: Config) -> None:
    """Makes the pages about a config show this one from now on, with the current question if there is one."""
    here = _pictures(state)
    here.setting, here.wishes = replace(config, ask=here.setting.ask), {}


def _pictures(state: Session) -> SettingsState[Any]:
    """The session's settings of kind config; the defaults if none were shown yet."""
    return state.held.setdefault(PICTURES, SettingsState.of(PICTURE, {}, {}))


def append(state: Session, kind: Kind[Any]) -> dict[str, str]:
    """What the link of a page carries in addition to its own settings."""
    here = state.held.get(PICTURES)
    if ASK in kind.settings.knobs or here is None or not here.setting.ask:
        return {}
    return {ASK: here.setting.ask}
