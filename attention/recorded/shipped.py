"""The recordings that ship with the app: a name as the link says it, and the file beside this one."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from attention.machine.made_once import made_once
from attention.recorded.file import Recording, Shape, read

SHIPPED = {"two-layers": "two_layers.npz"}
HERE = Path(__file__).parent


@made_once(4)
def recording(name: str) -> Recording:
    """The recording of this name; raises RecordingError where its file is damaged."""
    return read((HERE / SHIPPED[name]).read_bytes(), SHIPPED[name])


@lru_cache(maxsize=64)
def shape(name: str) -> Shape:
    """What the recording has; known without its arrays once it was read."""
    return recording(name).shape
