"""Maps the tensors of a .safetensors file into memory: pages are read when they are used, and can be dropped again.

Only for files whose SHA-256 was checked, or that this app has written; `array_files.safe_file` reads others.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable, Iterable
from math import prod
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import torch
from torch import Tensor

LENGTH = 8  # bytes that state the length of the header
ALIGNED = 64  # the numbers begin at a multiple of this
TYPES = {"F32": torch.float32, "I64": torch.int64}


def cache_folder() -> Path:
    """Returns the folder of what this app computes once for a user: it need not exist."""
    return Path(os.environ.get("XDG_CACHE_HOME", "") or os.path.expanduser("~/.cache")) / "attention-lab"


def map_tensors(path: Path) -> dict[str, Tensor]:
    """Returns the tensors of a file by name; raises ValueError if the file is incomplete."""
    size = path.stat().st_size
    whole = torch.from_file(str(path), shared=False, size=size, dtype=torch.uint8)
    (length,) = struct.unpack("<Q", whole[:LENGTH].numpy().tobytes())
    header = json.loads(whole[LENGTH : LENGTH + length].numpy().tobytes())
    header.pop("__metadata__", None)
    first = LENGTH + length
    if first + max(entry["data_offsets"][1] for entry in header.values()) != size:
        raise ValueError(f"{path.name} is incomplete.")
    return {name: _tensor(whole[first:], entry) for name, entry in header.items()}


def _tensor(numbers: Tensor, entry: dict[str, Any]) -> Tensor:
    """Returns the tensor at a place; a copy if that is not a multiple of the size of its numbers."""
    begins, ends = entry["data_offsets"]
    dtype, part = TYPES[entry["dtype"]], numbers[begins:ends]
    aligned = part.storage_offset() % dtype.itemsize == 0
    return (part if aligned else part.clone()).view(dtype).view(entry["shape"])


def write_tensors(
    path: Path, shapes: dict[str, tuple[int, ...]], tensors: Iterable[Tensor], hear: Callable[[float], object]
) -> None:
    """Writes float32 tensors, made one at a time, to a file; others see all of it or nothing. Raises OSError.

    `hear` is called with the share that is done.
    """
    ends = [0]
    for shape in shapes.values():
        ends.append(ends[-1] + 4 * prod(shape))
    header = {
        name: {"dtype": "F32", "shape": shape, "data_offsets": ends[at : at + 2]}
        for at, (name, shape) in enumerate(shapes.items())
    }
    packed = json.dumps(header).encode()
    packed += b" " * (-(LENGTH + len(packed)) % ALIGNED)
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, delete=False) as file:
        try:
            file.write(struct.pack("<Q", len(packed)) + packed)
            for end, tensor in zip(ends[1:], tensors, strict=True):
                file.write(tensor.contiguous().numpy().data)
                hear(end / ends[-1])
            file.close()
            os.replace(file.name, path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
