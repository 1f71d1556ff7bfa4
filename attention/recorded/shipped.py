"""The recordings that ship with the app: names in links, titles, and the files in this folder."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from attention.recorded.file import Recording, RecordingError, Shape, read_recording
from attention.runtime.tensor_cache import tensor_lru_cache


class Shipped(NamedTuple):
    """The file of a recording, and its title in the menu; `learned`: whether it is of a trained model."""

    file: str
    title: str
    learned: bool = True


SHIPPED = {
    "smollm2-repeated": Shipped("smollm2_repeated.npz", "SmolLM2: repeated words"),
    "smollm2-street": Shipped("smollm2_street.npz", "SmolLM2: a tired animal"),
    "smollm2-code": Shipped("smollm2_code.npz", "SmolLM2: Python"),
    "minilm-street": Shipped("minilm_street.npz", "MiniLM: a tired animal"),
    "minilm-wide": Shipped("minilm_wide.npz", "MiniLM: a wide street"),
    "minilm-river": Shipped("minilm_river.npz", "MiniLM: a river bank"),
    "minilm-account": Shipped("minilm_account.npz", "MiniLM: a bank account"),
    "minilm-code": Shipped("minilm_code.npz", "MiniLM: Python"),
    "two-layers": Shipped("two_layers.npz", "By hand: two layers", learned=False),
}
HERE = Path(__file__).parent
KEPT = 8  # recordings, of at most 3 MB each in float32


@tensor_lru_cache(KEPT)
def recording(name: str) -> Recording:
    """Returns the recording of this name; raises RecordingError if its file is damaged or missing."""
    try:
        data = path(name).read_bytes()
    except OSError as error:
        raise RecordingError(f"{SHIPPED[name].file} can't be opened: {error.strerror}") from error
    return read_recording(data, SHIPPED[name].file)


def path(name: str) -> Path:
    """Returns the path of the file of this name."""
    return HERE / SHIPPED[name].file


@lru_cache(maxsize=64)
def shape(name: str) -> Shape:
    """Returns the sizes of a recording; they stay known after its arrays were dropped."""
    return recording(name).shape
