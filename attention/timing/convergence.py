"""Explains in words which times are not stable, why, and how busy the machine was."""

from __future__ import annotations

import re
from collections.abc import Iterable

from attention.timing.history import VISITS
from attention.timing.recordings import Timing
from attention.timing.stopwatch import BAND

BUSY = 0.1  # share of disturbed visits from which a machine is reported as busy
WAY_OUT = "Measure again at a quieter time, with a larger time budget or fewer cases{}."
COUNTS = {0: "in a first try alone", 1: "once", 2: "twice"}  # how often a case was visited, for several calls each time
OPEN = "unstable times"  # what the open marks of a chart are
ONCE, FEW = "unstable, timed once", "unstable, timed once or twice"  # if all of them have this reason
ONLY_ONCE = "unstable: timed once", "unstable: timed in a first try", "unstable: timed 1 time,"
STABLE = "All its times are stable nevertheless: each was measured at idle moments, too."
ALONE = ", or with one CPU thread, which never waits for another thread"


def reason(timing: Timing) -> str:
    """Why the time of a timing is not stable, in a few words; empty if it is stable."""
    if timing.settled:
        return ""
    return f"unstable: {_apart(timing) if timing.quickest is None else _missing(timing)}"


def short_reason(said: str) -> str:
    """A `reason` in a line that fits beside a mark."""
    return re.sub(r" within.*|, and.*", "", said).replace(": the ", ": ")


def word(timing: Timing) -> str:
    """That a time is not stable, in a word or two; empty if it is stable."""
    said, _, why = reason(timing).partition(": ")
    few, within, _ = why.partition(" within")
    return f"{said}, {few}" if within else said


def open_marks(reasons: Iterable[str]) -> str:
    """What the open marks of a chart are, in a few words, from the reasons of its times; empty if all times are stable."""
    found = [*filter(None, reasons)]
    if all(each.startswith(ONLY_ONCE) for each in found):
        return ONCE if found else ""
    return FEW if all(each.startswith("unstable: timed ") for each in found) else OPEN


def _missing(timing: Timing) -> str:
    if timing.visits < VISITS:
        return f"timed {COUNTS[timing.visits]} within the time budget, not {VISITS} times"
    if timing.repeated is None:
        return f"the machine was busy in {timing.visits - timing.quiet} of {timing.visits} visits"
    return f"the three fastest visits are {timing.repeated / (timing.quickest or timing.seconds) - 1:.0%} apart"


def _apart(timing: Timing) -> str:
    """The reason for an old recording, which has quartiles only."""
    found = timing.spread
    if not found.has_quartiles:
        return f"timed {timing.repeats} time{'s' * (timing.repeats != 1)}, and quartiles need {BAND}"
    return f"the quartiles are {(found.upper - found.lower) / found.median:.0%} of the median apart"


def disturbance_sentences(timings: Iterable[Timing]) -> list[str]:
    """One sentence for each device that was busy during the visits, with the consequence, and a remedy if it was measured now."""
    found: dict[str, list[Timing]] = {}
    for timing in timings:
        if timing.error is None and timing.quickest is not None:
            found.setdefault(timing.origin, []).append(timing)
    return [said for origin, there in found.items() if (said := _disturbance_sentence(origin, there))]


def _share(part: float) -> str:
    return "over 99%" if 0.995 <= part < 1 else f"{part:.0%}"


def _disturbance_sentence(origin: str, timings: list[Timing]) -> str:
    visits, quiet = (sum(getattr(timing, name) for timing in timings) for name in ("visits", "quiet"))
    loose = sum(not timing.settled for timing in timings)
    if not visits or visits - quiet < BUSY * visits:
        return ""
    alone = ALONE * any(timing.device == "cpu" and timing.threads > 1 for timing in timings)
    rest = f"{loose} of its {len(timings)} cases at these settings are unstable: their times are upper bounds."
    rest += "" if timings[0].source else f" {WAY_OUT.format(alone)}"
    share, rest = _share(1 - quiet / visits), rest if loose else STABLE
    return f"Other programs also ran on {origin} during {share} of its measurements. {rest}"
