"""Results of the page Your data: a file as a stack, read in threads that no picture waits for."""

from __future__ import annotations

import math

from attention.array_files.arrays import LARGEST
from attention.array_files.deadline import limited
from attention.array_files.limits import DataError
from attention.imported import detect, token_file
from attention.imported.reading import Read, read_stack
from attention.imported.reading_knobs import Reading
from attention.runtime.executors import RankedExecutor
from attention.serving.settings import settings
from attention.tables.rows import quantity
from attention.ui.budget import BUDGET, refusal_sentence
from attention.ui.results.shared import wait_with_spinner, with_memory

TIMES = 2  # memory for reading a file, relative to its arrays: unpacked, and the stack
SHARE = 0.5  # of the memory budget: reading one file
LITTLE = 2**22  # bytes of arrays that are read almost at once
FILES = RankedExecutor("files", 0, 1)  # one at a time, in its own thread
SMALL = RankedExecutor("small files", 0, 1)  # these do not wait for large files of other visitors


def open_upload(data: bytes, name: str, tokens: tuple[bytes, str] | None, how: Reading) -> Read:
    """The stack of a file with this name, with tokens from another file; raises DataError."""
    if len(data) > most():
        raise DataError(f"It has {quantity(len(data), 'B')}; the limit of this server is {quantity(most(), 'B')}.")
    size = detect.unpacked_size(data, most())
    needed = TIMES * size
    if not BUDGET.room(needed):
        why = refusal_sentence("reading this file", needed, BUDGET.free_bytes)
        raise DataError(f"{why} A .safetensors file needs the least memory.")
    lane = SMALL if size <= LITTLE else FILES
    return wait_with_spinner(
        lane.submit(with_memory(needed, _open_file), data, name, tokens, how), f"Reading {quantity(len(data), 'B')} …"
    )


def most() -> int:
    """The maximum number of bytes of arrays, unpacked, that a file may have on this host."""
    return min(LARGEST, int(SHARE * BUDGET.most / TIMES))


def most_tokens(size: int, layers: int, heads: int, kv_heads: int, channels: int) -> tuple[int, int]:
    """The number of tokens of a model that fit into `size` bytes in 16 bits: with q, k and v, and with weights alone."""
    numbers = size // 2
    return numbers // (layers * (heads + 2 * kv_heads) * channels), math.isqrt(numbers // (layers * heads))


def _open_file(data: bytes, name: str, tokens: tuple[bytes, str] | None, how: Reading) -> Read:
    with limited():
        arrays = detect.arrays(data, name, most(), settings().torch_files)
        return read_stack(arrays, {} if tokens is None else _texts(*tokens), how)


def _texts(data: bytes, name: str) -> dict[str, tuple[str, ...]]:
    if name.casefold().endswith(".json"):
        return token_file.read_json(data)
    lines, words = token_file.read_text(data)
    return {"tokens": lines, "words": words}
