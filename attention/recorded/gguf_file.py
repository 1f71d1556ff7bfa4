"""Reads a GGUF file of version 3 (ggml-org/ggml, docs/gguf.md): its fields, and tensors in three of its number formats.

Only for a file whose SHA-256 was checked.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

TEXT, LIST = 8, 9  # kinds of values; the others are numbers
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
ALIGNED = 32  # tensors begin at a multiple of this
BLOCK = 32  # numbers that share a scale


def _plain(data: np.ndarray) -> np.ndarray:
    return data.view("<f4")


def _q8_0(data: np.ndarray) -> np.ndarray:
    """A scale in float16, then 32 signed bytes."""
    blocks = data.reshape(-1, 2 + BLOCK)
    return blocks[:, :2].copy().view("<f2").astype(np.float32) * blocks[:, 2:].view(np.int8).astype(np.float32)


def _q4_1(data: np.ndarray) -> np.ndarray:
    """A scale and a minimum in float16, then 16 bytes: their low halves are the first 16 numbers, the high ones the rest."""
    blocks = data.reshape(-1, 4 + BLOCK // 2)
    scale, least = blocks[:, :4].copy().view("<f2").astype(np.float32).T[:, :, None]
    return scale * np.concatenate([blocks[:, 4:] & 15, blocks[:, 4:] >> 4], 1).astype(np.float32) + least


# By the number of a format: the bytes of a block, how many numbers it has, and their values.
FORMATS: dict[int, tuple[int, int, Callable[[np.ndarray], np.ndarray]]] = {
    0: (4, 1, _plain),
    3: (20, BLOCK, _q4_1),
    8: (34, BLOCK, _q8_0),
}


@dataclass(frozen=True)
class Place:
    """Where a tensor is: its shape, its number format, and its first byte after the header."""

    shape: tuple[int, ...]
    format: int
    begins: int


class GGUF:
    """The `fields` of a file, and the `places` of its tensors by name; `tensor` unpacks one."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.at = 0
        magic, version, tensors, fields = self._numbers("<4sIQQ")
        if (magic, version) != (b"GGUF", 3):
            raise ValueError(f"{path.name} is not a GGUF file of version 3.")
        self.fields: dict[str, Any] = {self._text(): self._value(*self._numbers("<I")) for _ in range(fields)}
        self.places = dict(self._place() for _ in range(tensors))
        self.begins = -(-self.at // ALIGNED) * ALIGNED

    def tensor(self, name: str) -> Float[Tensor, "..."]:
        """Returns a tensor in float32."""
        place = self.places[name]
        size, many, unpack = FORMATS[place.format]
        count = prod(place.shape) // many * size
        found = np.frombuffer(self.data, np.uint8, count, self.begins + place.begins)
        return torch.from_numpy(unpack(found).reshape(place.shape).copy())

    def _place(self) -> tuple[str, Place]:
        name, (axes,) = self._text(), self._numbers("<I")
        shape = self._numbers(f"<{axes}Q")[::-1]  # the fastest axis is stated first
        return name, Place(shape, *self._numbers("<IQ"))

    def _value(self, kind: int) -> Any:
        if kind == TEXT:
            return self._text()
        if kind == LIST:
            kind, many = self._numbers("<IQ")
            return [self._text() for _ in range(many)] if kind == TEXT else [*self._numbers(f"<{many}{NUMBERS[kind]}")]
        return self._numbers(f"<{NUMBERS[kind]}")[0]

    def _text(self) -> str:
        (length,) = self._numbers("<Q")
        self.at += length
        return self.data[self.at - length : self.at].decode()

    def _numbers(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return found
