"""Computes the memory of a model from the headers of its files, before any weights are read.

Every number counts with the four bytes that it takes here, whatever the file stores.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path

from attention.models.packages import ModelError, library

NUMBER = 4  # bytes
KINDS = (".safetensors", ".gguf")
ONLY = "Only .safetensors and .gguf are opened: other files of weights could run code."


def weight_files(folder: Path) -> list[Path]:
    """Returns the weight files of a model, given as a folder or a file; raises ModelError if no file has an allowed format."""
    if folder.is_file() and folder.suffix in KINDS:
        return [folder]
    if not folder.is_dir():
        raise ModelError(f"{folder.name} is not a folder of a model. {ONLY}")
    index = folder / "model.safetensors.index.json"
    whole = folder / "model.safetensors"
    if whole.is_file():
        return [whole]
    found = _indexed_files(index) if index.is_file() else sorted(folder.glob("*.gguf"))[:1]
    if not found or not all(path.is_file() for path in found):
        there = ", ".join(sorted(path.name for path in folder.glob("*.bin"))[:3])
        raise ModelError(f"The model has no file of weights that can be opened{f', but {there}' * bool(there)}. {ONLY}")
    return found


def _indexed_files(index: Path) -> list[Path]:
    """Returns the files that an index names, all in its folder."""
    try:
        names = json.loads(index.read_text("utf-8"))["weight_map"].values()
        return sorted({index.parent / Path(name).name for name in names})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{index.name} is not a list of a model's files.") from error


def in_memory(files: Iterable[Path]) -> int:
    """Returns the bytes that the weights of these files take once they are loaded."""
    return NUMBER * sum(_gguf(path) if path.suffix == ".gguf" else _safetensors(path) for path in files)


def _safetensors(path: Path) -> int:
    """Returns how many numbers a file has by its header; raises ModelError if the file is shorter than that."""
    try:
        with library("safetensors").safe_open(path, "np") as file:  # checks the header, and that the file is as long
            return sum(math.prod(file.get_slice(name).get_shape()) for name in file.keys())  # noqa: SIM118
    except (OSError, library("safetensors").SafetensorError) as error:
        raise ModelError(f"{path.name} is not a complete .safetensors file: {error}.") from error


def _gguf(path: Path) -> int:
    try:
        return sum(int(each.n_elements) for each in library("gguf").GGUFReader(path).tensors)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise ModelError(f"{path.name} is not a complete .gguf file: {error}.") from error


def megabytes(size: int) -> str:
    """Returns a number of bytes as text, in MB or GB."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{max(1, round(size / 1e6)):,} MB"
