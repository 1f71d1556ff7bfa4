"""Widgets of knobs: key, label, help and range come from the knob's definition, the value from its settings.

The session seeds and reads the values. A browser receives such a value once, with the next run that draws the widget. If
another run follows before the browser has loaded the code of the widget, it never receives it, starts with the first
choice and sends that back. Each widget therefore also gets its value as a default. Further arguments are passed to
Streamlit. A knob that has no effect is disabled, and its help says why (`reasons`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from attention.codec import CONFIGS
from attention.config import Config
from attention.examples import TOURS, Tour
from attention.imported.reading_knobs import READINGS, Reading
from attention.models.prompt import PROMPTS, Prompt
from attention.published.bug_series import SERIES, BugSeries
from attention.settings import Knob, Settings
from attention.story.settings import STORIES, Story
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
    Story: STORIES,
    BugSeries: SERIES,
}


def segments(name: str, setting: Any, options: Sequence[Any] | None = None, **more: Any) -> None:
    """A segmented control with `options` or every choice, of which one is selected."""
    told = _choices(name, setting, options) | {"default": getattr(setting, name), "required": True}
    st.segmented_control(**_widget_arguments(name, setting, told | more))


def pills(name: str, setting: Any, options: Sequence[Any] = (), **more: Any) -> None:
    """Pills for `options` or every choice, over several lines if needed; several may be selected for an axis of a sweep."""
    one = name not in SETTINGS[type(setting)].axes
    how = {"required": True} if one else {"selection_mode": "multi"}
    told = _choices(name, setting, options) | {"default": _widget_value(name, setting)} | how
    st.pills(**_widget_arguments(name, setting, told | more))


def several(name: str, setting: Any, options: Sequence[Any], **more: Any) -> None:
    """A menu in which several options can be selected."""
    st.multiselect(
        **_widget_arguments(name, setting, {"options": options, "default": _widget_value(name, setting)} | more)
    )


def menu(name: str, setting: Any, options: Sequence[Any] | None = None, **more: Any) -> None:
    """A menu of `options`, or of every choice."""
    told = _choices(name, setting, options)
    told["index"] = told["options"].index(getattr(setting, name))
    st.selectbox(**_widget_arguments(name, setting, told | more))


def stops(name: str, setting: Any, options: Sequence[Any], **more: Any) -> None:
    """A slider with one stop per option."""
    st.select_slider(**_widget_arguments(name, setting, {"options": options, "value": getattr(setting, name)} | more))


def slider(name: str, setting: Any, ends: tuple[Any, ...] = (), **more: Any) -> None:
    """A slider over the range of the knob, or over `ends`: minimum, maximum and step."""
    knob, kind = _knob(name, setting), int if _knob(name, setting).whole else float
    least, most, step = ends or (kind(knob.low or 0), kind(knob.high or 0), 0.05 if kind is float else 1)
    most = max(most, getattr(setting, name))  # a source may fix a value beyond the range
    told = {"min_value": least, "max_value": most, "value": getattr(setting, name), "step": step}
    st.slider(**_widget_arguments(name, setting, told | more))


def number(name: str, setting: Any, **more: Any) -> None:
    """An input for an integer."""
    knob = _knob(name, setting)
    told = {"min_value": int(knob.low or 0), "max_value": int(knob.high or 0), "value": getattr(setting, name)}
    st.number_input(**_widget_arguments(name, setting, told | more))


def line(name: str, setting: Any, **more: Any) -> None:
    """A single-line text input, applied with Enter. It is never disabled; a text that is too long is cut, with a message."""
    told = _widget_arguments(name, setting, {"value": getattr(setting, name), "autocomplete": "off"} | more)
    st.text_input(**told | {"disabled": False, "help": _knob(name, setting).help})


def area(name: str, setting: Any, **more: Any) -> None:
    """A text input of several lines, as long as its knob allows."""
    told = {"value": getattr(setting, name), "max_chars": int(_knob(name, setting).high or 0)} | more
    st.text_area(**_widget_arguments(name, setting, told))


def _knob(name: str, setting: Any) -> Knob:
    return SETTINGS[type(setting)].knobs[name]


def _choices(name: str, setting: Any, options: Sequence[Any] | None = None) -> dict[str, Any]:
    """`options`, or every choice of the knob, and the function that names them."""
    knob = _knob(name, setting)
    return {"options": options or knob.choices, "format_func": lambda value: knob.names.get(value, str(value))}


def _widget_value(name: str, setting: Any) -> Any:
    """The value of a knob, as its widget holds it."""
    settings = SETTINGS[type(setting)]
    return settings.widgets(setting)[settings.key(name)]


def _widget_arguments(name: str, setting: Any, more: dict[str, Any]) -> dict[str, Any]:
    knob, reason = _knob(name, setting), why(name, setting)
    told = {"label": knob.label, "key": SETTINGS[type(setting)].key(name), "help": knob.help} | more
    return told | {"disabled": True, "help": f"{told['help'] or ''} {reason}".strip()} if reason else told
