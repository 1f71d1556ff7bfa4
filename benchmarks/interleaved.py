"""Times that can be compared: the candidates take turns, and what counts is their ratio within one round.

A machine is faster or slower from one second to the next, by more than most differences that matter; within one round
it is nearly the same for all. So every round times each candidate once, in turn, and the median of the ratios is what
a benchmark reports.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping
from statistics import median, quantiles
from typing import NamedTuple

import torch

from attention.runtime import processor

Candidates = Mapping[str, Callable[[], object]]


class Ratio(NamedTuple):
    """The median of the ratios of two candidates, round by round, and their quartiles."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f} to {self.high:.2f})"


def times(candidates: Candidates, rounds: int = 15, least: float = 0.002, rest: float = 0.0) -> dict[str, list[float]]:
    """Seconds a call of every candidate in each round, from `least` seconds of calls at the least, once warm.

    `rest`: seconds before each candidate, in which torch's threads end the busy wait that follows a shared product. Whoever comes
    next and has threads of its own would have a core less for some milliseconds.
    """
    repeats = {name: _repeats(run, least) for name, run in candidates.items()}
    found: dict[str, list[float]] = {name: [] for name in candidates}
    names = list(candidates)
    for turn in range(rounds):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            time.sleep(rest)
            found[name].append(_seconds(candidates[name], repeats[name]))
    return found


def ratio(times: Mapping[str, list[float]], name: str, to: str) -> Ratio:
    """How long one candidate takes in units of another, round by round."""
    each = [a / b for a, b in zip(times[name], times[to], strict=True)]
    low, _, high = quantiles(each, n=4)
    return Ratio(median(each), low, high)


def verdict(label: str, found: Ratio, bound: float) -> str:
    """One line of a report: what was found, the bound beside it, and whether it holds."""
    return f"{'pass' if found.median <= bound else 'FAIL'}  {found!s:>22}  at most {bound:<5g} {label}"


def figure(label: str, found: Ratio) -> str:
    """One line of a report that has no bound."""
    return f"      {found!s:>22}  {'':13} {label}"


def environment() -> str:
    """What the numbers were measured on, in a line: the processor with its caches, as far as the system tells."""
    threads, python = torch.get_num_threads(), platform.python_version()
    return f"torch {torch.__version__}, {threads} threads, {processor.describe_processor()}, Python {python}"


def _seconds(run: Callable[[], object], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    return (time.perf_counter() - start) / repeats


def _repeats(run: Callable[[], object], least: float) -> int:
    """How many calls take `least` seconds, after a first one that warms up."""
    run()
    return max(1, round(least / _seconds(run, 1)))
