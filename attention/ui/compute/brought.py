"""What the page Your data asks: a file as a stack, read where nobody waits for a picture."""

from __future__ import annotations

from attention.brought import opening, token_file
from attention.brought.arrays import LARGEST
from attention.brought.fitting import BroughtError
from attention.brought.reading import Read, Reading, read
from attention.tables.rows import quantity
from attention.ui.budget import BUDGET
from attention.ui.compute.owner import LATER, told
from serving.settings import settings

TIMES = 3  # as much memory as a file's arrays that reading one takes: unpacked, one of them copied, and the stack
SHARE = 0.5  # of all memory that is shared out, for reading one file


def opened(data: bytes, name: str, tokens: tuple[bytes, str] | None, how: Reading) -> Read:
    """The stack of a file of this name, with tokens from another one; raises BroughtError."""
    most = min(LARGEST, int(SHARE * BUDGET.most / TIMES))
    if len(data) > most:
        raise BroughtError(
            f"It has {quantity(len(data), 'B')}; files of up to {quantity(most, 'B')} are read on this host."
        )
    if not BUDGET.room(TIMES * len(data)):
        raise BroughtError(
            "Others need so much memory now that there is none to read it in. Try again in some minutes."
        )
    return told(LATER.submit(_opened, data, name, tokens, how, most), f"Reading {quantity(len(data), 'B')} …")


def _opened(data: bytes, name: str, tokens: tuple[bytes, str] | None, how: Reading, most: int) -> Read:
    arrays = opening.arrays(data, name, most, settings().torch_files)
    return read(arrays, {} if tokens is None else _texts(*tokens), how)


def _texts(data: bytes, name: str) -> dict[str, tuple[str, ...]]:
    if name.casefold().endswith(".json"):
        return token_file.read_json(data)
    lines, words = token_file.read_text(data)
    return {"tokens": lines, "words": words}
