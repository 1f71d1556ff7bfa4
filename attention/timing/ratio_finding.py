"""One sentence on ratios of times: from which length one device or implementation is faster than another, and how much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from attention.timing import comparison, convergence
from attention.timing.answers import setting_text
from attention.timing.comparison import AT_EVERY, EQUAL, Crossover, SpeedUp
from attention.timing.cpu_gpu_summary import times
from attention.timing.line_choice import USUAL
from attention.timing.line_names import machine_in_sentence, namer
from attention.timing.recordings import Timing


def ratio_finding(found: Mapping[str, list[Timing]], against: str, transfer: bool, several: bool = False) -> str:
    """Returns from which length the first line is faster than that of the base, and how much at the longest one.

    `found`: lines with a time by label; `against` and `transfer` as in the chart of speed-ups. `several`: whether that draws
    several implementations, so that the sentence names its own. If stable ratios say too little, all are used, with
    the reason why that is rough; the longest stable one comes first, if it is faster at all.
    """
    pairs = [(found[base], found[other]) for base, other in comparison.pairs(dict(found), against)]
    ratios = [(slow, fast, comparison.speed_ups(slow, fast, transfer)) for slow, fast in pairs]
    name = namer(found, of_machine=False)
    for slow, fast, points in sorted(ratios, key=lambda each: not any(point.settled for point in each[2])):
        stable = [point for point in points if point.settled]
        used = stable if comparison.suffices(stable, points) else [replace(point, settled=True) for point in points]
        crossing = comparison.crossover(used)
        if crossing is None:
            continue
        of_devices = against == comparison.CPU
        what, than = (
            (machine_in_sentence(fast[0]), machine_in_sentence(slow[0]))
            if of_devices
            else (fast[0].implementation, against)
        )
        has_name = several or fast[0].implementation != USUAL[0]
        setting = setting_text(fast[0], [timing for line in found.values() for timing in line])
        parts = [name(fast[0])] if has_name else [setting] * bool(setting)
        parts += ["the copy"] * transfer
        how = [f"with {' and '.join(parts)}"] * bool(parts) if of_devices else [f"on {machine_in_sentence(fast[0])}"]
        rough = None if used is stable else _certainty(slow, fast, used[-1])
        if rough and stable and min(point.ratio for point in used) > 1 + EQUAL:
            faster = _firm(what, than, stable[-1], used[-1], rough)
        else:
            faster = _faster(what, than, crossing, used, rough, is_whole=used[0].length == points[0].length)
        said = ", ".join([*how, faster])
        if used is not stable:  # the answer first, then how sure it is
            why = convergence.open_marks(convergence.reason(timing) for line in (slow, fast) for timing in line)
            _, _, rest = why.partition(", ")
            said += f", by unstable times{f' ({rest})' * bool(rest)}"
        return f"{said[:1].upper()}{said[1:]}."
    return ""


def _firm(what: str, than: str, stable: SpeedUp, last: SpeedUp, roughly: str) -> str:
    """How many times as fast one is at the longest length with stable times, and `roughly` at the last one."""
    return (
        f"{what} is {times(stable.ratio)} times as fast as {than} at {stable.length:,} tokens; at {last.length:,}, "
        f"{roughly} times"
    )


def _certainty(slow: list[Timing], fast: list[Timing], last: SpeedUp) -> str:
    """The last ratio of two lines, or its inverse if it is below one, with whether it is at most, at least or roughly that."""
    at = (next(timing for timing in line if timing.length == last.length) for line in (slow, fast))
    of = [(timing.settled, timing.is_bound) for timing in at]
    about, many = comparison.ratio_bound(max(last.ratio, 1 / last.ratio), *(of if last.ratio >= 1 else reversed(of)))
    return f"{about} {times(many)}"


def _faster(what: str, than: str, crossing: Crossover, used: list[SpeedUp], roughly: str | None, is_whole: bool) -> str:
    """From which length on one is faster than the other, and how many times at the last one.

    `roughly`: that number if unsure. `is_whole`: whether the first length that is used is the shortest one timed.
    """
    first, last = used[0], used[-1]
    many = roughly or times(max(last.ratio, 1 / last.ratio))
    ratio = "about as fast" if many in ("1", "roughly 1") else f"{many} times as fast"
    shortest = crossing.shortest
    if last.ratio < 1:
        return f"{what} takes {many} times as long as {than} at {last.length:,} tokens"
    if crossing.length is None or shortest == crossing.longest:
        return f"{what} is {ratio} as {than} at {last.length:,} tokens"
    if abs(first.ratio - 1) <= EQUAL:
        return f"{what} takes about as long as {than} at {first.length:,} tokens; at {last.length:,} it is {ratio}"
    since = AT_EVERY if is_whole else f"from {shortest:,} tokens on"
    if crossing.bracket:
        since = f"from {crossing.bracket if roughly else crossing.about} tokens on"
    return f"{what} {'seems' if roughly else 'is'} faster than {than} {since}; at {last.length:,} tokens it is {ratio}"
