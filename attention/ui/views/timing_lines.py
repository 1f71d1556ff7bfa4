"""Selects the lines of timings to draw: by what they differ in, and up to a maximum number at once.

A recording may hold thousands of lines. A chart of all of them is slow, taller than any screen, and unreadable.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from attention.timing import comparison, line_names, recordings
from attention.timing.line_choice import FEW
from attention.timing.recordings import Timing
from attention.ui.markdown import join_words
from attention.ui.session import page
from attention.ui.text import timing as text

MOST = 24  # maximum number of lines in a chart
NAMED = 4  # maximum number of values that only lines have that are not drawn
BARS = 8  # the same for the transfer, where each line has its own row
ALL = "timing_all_lines"
AXES: dict[str, Callable[[Timing], object]] = {
    "Implementation": lambda timing: timing.implementation,
    "Device": lambda timing: timing.origin,
    "dtype": lambda timing: timing.dtype,
    "Mask": lambda timing: timing.mask,
    "Pass": lambda timing: timing.passes,
    "Batch": lambda timing: timing.batching,
    "Heads": lambda timing: timing.heads,
    "d_head": lambda timing: timing.d_head,
    "Queries": lambda timing: f"{timing.queries:,}" if timing.queries else "All tokens",
    "Key-value heads": lambda timing: timing.key_heads,
    "Window": lambda timing: f"{timing.window:,}" if timing.window else "None",
}


def choose(found: list[Timing], offered: list[Timing], most: int) -> None:
    """Draws the choice of lines, and a switch that shows all, up to `most`, if there are more than a few.

    `offered`: the timings of those that the chart can show; `most`: 0 for a chart without the switch.
    """
    if count(found) <= FEW:
        return
    nothing = text.ANY if selected_timings(found)[1] else text.USUAL
    with st.popover(text.WHICH_LINES):
        for name, value in AXES.items():
            options = list(dict.fromkeys(map(value, found)))
            if len(options) > 1:
                st.multiselect(name, options, key=f"timing_lines_{name}", placeholder=nothing)
                found = [timing for timing in found if _matches(timing, name)]
    if most:
        st.toggle(text.ALL_LINES if count(offered) <= most else text.MOST_LINES.format(most=most), key=ALL)


def selected_timings(found: list[Timing]) -> tuple[list[Timing], bool]:
    """The timings of the lines that the user selected, all of them until something is; and whether something is selected."""
    if count(found) <= FEW:
        return found, True
    selected = [timing for timing in found if all(_matches(timing, name) for name in AXES)]
    return selected, bool(page.widgets().get(ALL)) or has_choice()


def has_choice() -> bool:
    """Whether the user selected lines."""
    return any(page.widgets().get(f"timing_lines_{name}") for name in AXES)


def _matches(timing: Timing, name: str) -> bool:
    """Whether a timing has one of the values that were picked on an axis; all have if none was."""
    picked = page.widgets().get(f"timing_lines_{name}")
    return not picked or AXES[name](timing) in picked


def first(timings: list[Timing], most: int) -> list[Timing]:
    """The timings of the first `most` lines; lines that differ only in their device stay together, because they are compared."""
    of: dict[tuple, list[list[Timing]]] = {}
    for line in recordings.lines(timings).values():
        of.setdefault(comparison.kind(line[0]), []).append(line)
    kept = [line for alike in of.values() for line in alike][:most]
    drawn = {id(timing) for line in kept for timing in line}
    return [timing for timing in timings if id(timing) in drawn]


def comparable_timings(timings: list[Timing], against: str) -> list[Timing]:
    """The timings of lines that have a counterpart at the same lengths: on the CPU, or of an implementation."""
    found = recordings.lines(timings)
    both = {label for pair in comparison.pairs(found, against) for label in pair}
    kept = {id(timing) for label in both for timing in found[label]}
    return [timing for timing in timings if id(timing) in kept]


def _count_pairs(against: str) -> Callable[[list[Timing]], int]:
    return lambda timings: len(comparison.pairs(recordings.lines(timings), against))


def count(timings: list[Timing]) -> int:
    """The number of lines in these timings."""
    return len(recordings.lines(timings))


def line_count_text(drawn: list[Timing], found: list[Timing], against: str = "") -> tuple[str, str]:
    """The number of lines that are drawn, and what the others have, if they are not all; otherwise empty.

    A line `against` a base is of a pair.
    """
    count_of = _count_pairs(against) if against else count
    some, every = count_of(drawn), count_of(found)
    return (text.SOME_LINES.format(drawn=some, count=every), _others(drawn, found)) if some < every else ("", "")


def without_counterpart_text(selected: list[Timing], offered: list[Timing]) -> str:
    """Which selected implementations a chart of ratios can't draw, as the base has no time of the same work."""
    has_ratio = {timing.implementation for timing in offered}
    names = dict.fromkeys(timing.implementation for timing in selected if timing.implementation not in has_ratio)
    return text.NO_COUNTERPART.format(names=join_words([*names])) if names else ""


def _others(drawn: list[Timing], found: list[Timing]) -> str:
    """What the lines that are not drawn have and those that are drawn don't: masks, dtypes and so on, then implementations."""
    names: list[str] = []
    others = {name: value for name, value in AXES.items() if name not in ("Implementation", "Device")}
    for value in (*others.values(), line_names.machine, AXES["Implementation"]):
        shown = set(map(value, drawn))
        names += [str(each) for each in dict.fromkeys(map(value, found)) if each not in shown]
    if not names:
        return ""
    some = ", ".join(names[:NAMED])
    return text.OTHER_LINES.format(names=text.MORE_VALUES.format(names=some) if len(names) > NAMED else some)
