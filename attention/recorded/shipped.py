"""The recordings that ship with the app: a name as the link says it, what the reader is told, and the file beside this one."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from attention.recorded.file import Recording, RecordingError, Shape, read_recording
from attention.runtime.tensor_cache import tensor_lru_cache


class Shipped(NamedTuple):
    """A recording's file, and its name for the reader, which fits into the menu; `learned`: of a model that was trained."""

    file: str
    title: str
    learned: bool = True


SHIPPED = {
    "smollm2-repeated": Shipped("smollm2_repeated.npz", "SmolLM2: repeated words"),
    "smollm2-street": Shipped("smollm2_street.npz", "SmolLM2: a tired animal"),
    "smollm2-code": Shipped("smollm2_code.npz", "SmolLM2: Python"),
    "minilm-street": Shipped("minilm_street.npz", "MiniLM: a tired animal"),
    "minilm-code": Shipped("minilm_code.npz", "MiniLM: Python"),
    "two-layers": Shipped("two_layers.npz", "By hand: two layers", learned=False),
}
HERE = Path(__file__).parent
KEPT = 8  # recordings, of 3 MB each in float32 at the most


@tensor_lru_cache(KEPT)
def recording(name: str) -> Recording:
    """The recording of this name; raises RecordingError where its file is damaged or gone."""
    try:
        data = path(name).read_bytes()
    except OSError as error:
        raise RecordingError(f"{SHIPPED[name].file} can't be opened: {error.strerror}") from error
    return read_recording(data, SHIPPED[name].file)


def path(name: str) -> Path:
    """Where the file of this name is."""
    return HERE / SHIPPED[name].file


@lru_cache(maxsize=64)
def shape(name: str) -> Shape:
    """What the recording has; known without its arrays once it was read."""
    return recording(name).shape
