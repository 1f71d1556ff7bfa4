"""Named arrays of a file, before their roles are known, and the limits of their number and size.

Readers state what a file contains from its header alone. They allocate memory only after the sizes have been checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from attention.array_files.deadline import check_deadline
from attention.array_files.limits import DataError

ARRAYS = 1024  # per file: 128 layers of queries, keys, values and weights are half as many
AXES = 6  # per array: layers, batch, heads, queries, keys, and one to spare
LARGEST = 2**28  # bytes of all arrays of a file, unpacked
LONGEST = 10**18  # upper limit of the size of an axis, before sizes are multiplied
NAME = 200  # characters of a name
SHOWN = 60  # characters of a name in a sentence
TYPES: dict[str, tuple[torch.dtype, int]] = {  # by name in a header: type that is read, bytes per number
    "F16": (torch.float16, 2),
    "BF16": (torch.bfloat16, 2),
    "F32": (torch.float32, 4),
    "F64": (torch.float64, 8),
    "BOOL": (torch.bool, 1),
    "I8": (torch.int8, 1),
    "U8": (torch.uint8, 1),
    "I16": (torch.int16, 2),
    "I32": (torch.int32, 4),
    "I64": (torch.int64, 8),
}


Content = Callable[[int], memoryview]  # returns the first bytes, up to a number, and unpacks on request


@dataclass(frozen=True, eq=False)
class Array:
    """An array that has not been read: its type in `TYPES`, its shape, and a function that returns its bytes.

    `strides`: numbers from one index of an axis to the next, () for contiguous row-major order; `first`: index of the
    first number; `big`: whether numbers are big-endian; `negative`: whether the sign is flipped.
    """

    type: str
    shape: tuple[int, ...]
    content: Content
    strides: tuple[int, ...] = ()
    first: int = 0
    big: bool = False
    negative: bool = False

    def tensor(self) -> Tensor:
        """Returns the numbers, copied or as a view of the unpacked bytes."""
        check_deadline()
        dtype, size = TYPES[self.type]
        data = self.content(self.end * size)
        if self.big and size > 1:
            data = memoryview(bytearray(np.frombuffer(data, f">u{size}").astype(f"<u{size}").tobytes()))
        data = bytearray(data) if data.readonly else data
        numbers = torch.frombuffer(data, dtype=torch.uint8 if self.type == "BOOL" else dtype)
        numbers = numbers.as_strided(self.shape, self.strides or row_major(self.shape), self.first)
        numbers = numbers != 0 if self.type == "BOOL" else numbers
        return -numbers if self.negative else numbers

    def square(self) -> Tensor:
        """Returns the first matrix of the last two axes, and unpacks nothing after its end."""
        strides = (self.strides or row_major(self.shape))[-2:]
        return replace(self, shape=self.shape[-2:], strides=strides).tensor()

    @property
    def end(self) -> int:
        """The index after the last number."""
        strides = self.strides or row_major(self.shape)
        return self.first + 1 + sum((size - 1) * stride for size, stride in zip(self.shape, strides, strict=True))


@dataclass(frozen=True, eq=False)
class Arrays:
    """The contents of a file: arrays by name in its order, `texts` of tokens by name, and metadata as `said`.

    `unknown`: names of all other objects, with their kinds.
    """

    called: str
    arrays: Mapping[str, Array]
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    said: Mapping[str, str] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)


def within(data: memoryview) -> Content:
    """Returns the content of an array that is stored unpacked."""
    return lambda most: data[:most]


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the strides of an array whose last axis is the fastest."""
    return tuple(math.prod(shape[at + 1 :]) for at in range(len(shape)))


def short(name: str) -> str:
    """Returns a name from a file as it appears in a sentence: quoted, and cut."""
    return repr(name if len(name) <= SHOWN else f"{name[: SHOWN - 1]}…")


def bytes_of(name: str, kind: str, shape: tuple[int, ...]) -> int:
    """Returns the bytes of an array; raises DataError if its name, type or shape is not allowed."""
    if len(name) > NAME:
        raise DataError(f"An array has a name of {len(name):,} characters; {NAME} are allowed.")
    if kind not in TYPES:
        raise DataError(f"{short(name)} is of type {short(kind)}; these are read: {', '.join(TYPES)}.")
    if len(shape) > AXES:
        raise DataError(f"{short(name)} has {len(shape):,} axes; {AXES} are read at the most.")
    if any(type(size) is not int or not 0 <= size < LONGEST for size in shape):
        raise DataError(f"{short(name)} has sizes that are not whole numbers from 0 on.")
    size = math.prod(shape) * TYPES[kind][1]
    if size > LARGEST:
        raise DataError(f"{short(name)} is said to have {size:,} bytes; {LARGEST:,} are read at the most.")
    if not size:
        raise DataError(f"{short(name)} is empty: its sizes are {shape}.")
    return size


def bearable(sizes: Mapping[str, int], most: int = LARGEST) -> None:
    """Raises DataError if there are no arrays, too many of them, or too many bytes."""
    if not sizes:
        raise DataError("It has no arrays.")
    if len(sizes) > ARRAYS:
        raise DataError(f"There are {len(sizes):,} arrays in it; {ARRAYS:,} are read at the most.")
    if sum(sizes.values()) > most:
        raise DataError(f"Its arrays have {sum(sizes.values()):,} bytes; {most:,} are read at the most here.")
