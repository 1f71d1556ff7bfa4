"""How a figure and its bound are told, a line each."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from benchmarks.paint import mark


def figure_line(found: float, bound: float, what: str) -> str:
    """A figure, the most that it may be, and whether that holds."""
    return f"{mark(found <= bound)}  {found:.3g}, at most {bound:g}: {what}"


def none(found: Sequence[str], what: str) -> str:
    """That there is none of something, or the first of what there is."""
    return f"{mark(not found)}  {len(found)}, at most 0: {what}" + "".join(
        f"\n      {each[:160]}" for each in found[:3]
    )


def note_line(text: str) -> str:
    """What has no bound."""
    return f"      {text}"


def percentile(values: Sequence[float], share: float) -> float:
    """The value that so large a share of them don't exceed, by nearest rank; not a number where there are none."""
    return sorted(values)[max(0, ceil(share * len(values)) - 1)] if values else float("nan")


def both(values: Sequence[float]) -> str:
    """The one in the middle and the 95th percentile of seconds, in milliseconds."""
    return f"{1000 * percentile(values, 0.5):.0f} / {1000 * percentile(values, 0.95):.0f} ms"
