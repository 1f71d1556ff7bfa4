"""Fits how time grows with length: a power law if there are enough stable times, else the reason why not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from attention.timing.comparison import setting, with_times
from attention.timing.recordings import Timing

LAST = 4  # number of the longest lengths that are fitted
LEAST = 3  # minimum number of points: any two points lie on a line
WIDEST = 0.25  # largest standard error: twice that still separates linear from quadratic growth
QUIETER = "try a larger time budget or a quieter machine"


@dataclass(frozen=True)
class Growth:
    """Time grows with length to the power `exponent`, between `lengths`; `error` is the standard error of the fit."""

    exponent: float
    error: float
    lengths: tuple[int, int]

    @property
    def doubling(self) -> float:
        """The factor by which the time grows for twice the length."""
        return 2**self.exponent

    @property
    def factor(self) -> str:
        """The same as it is written."""
        return f"{self.doubling:.2g}"

    @property
    def power(self) -> str:
        """The exponent with its error."""
        return f"{self.exponent:.2f} ± {self.error:.2f}"

    @property
    def over(self) -> str:
        """The range of lengths of the fit."""
        return f"{self.lengths[0]:,} to {self.lengths[1]:,} tokens"

    @property
    def sentence(self) -> str:
        """The result in words."""
        return f"twice the length takes {self.factor} times as long (exponent {self.power}, {self.over})"


def growth(line: Iterable[Timing]) -> Growth | None:
    """Returns the slope of time over length in log-log, by least squares over the longest stable lengths.

    Returns None for fewer than three of these, or if the standard error is over 0.25.
    """
    found = _fit_growth(line)
    return found if found and found.error <= WIDEST else None


def of_lines(found: Mapping[str, list[Timing]]) -> dict[str, Growth | None]:
    """Returns the growth of each line by its label, over the lengths at which all lines of its setting are stable.

    Shorter texts grow more slowly, so that other lengths of another device or implementation would not compare. Where these
    have too few common lengths, it is that over all lengths of the line.
    """
    grown: dict[str, Growth | None] = {}
    for label, line in found.items():
        alike = [other for other in found.values() if setting(other[0]) == setting(line[0])]
        common = set.intersection(*({t.length for t in with_times(other) if t.settled} for other in alike))
        grown[label] = growth(t for t in line if t.length in common) or growth(line)
    return grown


def why_not(line: Iterable[Timing]) -> str:
    """Why a line has no growth, and what may give it one; empty if it has one."""
    line = list(line)
    found, lengths = _fit_growth(line), len({timing.length for timing in line if timing.error is None})
    if lengths < LEAST:
        return f"it needs {LEAST} lengths with a time; choose more lengths"
    if found is None:
        return f"fewer than {LEAST} lengths are stable; {QUIETER}"
    return f"the times do not follow one power law (± {found.error:.2f}); {QUIETER}" if found.error > WIDEST else ""


def _fit_growth(line: Iterable[Timing]) -> Growth | None:
    used = {timing.length: timing.seconds for timing in line if timing.error is None and timing.settled}
    points = sorted(used.items())[-LAST:]
    if len(points) < LEAST:
        return None
    xs, ys = ([math.log(value) for value in values] for values in zip(*points, strict=True))
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    width = sum((a - x) ** 2 for a in xs)
    slope = sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / width
    rest = sum((b - y - slope * (a - x)) ** 2 for a, b in zip(xs, ys, strict=True))
    return Growth(slope, math.sqrt(rest / (len(xs) - 2) / width), (points[0][0], points[-1][0]))
