"""Reads and writes .safetensors: a header in JSON, then numbers (huggingface/safetensors, README, “Format”).

8 bytes    length of the header, little-endian
header     {"name": {"dtype": "F16", "shape": [2, 3], "data_offsets": [from, to]}, …, "__metadata__": {"word": "text"}}
numbers    the arrays without gaps, at their offsets from the end of the header
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from attention.array_files import bounded_json
from attention.array_files.arrays import ARRAYS, LONGEST, TYPES, Array, Arrays, bearable, bytes_of, short, within
from attention.array_files.bounded_json import JSONError
from attention.array_files.limits import COMMAS, DataError

LENGTH = 8  # bytes that state the length of the header
HEADER = 2**20  # bytes of the header at most
NAMES = 4 * ARRAYS  # different names: of arrays, of their fields and in the metadata
WORDS = "__metadata__"
FIELDS = {"dtype", "shape", "data_offsets"}


def read_safetensors(data: memoryview, called: str, most: int) -> Arrays:
    """Returns the contents of a file; raises DataError. Only the header is read."""
    header, rest = _header(data)
    said = _metadata_texts(header.pop(WORDS, {}))
    sizes = {name: _size(name, entry) for name, entry in header.items()}
    bearable(sizes, most)
    _without_gap({name: tuple(entry["data_offsets"]) for name, entry in header.items()}, sizes, len(rest))
    arrays = {
        name: Array(entry["dtype"], tuple(entry["shape"]), within(rest[slice(*entry["data_offsets"])]))
        for name, entry in header.items()
    }
    return Arrays(called, arrays, said=said)


def _header(data: memoryview) -> tuple[dict[str, Any], memoryview]:
    """Returns the header and the data after it; raises DataError."""
    if len(data) < LENGTH:
        raise DataError(f"It has {len(data)} bytes: that is not a complete .safetensors file.")
    (length,) = struct.unpack("<Q", data[:LENGTH])
    if length > HEADER:
        raise DataError(f"Its header is said to have {length:,} bytes; {HEADER:,} are read at the most.")
    if length > len(data) - LENGTH:
        raise DataError(f"Its header is said to have {length:,} bytes; the file ends after {len(data) - LENGTH:,}.")
    try:
        found = bounded_json.parse(str(data[LENGTH : LENGTH + length], "utf-8"), COMMAS, NAMES)
    except JSONError as error:
        raise DataError(f"Its header has {error}.") from None
    except ValueError:
        raise DataError("Its header is not JSON: this is not a .safetensors file, or a damaged one.") from None
    if not isinstance(found, dict):
        raise DataError("Its header is not a JSON object: this is not a .safetensors file, or a damaged one.")
    return found, data[LENGTH + length :]


def _metadata_texts(words: Any) -> dict[str, str]:
    if not isinstance(words, dict) or not all(isinstance(text, str) for text in words.values()):
        raise DataError("The metadata in its header is not a JSON object of texts.")
    return words


def _size(name: str, entry: Any) -> int:
    """Returns the bytes of an array by its type and shape; raises DataError."""
    if not isinstance(entry, dict) or entry.keys() != FIELDS:
        raise DataError(f"{short(name)} has no dtype, shape and data_offsets in the header, or more than these.")
    if not isinstance(entry["dtype"], str) or not all(
        isinstance(entry[part], list) for part in ("shape", "data_offsets")
    ):
        raise DataError(f"{short(name)} has a dtype, a shape or data_offsets in the header that are none.")
    return bytes_of(name, entry["dtype"], tuple(entry["shape"]))


def _without_gap(places: dict[str, tuple[Any, ...]], sizes: dict[str, int], length: int) -> None:
    """Raises DataError unless the arrays fill the data after the header, one after another."""
    for name, ends in places.items():
        if len(ends) != 2 or any(type(end) is not int or abs(end) > LONGEST for end in ends):
            raise DataError(f"{short(name)} has data_offsets that are not two whole numbers.")
        if ends[1] - ends[0] != sizes[name]:
            raise DataError(
                f"{short(name)} has {sizes[name]:,} bytes by its shape, and {ends[1] - ends[0]:,} by its place."
            )
    end = 0
    for name in sorted(places, key=lambda name: places[name]):
        first, last = places[name]
        if first != end:
            what = "overlaps with the array before it" if first < end else "begins behind a gap"
            raise DataError(f"{short(name)} {what}: it begins at {first:,}, the one before ends at {end:,}.")
        end = last
    if end != length:
        raise DataError(f"Its arrays are said to have {end:,} bytes; there are {length:,} behind the header.")


def write_safetensors(tensors: Mapping[str, Tensor], said: Mapping[str, str]) -> bytes:
    """Returns the bytes of a file with tensors, whose types are in `TYPES`, and metadata."""
    kinds = {dtype: kind for kind, (dtype, _) in TYPES.items()}
    header: dict[str, Any] = {WORDS: dict(said)} if said else {}
    end, numbers = 0, []
    for name, tensor in tensors.items():
        data = tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        header[name] = {
            "dtype": kinds[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [end, end + len(data)],
        }
        end += len(data)
        numbers.append(data)
    packed = json.dumps(header).encode()
    packed += b" " * (-len(packed) % LENGTH)
    return struct.pack("<Q", len(packed)) + packed + b"".join(numbers)
