"""The sidebar of the Timing page: one widget per knob, made from its definition in `timing/sweep.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from attention.timing import break_even
from attention.timing.cpu_gpu_settings import BREAK_EVEN, LINES, METHODS, SIZES, TIMED, Timed, is_published
from attention.timing.sweep import SWEEPS, Sweep, is_like
from attention.ui import results
from attention.ui.controls import knobs
from attention.ui.controls.kind import Change, Kind, Stops
from attention.ui.limits import limit_budget, limits
from attention.ui.text import controls as text

OFFERED: dict[str, Sequence[Any]] = {
    "lengths": [2**i for i in range(4, 17)],
    "heads": [1, 2, 4, 8, 12, 16, 32, 64],
    "d_heads": [16, 32, 64, 80, 128, 256],
    "batches": [1, 2, 4, 8, 16, 32],
    "queries": [0, 1, 16, 128, 1024],
    "kv_heads": [0, 1, 2, 4, 8],
    "windows": [0, 128, 512, 1024, 4096],
}
FEW = ("masks", "dtypes", "passes")
FIRST = ("masks", "dtypes", "lengths")
PUBLISHED = ("mask", "d_head", "work", "lines")  # of the chart at published sizes


def draw(sweep: Timed, stops: Stops, change: Change) -> None:
    """Draws every control with its callback for changes; the most important ones come first.

    At published sizes there are those of that chart instead.
    """
    if _is_published(sweep, bool(stops["recordings"])):
        _published(sweep, change)
        return
    few = _few_options(sweep)
    st.caption(text.SWEEP_ONE if few else text.SWEEP_ABOUT)
    for name in FIRST:
        _widget(name, sweep, change, few.get(name, ()))
    with st.expander(text.MORE, icon=":material/tune:", key="more settings"):
        for name in SWEEPS.knobs:
            if name not in FIRST:
                _widget(name, sweep, change, few.get(name, ()))


def _published(timed: Timed, change: Change) -> None:
    """Draws the controls of the chart at published sizes, and those of a measurement that set no sizes."""
    st.caption(text.SWEEP_PUBLISHED)
    for name in PUBLISHED:
        knobs.segments(name, timed, on_change=change)
    with st.expander(text.MORE, icon=":material/tune:", key="more settings"):
        knobs.pills("gpus", timed, on_change=change)
        methods = [name for name in METHODS if is_published(name, timed.work)]
        knobs.menu("method", timed, methods, on_change=change)
        for name in ("cpu_dtype", "transfer"):
            knobs.segments(name, timed, on_change=change)
        knobs.menu("bus", timed, on_change=change)
        for name in SWEEPS.knobs:
            if name not in SIZES:
                _widget(name, timed, change)


def look(sweep: Timed) -> tuple[Any, ...]:
    """Everything that the controls show of a sweep, except the values of the widgets themselves."""
    options = (tuple(_axis_options(name, sweep)) for name in (*OFFERED, "devices"))
    return (
        _longest(sweep),
        bool(sweep.tokens),
        _is_published(sweep, False),
        sweep.work,
        _few_options(sweep),
        *options,
    )


def _is_published(sweep: Timed, has_opened: bool) -> bool:
    """Whether the chart is that of published sizes, which the controls of a sweep do not set."""
    return sweep.picture not in (LINES, BREAK_EVEN) and not has_opened and not sweep.has_own_sizes


def _is_break_even(sweep: Timed) -> bool:
    return sweep.chart == BREAK_EVEN or (sweep.picture == BREAK_EVEN and not sweep.has_own_sizes)


def _few_options(sweep: Timed) -> dict[str, list[Any]]:
    """Beside a break-even, the values of a few that are ticked or have a recorded break-even; empty beside other charts."""
    if not _draws_break_even(sweep):
        return {}
    every = results.timing.recorded_like(replace(sweep.sweep, **{name: SWEEPS.knobs[name].choices for name in FEW}))

    def is_recorded(name: str, value: Any) -> bool:
        one = replace(sweep.sweep, **{name: (value,)})
        return bool(break_even.pair(timing for timing in every if is_like(timing, one)))

    return {
        name: [each for each in SWEEPS.knobs[name].choices if each in getattr(sweep, name) or is_recorded(name, each)]
        for name in FEW
    }


def _widget(name: str, sweep: Sweep, change: Change, few: Sequence[Any] = ()) -> None:
    if name in FEW:
        knobs.pills(name, sweep, few, on_change=change)
    elif name in SWEEPS.axes:
        more = {"format_func": partial(_format, name)} if name in OFFERED or name == "devices" else {}
        empty = text.EVERY_VALUE.get(name, text.ONE_VALUE)
        knobs.several(name, sweep, _axis_options(name, sweep), placeholder=empty, on_change=change, **more)
    elif name == "seconds":
        ends = (float(SWEEPS.knobs[name].low or 0), _longest(sweep), 1.0)
        knobs.slider(name, sweep, ends, format="%.0f s", on_change=change)
    else:
        knobs.number(name, sweep, on_change=change)


def _axis_options(name: str, sweep: Sweep) -> list[Any]:
    """The options in the menu of an axis, including the values of the sweep."""
    if name == "devices":
        return list(dict.fromkeys([*results.timing.devices(), *sweep.devices]))
    return sorted({*OFFERED[name], *getattr(sweep, name)}) if name in OFFERED else list(SWEEPS.knobs[name].choices)


def _format(name: str, value: Any) -> str:
    if name == "devices":
        return f"{value}: {results.timing.devices().get(value, text.ABSENT_DEVICE)}"
    return f"{value:,}" if value else text.ALL_VALUES[name]


def _longest(sweep: Sweep) -> float:
    return max(limits().seconds, sweep.seconds)


def _with_allowed_budget(sweep: Timed, query: Mapping[str, Any]) -> tuple[Timed, list[str]]:
    """The sweep with a time budget that this host allows, and a message if a link asks for more."""
    found, notes = limit_budget(sweep)
    return found, notes if "seconds" in query else []


def _one_at_break_even(before: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Of the values of a few that are ticked beside a break-even, which draws one, the one that was ticked last."""
    ticked = {name: [each for each in SWEEPS.knobs[name].choices if each in now[name]] for name in FEW}
    last = {
        name: tuple(added[-1:])
        for name, values in ticked.items()
        if len(values) > 1 and (added := [value for value in values if value not in before[name]])
    }
    shown = {name: tuple(values) or before[name] for name, values in ticked.items()}
    return (last if last and _draws_break_even(Timed(**{**before, **shown})) else {}), []


def _draws_break_even(sweep: Timed) -> bool:
    """Whether a break-even is drawn, which takes a recording on two machines."""
    return _is_break_even(sweep) and bool(break_even.pair(results.timing.recorded_like(sweep.sweep)))


SWEEP = Kind(
    TIMED,
    draw,
    look,
    frozenset(SWEEPS.knobs),
    opened=_with_allowed_budget,
    implied=_one_at_break_even,
    prefix="timing_",
)
