"""Results of the Timing page, except measurements."""

from __future__ import annotations

from functools import cache

from attention.timing import devices as timed
from attention.timing import recordings
from attention.timing.recordings import Timing
from attention.timing.sweep import Sweep, is_like


@cache
def devices() -> dict[str, str]:
    """The devices of this machine: name by key."""
    return {found.key: found.name for found in timed.devices()}


def shipped_timings() -> list[Timing]:
    """The timings that ship with the app, except files that cannot be read."""
    return _load_shipped()[0]


def unreadable_recordings() -> list[str]:
    """A message for each shipped file that cannot be read."""
    return _load_shipped()[1]


@cache
def _load_shipped() -> tuple[list[Timing], list[str]]:
    lost: list[str] = []
    return recordings.shipped_recordings(lost), lost


def recorded_like(sweep: Sweep) -> list[Timing]:
    """The shipped timings that match a sweep in all but lengths, implementations and devices."""
    return [timing for timing in shipped_timings() if is_like(timing, sweep)]


def recording(data: bytes, name: str) -> list[Timing]:
    """The timings in a visitor's file; raises RecordingError."""
    return recordings.read_recording(data, name)
