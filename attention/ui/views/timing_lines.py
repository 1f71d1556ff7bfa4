"""Which lines of timings are drawn: a choice by what they differ in, and at most so many at once.

A recording may hold thousands of lines. A chart of all of them is slow, longer than any screen, and can't be read.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from attention.timing import comparison, recordings
from attention.timing.recordings import Timing

MOST = 24  # lines that are drawn at once, which is as many as have symbols
BARS = 8  # the same of the transfer, where each has a row of its own
FEW = 6  # lines among which nobody has to choose
AXES: dict[str, Callable[[Timing], object]] = {
    "Implementation": lambda timing: timing.implementation,
    "Device": lambda timing: timing.origin,
    "dtype": lambda timing: timing.dtype,
    "Mask": lambda timing: timing.mask,
    "Pass": lambda timing: timing.passes,
    "Batch": lambda timing: timing.batching,
    "Heads": lambda timing: timing.heads,
    "d_head": lambda timing: timing.d_head,
}


def selected_timings(found: list[Timing]) -> list[Timing]:
    """The timings of the lines that the visitor chose; all of them until something is chosen."""
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
    """Those of the first lines; what differs in its device alone stays together, as it will be compared."""
    of: dict[tuple, list[list[Timing]]] = {}
    for line in recordings.lines(timings).values():
        of.setdefault(comparison.kind(line[0]), []).append(line)
    kept = [line for alike in of.values() for line in alike][:most]
    drawn = {id(timing) for line in kept for timing in line}
    return [timing for timing in timings if id(timing) in drawn]


def comparable_timings(timings: list[Timing], against: str) -> list[Timing]:
    """Those of the lines that have something to be compared with: the CPU or an implementation, at the same lengths."""
    found = recordings.lines(timings)
    both = {label for pair in comparison.pairs(found, against) for label in pair}
    kept = {id(timing) for label in both for timing in found[label]}
    return [timing for timing in timings if id(timing) in kept]


def count(timings: list[Timing]) -> int:
    """How many lines these are."""
    return len(recordings.lines(timings))


def line_count_text(drawn: list[Timing], found: list[Timing]) -> str:
    """How many lines are drawn, where that is not all of them; else empty."""
    some, every = count(drawn), count(found)
    return f"{some} of {every:,} lines are drawn. *Lines* chooses; tables and downloads have all." * (some < every)
