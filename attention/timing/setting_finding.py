"""One sentence on how the settings of one device differ in time, such as two masks or two dtypes."""

from __future__ import annotations

from collections.abc import Iterable

from attention.timing import comparison
from attention.timing.answers import setting_text
from attention.timing.cpu_gpu_summary import times
from attention.timing.line_names import machine_in_sentence
from attention.timing.recordings import Timing
from attention.timing.units import seconds

ALIKE = "1"  # times as long, rounded


def setting_finding(timings: Iterable[Timing]) -> str:
    """Returns the fastest and the slowest setting of a device, a GPU if one has several; empty if no device has several.

    They are compared by one implementation, at the longest length at which all of them have stable times.
    """
    stable = [timing for timing in comparison.with_times(timings) if timing.settled]
    groups: dict[tuple[str, str], list[Timing]] = {}
    for timing in sorted(stable, key=lambda timing: timing.device == "cpu"):
        groups.setdefault((timing.origin, timing.implementation), []).append(timing)
    for group in groups.values():
        settings = {comparison.setting(timing) for timing in group}
        at: dict[int, list[Timing]] = {}
        for timing in group:
            at.setdefault(timing.length, []).append(timing)
        common = [length for length, found in at.items() if len(found) == len(settings)]
        if len(settings) > 1 and common:
            return _sentence(sorted(at[max(common)], key=lambda timing: timing.seconds))
    return ""


def _sentence(ordered: list[Timing]) -> str:
    """The sentence about timings of one length, the fastest first."""
    first, last = ordered[0], ordered[-1]
    most = times(last.seconds / first.seconds)
    as_long = "about as long" if most == ALIKE else f"{most} times as long"
    return (
        f"At {first.length:,} tokens {machine_in_sentence(first)} takes {seconds(first.seconds)} with "
        f"{setting_text(first, ordered)}, and {as_long} with {setting_text(last, ordered)}."
    )
