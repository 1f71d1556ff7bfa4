"""What the Timing page asks, apart from measuring."""

from __future__ import annotations

from functools import cache

from attention.timing import devices as timed
from attention.timing import recordings
from attention.timing.recordings import Timing


@cache
def devices() -> dict[str, str]:
    """The devices of this machine, name by key."""
    return {found.key: found.name for found in timed.devices()}


@cache
def shipped() -> list[Timing]:
    """The recordings that ship with the app."""
    return recordings.shipped()


def recording(data: bytes, name: str) -> list[Timing]:
    """The timings of a visitor's file; raises RecordingError."""
    return recordings.read(data, name)
