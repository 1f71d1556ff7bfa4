"""Chooses the lines of timings that a chart begins with and names, which its headline is about.

A recording may hold thousands of lines. A chart of all of them is slow, taller than any screen, and unreadable.
"""

from __future__ import annotations

from collections.abc import Iterable

from attention.timing import comparison, recordings
from attention.timing.recordings import Timing

FEW = 3  # lines of one setting
ROWS = 4  # rows of bars, each of which is a line
USUAL = (  # the first of these: one kernel for all of attention, and one step after the other, which keeps the weights
    "SDPA",
    "matmul softmax matmul",
    "core with weights",
    "SDPA math",
)


def usual_lines(timings: Iterable[Timing], chart: str, most: int) -> list[Timing]:
    """Returns the timings of the lines that a chart begins with: the fused kernel on each device.

    Of several settings there are up to `most` lines, as many as have room for names at their ends, so that what was ticked is
    drawn. The plainest setting is the first. Those that differ least from it come next, so that neighbouring lines differ in one
    thing. Two lines make one of the speed-up. Of the memory, the fused kernel and the textbook's steps on one device, a GPU if
    there is one.
    """
    timings = list(timings)
    plain = comparison.setting(min(timings, key=_extras)) if timings else ()
    apart = {each: sum(a != b for a, b in zip(each, plain, strict=True)) for each in map(comparison.setting, timings)}
    settings, of_memory = sorted(apart, key=apart.__getitem__), chart == "memory"

    def rank(line: list[Timing]) -> tuple[int, int, bool]:
        name = comparison.ALIKE.get(line[0].implementation, line[0].implementation)
        of_cpu = of_memory and line[0].device == "cpu"
        return USUAL.index(name) if name in USUAL else len(USUAL), settings.index(comparison.setting(line[0])), of_cpu

    ordered = sorted(recordings.lines(timings).values(), key=rank)
    same = (lambda line: line[0].origin) if of_memory else (lambda line: rank(line)[0])
    kept = [line for line in ordered if same(line) == same(ordered[0])]
    return [timing for line in kept[: _count(chart, len(settings), most)] for timing in line]


def named_lines(timings: Iterable[Timing], chart: str, most: int) -> list[Timing]:
    """Returns the timings of the lines that a chart names and is about: all of up to `most` lines, or those it begins with."""
    timings = list(timings)
    return timings if len(recordings.lines(timings)) <= most else usual_lines(timings, chart, most)


def _count(chart: str, settings: int, most: int) -> int:
    """The number of lines that a chart of this many settings begins with."""
    usual, rows = (FEW, 1) if settings == 1 else (most, min(settings, ROWS))
    memory = 2 * min(settings, most // 2)
    return {"speed-up": usual + 1, "transfer": rows, "memory": memory}.get(chart, usual)


def _extras(timing: Timing) -> int:
    """In how many things a timing differs from the plainest one."""
    return (timing.mask != "full") + (timing.dtype != "float32") + (timing.passes != "forward")


def slowest_lines(timings: Iterable[Timing]) -> list[Timing]:
    """Returns the last timing of the slowest line of each machine."""
    lasts: dict[str, list[Timing]] = {}
    for line in recordings.lines(timings).values():
        if timed := comparison.with_times(line):
            lasts.setdefault(timed[-1].origin, []).append(timed[-1])
    return [max(found, key=lambda last: (last.length, last.seconds)) for found in lasts.values()]
