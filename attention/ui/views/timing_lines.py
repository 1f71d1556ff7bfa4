"""Selects the lines of timings to draw: by what they differ in, and up to a maximum number at once.

A recording may hold thousands of lines. A chart of all of them is slow, taller than any screen, and unreadable.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from attention.timing import comparison, recordings
from attention.timing.recordings import Timing
from attention.ui.text import timing as text

MOST = 24  # maximum number of lines in a chart, equal to the number of symbols
BARS = 8  # the same for the transfer, where each line has its own row
FEW = 6  # up to this many lines no selection is offered
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


def selected_timings(found: list[Timing]) -> list[Timing]:
    """The timings of the lines that the user selected; all of them until something is selected."""
    if count(found) <= FEW:
        return found
    with st.popover("Lines"):
        for name, value in AXES.items():
            options = list(dict.fromkeys(map(value, found)))
            if len(options) > 1:
                picked = st.multiselect(name, options, key=f"timing_lines_{name}", placeholder="All")
                found = [timing for timing in found if not picked or value(timing) in picked]
    return found


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


def count(timings: list[Timing]) -> int:
    """The number of lines in these timings."""
    return len(recordings.lines(timings))


def line_count_text(drawn: list[Timing], found: list[Timing]) -> str:
    """The number of lines that are drawn, if they are not all; otherwise empty."""
    some, every = count(drawn), count(found)
    return text.SOME_LINES.format(drawn=some, count=every) if some < every else ""
