"""The sidebar of the Timing page: one widget a knob of a sweep, made from the knob's own line in `sweep.py`.

Each is told its value as a default too, as those of attention/ui/knobs.py are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from attention.timing.sweep import AXES, KNOBS, Sweep
from attention.ui import compute
from attention.ui.limits import limits

KEY = "sweep_{}"  # the knobs of a config have the plain names
OFFERED: dict[str, Sequence[Any]] = {
    "lengths": [2**i for i in range(4, 17)],
    "heads": [1, 2, 4, 8, 12, 16, 32, 64],
    "d_heads": [16, 32, 64, 80, 128, 256],
    "batches": [1, 2, 4, 8, 16, 32],
}
EMPTY = {"implementations": "All but compiled and published ones"}
FEW = ("masks", "dtypes", "passes")
FIRST = ("lengths", "implementations", "masks", "dtypes", "passes", "seconds")


def draw(sweep: Sweep) -> None:
    """Every control; the ones that matter most stand first."""
    for name in FIRST:
        _widget(name, sweep)
    with st.expander("Sizes, devices and threads"):
        for name in KNOBS:
            if name not in FIRST:
                _widget(name, sweep)


def value(name: str, found: Any) -> Any:
    """What a widget holds, as the knob's value."""
    if name == "lengths":
        return tuple(sorted(found))
    return tuple(found) if name in AXES else found


def seed(name: str, given: Any) -> Any:
    """A knob's value, as the widget holds it."""
    return list(given) if name in AXES else given


def widgets(sweep: Sweep) -> dict[str, Any]:
    """What all widgets hold, by their keys."""
    return {KEY.format(name): seed(name, given) for name, given in vars(sweep).items()}


def _widget(name: str, sweep: Sweep) -> None:
    knob, held = KNOBS[name], seed(name, getattr(sweep, name))
    told = {"key": KEY.format(name), "help": knob.help}
    if name in FEW:
        st.pills(knob.label, knob.choices, selection_mode="multi", default=held, **told)
    elif name == "devices":
        here = compute.timing.devices()
        options = list(dict.fromkeys([*here, *sweep.devices]))
        names = {key: f"{key}: {here.get(key, 'not on this machine')}" for key in options}
        st.multiselect(knob.label, options, held, format_func=names.__getitem__, placeholder="All", **told)
    elif name in AXES:
        offered = knob.choices or OFFERED[name]
        options = sorted({*offered, *getattr(sweep, name)}) if name in OFFERED else list(offered)
        st.multiselect(knob.label, options, held, placeholder=EMPTY.get(name, "At least one"), **told)
    elif name == "seconds":
        high = max(limits().seconds, sweep.seconds)
        st.slider(knob.label, float(knob.low or 0), high, held, step=1.0, format="%.0f s", **told)
    else:
        st.number_input(knob.label, int(knob.low or 0), int(knob.high or 0), held, **told)
