"""What each timing is called wherever timings are shown."""

from __future__ import annotations

from collections.abc import Iterable

from attention.timing.recordings.timing import Timing

AXES = {"dtype": "", "mask": "", "passes": "", "batching": "", "heads": "heads ", "d_head": "d_head "}


def labels(timings: Iterable[Timing]) -> dict[Timing, str]:
    """What each timing is called wherever it is shown: this is the only place where such a name is made.

    Implementation, device, whether it was recorded, and of the other axes those on which the timings differ. Where all
    were measured here and on one device, `place` says so once for all of them.
    """
    timings = list(timings)
    varied = [name for name in AXES if len({getattr(timing, name) for timing in timings}) > 1]
    origins = ["origin"] if not place(timings) else []
    return {timing: _label(timing, [*origins, *varied]) for timing in timings}


def _label(timing: Timing, varied: list[str]) -> str:
    return " · ".join([timing.implementation, *(f"{AXES.get(name, '')}{getattr(timing, name)}" for name in varied)])


def place(timings: Iterable[Timing]) -> str:
    """The one device on which all of these were measured here; empty where there are several, or any was recorded."""
    timings = list(timings)
    origins = {timing.origin for timing in timings}
    return origins.pop() if len(origins) == 1 and not any(timing.source for timing in timings) else ""


def lines(timings: Iterable[Timing]) -> dict[str, list[Timing]]:
    """The timings that belong to one line of a chart, by the line's label and in order of length."""
    found: dict[str, list[Timing]] = {}
    for timing, label in labels(timings).items():
        found.setdefault(label, []).append(timing)
    return {label: sorted(line, key=lambda timing: timing.length) for label, line in found.items()}
