"""Chooses the reader of a file by its first bytes, and by the ending of its name if several kinds begin alike."""

from __future__ import annotations

import struct

from attention.array_files import numpy_file, safe_file, zip_file
from attention.array_files.arrays import LARGEST, Arrays
from attention.array_files.limits import DataError
from attention.imported import torch_file

ARRAYS = ("safetensors", "npz", "npy", "pt", "pth")  # endings of files of arrays
TORCH = ("pt", "pth")
TOKENS = ("json", "txt")
ZIP = b"PK"
PICKLED = b"\x80"  # first byte of a pickle
OLD = "It is a pickle, which is not read, or a file of PyTorch before 1.6: load it and save it again with a current version."
KINDS = "Supported: .safetensors, .npz, .npy and .pt (tensors only)."


def arrays(data: bytes, name: str, most: int = LARGEST, torch_files: bool = True) -> Arrays:
    """Returns the arrays of a file; raises DataError. `torch_files`: whether files of PyTorch are allowed."""
    seen, ending = memoryview(data), name.rpartition(".")[2].casefold()
    if not data:
        raise DataError("It is empty.")
    if data[:6] == numpy_file.MAGIC:
        return numpy_file.read_one(seen, name, most)
    if ending in TORCH or _is_legacy_pickle(data):
        if not torch_files:
            raise DataError("PyTorch files are switched off on this server. Save it as .safetensors or .npz.")
        if _is_legacy_pickle(data):
            raise DataError(OLD)
    if data[:2] == ZIP:
        return (
            torch_file.read_torch_file(data, name, most) if ending in TORCH else numpy_file.read_many(data, name, most)
        )
    if ending == "safetensors" or _safe(data):
        return safe_file.read_safetensors(seen, name, most)
    if ending in ("npz", "npy", "pt", "pth"):
        raise DataError(f"It does not start like a .{ending} file: it is another kind of file, or damaged. {KINDS}")
    raise DataError(f"This kind of file is not supported. {KINDS}")


def unpacked_size(data: bytes, most: int = LARGEST) -> int:
    """Returns the bytes of a file once it is unpacked, as stated by its directory; raises DataError if they exceed `most`."""
    return max(len(data), sum(member.size for member in zip_file.members(data, most))) if data[:2] == ZIP else len(data)


def _is_legacy_pickle(data: bytes) -> bool:
    """Whether a file is a pickle without a zip around it, as PyTorch wrote before 1.6."""
    return data[:1] == PICKLED and not _safe(data)


def _safe(data: bytes) -> bool:
    """Whether a file begins as a .safetensors does."""
    return len(data) > 9 and struct.unpack("<Q", data[:8])[0] <= safe_file.HEADER and data[8:9] == b"{"
