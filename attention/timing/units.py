"""Formats seconds and bytes with three digits and a suitable unit."""

from __future__ import annotations

from collections.abc import Callable
from math import floor, log10


def seconds(value: float) -> str:
    """Formats a time, from nanoseconds to seconds."""
    if value >= 999.5:
        return f"{value:,.0f} s"
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if value * factor >= 0.9995:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def size(value: int | None) -> str:
    """Formats bytes in KiB, MiB or GiB; "unknown" for None."""
    if value is None:
        return "unknown"
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if value >= 2**power:
            return f"{value / 2**power:.3g} {unit}"
    return f"{value:,} bytes"


def two_digits(value: float, cut: Callable[[float], int]) -> float:
    """Cuts a positive number to two significant digits, down with `floor`, up with `ceil`, or to the nearest with `round`."""
    step = 10.0 ** (floor(log10(value)) - 1)
    return cut(value / step) * step
