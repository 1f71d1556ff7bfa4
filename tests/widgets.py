"""What a browser keeps of a page's widgets: what each says, and how that travels to the server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.WidgetStates_pb2 import WidgetStates

LISTS = ("double_array_value", "string_array_value")  # fields of a widget's state that hold several values
FILES = "file_uploader_state_value"
PRESSED = "trigger_value"  # the field of a button, which says something only when it is pressed


@dataclass(frozen=True)
class Widget:
    """One that a page has drawn: Streamlit's name for it, the fragment that it is part of, what it says and may say.

    `field`: that of a widget's state in which its value travels; `offers`: values that it can be set to, where these can be
    listed.
    """

    id: str
    fragment: str
    field: str
    value: Any = None
    offers: Sequence[Any] = ()


def key(id: str) -> str:
    """The key that the app gave a widget, or its whole id where it gave none."""
    return id.split("-", 2)[2] if id.startswith("$$ID-") and id.count("-") >= 2 else id


def widget_of(element: Element, fragment: str, before: Mapping[str, Widget]) -> Widget | None:
    """The widget of an element, None where it is none. One that was there keeps what it says unless it is told otherwise."""
    kind = element.WhichOneof("type") or ""
    if kind not in KINDS:
        return None
    proto = getattr(element, kind)
    told = getattr(proto, "set_value", False)
    field, value, offers = KINDS[kind](proto, told)
    last = before.get(key(proto.id))
    if last is not None and last.id == proto.id and not told:
        value = last.value
    return Widget(proto.id, fragment, field, value, offers)


def states(widgets: Mapping[str, Widget], pressed: str = "") -> WidgetStates:
    """What all of them say, as it is sent with every request for a run; and that one of them was pressed."""
    found = WidgetStates()
    for name, widget in widgets.items():
        if widget.value is not None or name == pressed:
            state = found.widgets.add()
            state.id = widget.id
            if widget.field in LISTS:
                getattr(state, widget.field).data.extend(widget.value)
            elif isinstance(widget.value, Message):
                getattr(state, widget.field).CopyFrom(widget.value)
            else:
                setattr(state, widget.field, True if name == pressed else widget.value)
    return found


Said = tuple[str, Any, Sequence[Any]]


def _slider(proto: Any, told: bool) -> Said:
    if proto.options:  # one with named stops sends their names
        named = [proto.options[int(at)] for at in (proto.value if told else proto.default)]
        return "string_array_value", list(proto.raw_value) or named, [[option] for option in proto.options]
    steps = round((proto.max - proto.min) / proto.step) if proto.step else 0
    offers = [[proto.min + step * proto.step] for step in range(steps + 1)]
    return "double_array_value", list(proto.value if told else proto.default), offers


def _number(proto: Any, told: bool) -> Said:
    value = proto.value if told else proto.default
    if proto.data_type == proto.INT:
        return "int_value", int(value), range(int(proto.min), int(proto.max) + 1)
    return "double_value", value, (proto.min, proto.max)


def _menu(proto: Any, told: bool) -> Said:
    chosen = proto.options[proto.default] if proto.options and proto.HasField("default") else ""
    return "string_value", proto.raw_value if told else chosen, list(proto.options)


def _segments(proto: Any, told: bool) -> Said:
    names = [option.content for option in proto.options]
    value = list(proto.raw_values) if told else [names[at] for at in proto.default]
    return "string_array_value", value, [[name] for name in names]


def _several(proto: Any, told: bool) -> Said:
    names = list(proto.options)
    value = list(proto.raw_values) if told else [names[at] for at in proto.default]
    return "string_array_value", value, [[name] for name in names]


def _text(proto: Any, told: bool) -> Said:
    return "string_value", proto.value if told else proto.default, ()


def _check(proto: Any, told: bool) -> Said:
    return "bool_value", proto.value if told else proto.default, (False, True)


def _files(proto: Any, told: bool) -> Said:
    return FILES, None, ()


def _button(proto: Any, told: bool) -> Said:
    return PRESSED, None, ()


KINDS: dict[str, Callable[[Any, bool], Said]] = {
    "slider": _slider,
    "number_input": _number,
    "selectbox": _menu,
    "button_group": _segments,
    "multiselect": _several,
    "color_picker": _text,
    "text_input": _text,
    "text_area": _text,
    "checkbox": _check,
    "file_uploader": _files,
    "button": _button,
    "download_button": _button,
}
