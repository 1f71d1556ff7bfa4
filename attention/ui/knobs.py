"""The widget of a knob: key, label, help and range are those of its line in `config.py`, the value is the config's.

`page` seeds and reads the values in the session. A browser hears of such a value once, with the next run that draws the
widget; where another run follows before it has loaded what it draws the widget with, it never does, begins with the
first choice and sends that back. So a widget is told its value as a default too. What else is given goes to Streamlit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from attention.config import DEFAULTS, KNOBS, Config
from attention.sources.origins import idle


def segments(name: str, config: Config, **more: Any) -> None:
    """Every choice side by side, one of them chosen."""
    told = {"options": KNOBS[name].choices, "default": getattr(config, name), "required": True}
    st.segmented_control(**_told(name) | told | more | _idle(name, config))


def pills(name: str, config: Config, options: Sequence[Any], **more: Any) -> None:
    """What is offered here side by side, over as many lines as it takes."""
    told = {"options": options, "default": getattr(config, name), "required": True}
    st.pills(**_told(name) | told | more | _idle(name, config))


def menu(name: str, config: Config, options: Sequence[Any] | None = None, **more: Any) -> None:
    """A menu of the choices, or of what is offered here."""
    offered = options or KNOBS[name].choices
    st.selectbox(
        **_told(name) | {"options": offered, "index": offered.index(getattr(config, name))} | more | _idle(name, config)
    )


def stops(name: str, config: Config, options: Sequence[Any], **more: Any) -> None:
    """A slider with a stop for each of what is offered here."""
    st.select_slider(**_told(name) | {"options": options, "value": getattr(config, name)} | more | _idle(name, config))


def slider(name: str, config: Config, ends: tuple[int, ...] = (), **more: Any) -> None:
    """A slider over the range, or over another: `ends` are its least and greatest value and its step."""
    knob, kind = KNOBS[name], type(DEFAULTS[name])
    least, most, step = ends or (kind(knob.low), kind(knob.high), 0.05 if kind is float else 1)
    told = {"min_value": least, "max_value": most, "value": getattr(config, name), "step": step}
    st.slider(**_told(name) | told | more | _idle(name, config))


def number(name: str, config: Config, **more: Any) -> None:
    """A field for a whole number."""
    knob = KNOBS[name]
    told = {"min_value": int(knob.low), "max_value": int(knob.high), "value": getattr(config, name)}
    st.number_input(**_told(name) | told | more | _idle(name, config))


def text(name: str, config: Config, **more: Any) -> None:
    """A field for a text."""
    st.text_area(
        **_told(name)
        | {"max_chars": int(KNOBS[name].high), "value": getattr(config, name)}
        | more
        | _idle(name, config)
    )


def _told(name: str) -> dict[str, Any]:
    return {"label": KNOBS[name].label, "key": name, "help": KNOBS[name].help}


def _idle(name: str, config: Config) -> dict[str, Any]:
    """A knob that does nothing under the source of a config can't be moved, and says why."""
    why = idle(name, config)
    return {"disabled": True, "help": why} if why else {}
