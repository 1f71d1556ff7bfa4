"""The widget of a knob: key, label, help and range are those of the knob's own line, the value is that of its settings.

The session seeds and reads the values. A browser hears of such a value once, with the next run that draws the widget;
where another run follows before it has loaded what it draws the widget with, it never does, begins with the first choice
and sends that back. So a widget is told its value as a default too. What else is given goes to Streamlit. A knob that does
nothing here is disabled, and its help says why (`reasons`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from attention.codec import CONFIGS
from attention.config import Config
from attention.examples import TOURS, Tour
from attention.imported.reading import READINGS, Reading
from attention.models.prompt import PROMPTS, Prompt
from attention.settings import Knob, Settings
from attention.timing.cpu_gpu_settings import TIMED, Timed
from attention.timing.sweep import SWEEPS, Sweep
from attention.training.recipe import RECIPES, Recipe
from attention.ui.controls.reasons import why

SETTINGS: dict[type, Settings[Any]] = {
    Config: CONFIGS,
    Sweep: SWEEPS,
    Timed: TIMED,
    Tour: TOURS,
    Recipe: RECIPES,
    Prompt: PROMPTS,
    Reading: READINGS,
}


def segments(name: str, setting: Any, **more: Any) -> None:
    """Every choice side by side, one of them chosen."""
    told = {"options": _knob(name, setting).choices, "default": getattr(setting, name), "required": True}
    st.segmented_control(**_widget_arguments(name, setting, told | more))


def pills(name: str, setting: Any, options: Sequence[Any] = (), **more: Any) -> None:
    """What is offered here, or every choice, side by side over as many lines as it takes; of an axis several may be chosen."""
    one = name not in SETTINGS[type(setting)].axes
    how = {"required": True} if one else {"selection_mode": "multi"}
    told = {"options": options or _knob(name, setting).choices, "default": _widget_value(name, setting)} | how
    st.pills(**_widget_arguments(name, setting, told | more))


def several(name: str, setting: Any, options: Sequence[Any], **more: Any) -> None:
    """A menu of which several are chosen."""
    st.multiselect(
        **_widget_arguments(name, setting, {"options": options, "default": _widget_value(name, setting)} | more)
    )


def menu(name: str, setting: Any, options: Sequence[Any] | None = None, **more: Any) -> None:
    """A menu of the choices, or of what is offered here."""
    offered = options or _knob(name, setting).choices
    st.selectbox(
        **_widget_arguments(name, setting, {"options": offered, "index": offered.index(getattr(setting, name))} | more)
    )


def stops(name: str, setting: Any, options: Sequence[Any], **more: Any) -> None:
    """A slider with a stop for each of what is offered here."""
    st.select_slider(**_widget_arguments(name, setting, {"options": options, "value": getattr(setting, name)} | more))


def slider(name: str, setting: Any, ends: tuple[Any, ...] = (), **more: Any) -> None:
    """A slider over the range, or over another: `ends` are its least and greatest value and its step."""
    knob, kind = _knob(name, setting), int if _knob(name, setting).whole else float
    least, most, step = ends or (kind(knob.low or 0), kind(knob.high or 0), 0.05 if kind is float else 1)
    most = max(most, getattr(setting, name))  # what a source decides may be beyond
    told = {"min_value": least, "max_value": most, "value": getattr(setting, name), "step": step}
    st.slider(**_widget_arguments(name, setting, told | more))


def number(name: str, setting: Any, **more: Any) -> None:
    """A field for a whole number."""
    knob = _knob(name, setting)
    told = {"min_value": int(knob.low or 0), "max_value": int(knob.high or 0), "value": getattr(setting, name)}
    st.number_input(**_widget_arguments(name, setting, told | more))


def line(name: str, setting: Any, **more: Any) -> None:
    """A field for a line of text, which Enter applies. It can always be typed in: what is too long is cut, and said to be."""
    told = _widget_arguments(name, setting, {"value": getattr(setting, name), "autocomplete": "off"} | more)
    st.text_input(**told | {"disabled": False, "help": _knob(name, setting).help})


def area(name: str, setting: Any, **more: Any) -> None:
    """A field for a text of several lines, as long as its knob allows."""
    told = {"value": getattr(setting, name), "max_chars": int(_knob(name, setting).high or 0)} | more
    st.text_area(**_widget_arguments(name, setting, told))


def _knob(name: str, setting: Any) -> Knob:
    return SETTINGS[type(setting)].knobs[name]


def _widget_value(name: str, setting: Any) -> Any:
    """A knob's value, as its widget holds it."""
    settings = SETTINGS[type(setting)]
    return settings.widgets(setting)[settings.key(name)]


def _widget_arguments(name: str, setting: Any, more: dict[str, Any]) -> dict[str, Any]:
    knob, reason = _knob(name, setting), why(name, setting)
    told = {"label": knob.label, "key": SETTINGS[type(setting)].key(name), "help": knob.help} | more
    return told | {"disabled": True, "help": f"{told['help'] or ''} {reason}".strip()} if reason else told
