"""A file by what it begins with, whatever its name says: which reader it gets. Names end in what they mean to be."""

from __future__ import annotations

import struct

from attention.brought import numpy_file, safe_file, torch_file
from attention.brought.arrays import LARGEST, Arrays
from attention.brought.fitting import BroughtError

ARRAYS = ("safetensors", "npz", "npy", "pt", "pth")  # what files of arrays end in
TOKENS = ("json", "txt")
ZIP = b"PK"
PICKLED = b"\x80"  # what a file of torch before version 1.6 begins with, and any pickle
KINDS = "These are read: .safetensors, .npz, .npy and, with tensors alone, .pt."


def arrays(data: bytes, name: str, most: int = LARGEST, torch_files: bool = True) -> Arrays:
    """What a file of this name has; raises BroughtError. `torch_files`: may a process be started that reads a .pt?"""
    seen, ending = memoryview(data), name.rpartition(".")[2].casefold()
    if not data:
        raise BroughtError("It is empty.")
    if data[:6] == numpy_file.MAGIC:
        return numpy_file.read_one(seen, name, most)
    if pickled(data, name):
        if not torch_files:
            raise BroughtError(
                "The owner of this host has switched files of PyTorch off. Save it as .safetensors or .npz."
            )
        return torch_file.read(seen, name, most)
    if data[:2] == ZIP:
        return numpy_file.read_many(seen, name, most)
    if ending == "safetensors" or _safe(data):
        return safe_file.read(seen, name, most)
    if ending in ("npz", "npy", "pt", "pth"):
        raise BroughtError(f"It does not begin as a .{ending} does: it is of another kind, or damaged. {KINDS}")
    raise BroughtError(f"It is of no kind that is read. {KINDS}")


def unpacked(data: bytes, name: str, most: int = LARGEST) -> int:
    """Bytes of a file once it is unpacked, as far as it says so itself; raises BroughtError where an .npz has too many."""
    if data[:2] != ZIP:
        return len(data)
    try:
        return max(len(data), numpy_file.unpacked(data, most))
    except BroughtError:
        if pickled(data, name):  # its own process knows better what is wrong with it
            return len(data)
        raise


def pickled(data: bytes, name: str) -> bool:
    """Is it a file of PyTorch, which is read in a process of its own?"""
    ending = name.rpartition(".")[2].casefold()
    return (ending in ("pt", "pth") and data[:2] == ZIP) or (data[:1] == PICKLED and not _safe(data))


def _safe(data: bytes) -> bool:
    """Does it begin as a .safetensors does?"""
    return len(data) > 9 and struct.unpack("<Q", data[:8])[0] <= safe_file.HEADER and data[8:9] == b"{"
