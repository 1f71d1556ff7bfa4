"""Ticks of the logarithmic axes of timings: seconds and bytes, each with its unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from attention.timing.units import seconds, size

PREFIXES = ("", "k", "M", "G", "T", "P")  # of operations per second


def length_ticks(lengths: Sequence[int], most: int) -> dict[str, Any]:
    """Returns a tick at each length, of which at most `most` have a number, among them the shortest and the longest."""
    step = -(-len(lengths) // most)
    named = {*list(lengths)[::-1][::step]} - {*lengths[1:step]} | {*lengths[:1]}
    numbers = [f"{length:,}" if length in named else "" for length in lengths]
    return {"tickvals": list(lengths), "ticktext": numbers, "ticks": "outside", "ticklen": 4, "tickcolor": "gray"}


def time_ticks(low: float, high: float) -> dict[str, Any]:
    """Returns the ticks of an axis of seconds between two logarithms, closer together the shorter it is."""
    values = _values(low, high)
    return {"tickvals": values, "ticktext": [seconds(value) for value in values]}


def ratio_ticks(low: float, high: float) -> dict[str, Any]:
    """Returns the ticks of an axis of ratios between two logarithms, closer together the shorter it is."""
    values = _values(low, high)
    return {"tickvals": values, "ticktext": [f"{value:,g}" for value in values]}


def _values(low: float, high: float) -> list[float]:
    steps = (
        (1, 1.5, 2, 3, 5, 7)
        if high - low < 0.7
        else (1, 2, 5)
        if high - low < 2
        else (1, 3)
        if high - low < 4
        else (1,)
    )
    return [step * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for step in steps]


def rate_ticks(low: float, high: float) -> dict[str, Any]:
    """Returns the ticks of an axis of operations per second between two logarithms, like "10 TFLOP/s"."""
    steps = (1, 2, 5) if high - low < 2 else (1, 3) if high - low < 3 else (1,)
    powers = range(math.floor(low), math.ceil(high) + 1)
    values = [(step, power) for power in powers for step in steps]
    return {"tickvals": [step * 10.0**power for step, power in values], "ticktext": [_rate(*each) for each in values]}


def _rate(step: int, power: int) -> str:
    prefix = min(max(power // 3, 0), len(PREFIXES) - 1)
    return f"{step * 10.0 ** (power - 3 * prefix):,g} {PREFIXES[prefix]}FLOP/s"


def size_ticks(low: float, high: float) -> dict[str, Any]:
    """Returns the ticks of an axis of bytes between two logarithms, each 16 times the one before."""
    powers = [power for power in range(0, 60, 4 if high - low > 2 else 1) if low <= power * math.log10(2) <= high]
    return {"tickvals": [2**power for power in powers], "ticktext": [size(2**power) for power in powers]}
