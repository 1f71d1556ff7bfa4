"""The recordings that ship with the app: names in links, titles, and the files in this folder."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from attention.recorded.file import Recording, RecordingError, Shape, read_recording
from attention.runtime.tensor_cache import tensor_lru_cache


class Shipped(NamedTuple):
    """The file of a recording, and its title in the menu; for a trained model, its name and the text that it has read.

    `opens`: the layer, head and query that are selected when it is chosen, whose row has most of its weight on one other
    token; None for those of every source.
    """

    file: str
    title: str
    model: str = ""
    text: str = ""
    opens: tuple[int, int, int] | None = None

    @property
    def learned(self) -> bool:
        """Whether it is of a trained model."""
        return bool(self.model)

    @property
    def depth(self) -> int:
        """The number of layers of its model, as the name of the model says it; 0 if there is none."""
        found = re.search(r"(\d+) layers\)$", self.model)
        return int(found[1]) if found else 0


STREET = "The animal didn't cross the street because it was too tired."
WIDE = STREET.replace("tired", "wide")
CODE = "def total(rows):\n    return sum(price[row] * (1 + rate(row)) for row in rows)\n"
WORDS = (
    " revert link fertilizer grooves locality late barrel incurred rare queens promise harbors lava whiskey adding popping"
    " mortgages chronology genuine asteroids early guard obvious unpack treatise"
)
TIMES = 3
RIVER = "He sat on the bank of the river."
ACCOUNT = "She opened an account at the bank in town to deposit money."
SMOLLM2 = "SmolLM2-135M-Instruct (a Llama, 30 layers)"  # names in `models.catalogue`
MINILM = "MiniLM (a BERT, 6 layers)"


SHIPPED = {
    "smollm2-repeated": Shipped("smollm2_repeated.npz", "SmolLM2: repeated words", SMOLLM2, WORDS * TIMES, (18, 6, 42)),
    "smollm2-street": Shipped("smollm2_street.npz", "SmolLM2: a tired animal", SMOLLM2, STREET, (13, 8, 5)),
    "smollm2-code": Shipped("smollm2_code.npz", "SmolLM2: Python", SMOLLM2, CODE, (1, 5, 13)),
    "minilm-street": Shipped("minilm_street.npz", "MiniLM: a tired animal", MINILM, STREET, (2, 1, 10)),
    "minilm-wide": Shipped("minilm_wide.npz", "MiniLM: a wide street", MINILM, WIDE, (2, 1, 10)),
    "minilm-river": Shipped("minilm_river.npz", "MiniLM: a river bank", MINILM, RIVER, (0, 4, 5)),
    "minilm-account": Shipped("minilm_account.npz", "MiniLM: a bank account", MINILM, ACCOUNT, (0, 4, 7)),
    "minilm-code": Shipped("minilm_code.npz", "MiniLM: Python", MINILM, CODE, (0, 5, 21)),
    "two-layers": Shipped("two_layers.npz", "By hand: two layers"),
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
