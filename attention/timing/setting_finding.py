"""One sentence on how the time of a device changes with one setting, such as the mask or the dtype."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from attention.timing import comparison
from attention.timing.answers import setting_text
from attention.timing.cpu_gpu_summary import times
from attention.timing.line_names import machine_in_sentence
from attention.timing.recordings import Timing, lines
from attention.timing.recordings.labels import axes_text
from attention.timing.units import seconds

ALIKE = "1"  # times as long, rounded
NOTABLE = 1.2  # times as long that unstable times can tell, and that a short length is worth a word for
SDPA, SAME = "SDPA", 1.07  # times as long, at every length, of code that may well be the same kernel
KERNEL = (
    "On {device} SDPA and {kernel} take the same time at every length, so that their lines coincide: SDPA seems to run that "
    "kernel."
)
CAUSAL = (
    "At {length:,} tokens {device} takes about as long with a causal mask as without it: about half of the pairs are masked, but "
    "that saves no time here."
)


def setting_finding(timings: Iterable[Timing]) -> str:
    """Returns the fastest setting of a device, a GPU if one has several, and the slowest that differs in one thing, if any does.

    The settings are compared by one implementation, at the longest length at which all of them have a time: roughly, if one of
    two times is unstable.
    """
    groups: dict[tuple[str, str], list[Timing]] = {}
    for timing in sorted(comparison.with_times(timings), key=lambda timing: timing.device == "cpu"):
        groups.setdefault((timing.origin, timing.implementation), []).append(timing)
    for group in groups.values():
        settings = comparison.settings(group)
        at: dict[int, list[Timing]] = {}
        for timing in group:
            at.setdefault(timing.length, []).append(timing)
        common = [length for length, found in at.items() if len(found) == len(settings)]
        if len(settings) > 1 and common and (said := _sentence(at[max(common)], at[min(common)])):
            return said
    return ""


def settings_of_cpu(timings: Iterable[Timing]) -> str:
    """Returns the only settings with which a CPU was timed, if a GPU was with others; otherwise empty."""
    timed = comparison.with_times(timings)
    cpu, gpu = ([t for t in timed if (t.device == "cpu") is of_cpu] for of_cpu in (True, False))
    settings = {comparison.setting(timing): setting_text(timing, timed) for timing in cpu}
    if not cpu or all(comparison.setting(timing) in settings for timing in gpu):
        return ""
    return f"At these sizes a CPU was timed only with {' and '.join(dict.fromkeys(settings.values()))}."


def alike_masks(timings: Iterable[Timing]) -> str:
    """Returns what it means if a device takes about as long with and without a causal mask; empty if none does.

    Each code and precision is judged at its longest length with stable times of both masks.
    """
    timed: dict[tuple, dict[str, Timing]] = {}
    timings = [
        each for each in comparison.with_times(timings) if not (each.queries or each.window)
    ]  # half of all pairs
    for timing in (timing for timing in timings if timing.settled):
        key = replace(timing.case, mask="full"), timing.origin
        timed.setdefault(key, {})[timing.mask] = timing
    longest: dict[tuple, tuple[Timing, Timing]] = {}
    for a, b in sorted(
        (found.values() for found in timed.values() if len(found) > 1), key=lambda pair: min(t.length for t in pair)
    ):
        longest[replace(a.case, mask="full", length=0), a.origin] = a, b
    alike = [a for a, b in longest.values() if times(max(a.seconds, b.seconds) / min(a.seconds, b.seconds)) == ALIKE]
    last = max(alike, key=lambda timing: timing.length, default=None)
    if last is None:
        return ""
    precision = f" in {last.dtype}" if len({timing.dtype for timing in timings}) > 1 else ""
    return CAUSAL.format(length=last.length, device=f"{machine_in_sentence(last)}{precision}")


def alike_kernel(timings: Iterable[Timing]) -> str:
    """Returns with which kernel of its own PyTorch's SDPA takes the same time at every length, so that their lines coincide."""
    found = lines(comparison.with_times(timings))
    for whole in found.values():
        for other in found.values():
            one, kernel = whole[0], other[0].implementation
            is_like = (one.origin, comparison.setting(one)) == (other[0].origin, comparison.setting(other[0]))
            if one.implementation != SDPA or not kernel.startswith(f"{SDPA} ") or not is_like:
                continue
            ratios = [point.ratio for point in comparison.speed_ups(whole, other)]
            if len(ratios) > 1 and max(*ratios, *(1 / ratio for ratio in ratios)) < SAME:
                return KERNEL.format(kernel=kernel, device=machine_in_sentence(one))
    return ""


def _time(timing: Timing) -> float:
    return timing.seconds


def _sentence(found: list[Timing], shortest: list[Timing]) -> str:
    """The sentence about the fastest timing of one length, and the slowest that differs from it in one thing; empty if none does.

    `shortest`: the timings of the shortest length, at which another one may be faster.
    """
    first = min(found, key=_time)
    others = [each for each in found if len(axes_text(each, [first, each])) == 1]
    if not others:
        return ""
    other = max(others, key=_time)
    taken = seconds(first.seconds)
    if not first.settled:
        taken = f"at most {taken}" if first.is_bound else f"roughly {seconds(float(f'{first.seconds:.2g}'))}"
    unit = "keys" if first.queries else "tokens"
    longer = f"{_as_long(other, first)} with {setting_text(other, [first, other])}"
    said = f"{machine_in_sentence(first)} takes {taken} with {setting_text(first, found)}, and {longer}"
    return " ".join(filter(None, [f"At {first.length:,} {unit} {said}.", _before(other, first, shortest)]))


def _before(timing: Timing, first: Timing, shortest: list[Timing]) -> str:
    """That the device is faster with a setting than with the first one at the shortest length; empty if it isn't."""
    of = {comparison.setting(each): each for each in shortest}
    there, other = of[comparison.setting(timing)], of[comparison.setting(first)]
    ratio, unit = times(other.seconds / there.seconds), "keys" if first.queries else "tokens"
    is_faster = there.settled and other.settled and other.seconds > NOTABLE * there.seconds
    what, than = (setting_text(each, [first, timing]) for each in (timing, first))
    return f"At {there.length:,} {unit} it is {ratio} times as fast with {what} as with {than}." if is_faster else ""


def _as_long(timing: Timing, first: Timing) -> str:
    ratio = timing.seconds / first.seconds
    more, roughly = times(ratio), "" if timing.settled and first.settled else "roughly "
    is_alike = more == ALIKE or (bool(roughly) and ratio < NOTABLE)
    return "about as long" if is_alike else f"{roughly}{more} times as long"
