"""Timings with made-up numbers, for tests of what is done with timings; nothing of this is ever shown."""

from __future__ import annotations

from typing import Any

from attention.timing.recordings import Timing

CASE = {
    "implementation": "SDPA", "device": "cpu", "dtype": "float32", "mask": "full", "passes": "forward",
    "batch": 1, "heads": 8, "d_head": 64, "length": 64,
}  # fmt: skip
PLACE = {
    "device_name": "Test CPU, 2 cores", "system": "Linux 1 x86_64", "torch": "2.13.0", "precision": "highest",
    "threads": 2, "when": "2026-01-31T12:00:00+00:00",
    "operations": 1e9, "traffic": 1e7, "peak_operations": 1e12, "peak_traffic": 1e11,
}  # fmt: skip
GPU = {"device": "cuda:0", "device_name": "Test GPU"}


def make_timing(length: int = 64, median: float = 1.0, spread: float = 0.0, **more: Any) -> Timing:
    """A timing with quartiles at `spread` times the median to either side."""
    times = {"median": float(median), "lower": median * (1 - spread), "upper": median * (1 + spread), "repeats": 9}
    return Timing(**{**CASE, **PLACE, "length": length, **times, "settled": True, "first": 2.0 * median, **more})


def lowest(
    length: int = 64, quickest: float = 1.0, repeated: float | None = 1.0, load: float = 1.0, **more: Any
) -> Timing:
    """A timing of now, whose quickest came again `repeated` times as long; a busy machine made its median `load` times that."""
    again = None if repeated is None else quickest * repeated
    times = {
        "quickest": quickest,
        "repeated": again,
        "lower": quickest,
        "upper": quickest * load,
        "visits": 6,
        "quiet": 2,
    }
    return make_timing(length, quickest * load, **{**times, **more})


def failed_timing(length: int = 64, error: str = "out of memory: 9 GiB", **more: Any) -> Timing:
    """A timing that came to nothing."""
    return Timing(**{**CASE, **PLACE, "length": length, "error": error, **more})


def line(lengths: list[int], medians: list[float], spread: float = 0.0, **more: Any) -> list[Timing]:
    """Timings of one implementation on one device."""
    return [make_timing(n, median, spread, **more) for n, median in zip(lengths, medians, strict=True)]
