"""What the link of every page carries: the question of whoever made it, also on a page that shows no weights.

There it stands in the link alone, and is asked again where it belongs. A page about a config has it as one of its knobs.
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
    """What a query says of the page itself, and a sentence where its question is none; one that is stays in the session."""
    if ASK in kind.settings.knobs or ASK not in query:
        return query, []
    setting, notes = PICTURE.open({ASK: query[ASK]})
    if setting.ask:
        here = _pictures(state)
        here.setting = replace(here.setting, ask=setting.ask, predict="none")
    return {name: value for name, value in query.items() if name != ASK}, notes


def remember_config(state: Session, config: Config) -> None:
    """From now on the pages about a config show this one, when they are gone to: with the question that there is, if any."""
    here = _pictures(state)
    here.setting, here.wishes = replace(config, ask=here.setting.ask), {}


def _pictures(state: Session) -> SettingsState[Any]:
    """What the session holds of a config, the defaults where it has shown none yet."""
    return state.held.setdefault(PICTURES, SettingsState.of(PICTURE, {}, {}))


def append(state: Session, kind: Kind[Any]) -> dict[str, str]:
    """What the link of a page carries besides its own settings."""
    here = state.held.get(PICTURES)
    if ASK in kind.settings.knobs or here is None or not here.setting.ask:
        return {}
    return {ASK: here.setting.ask}
