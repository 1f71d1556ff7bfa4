"""A message to the browser: a header and bytes, and how numbers in it are rounded.

`opened` in components/browser/message.js takes the message apart, and has the keys of every header.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


def frame_message(header: dict[str, Any], parts: Iterable[bytes | memoryview]) -> bytes:
    """u32 length of the header, JSON header, padding to 4 bytes, then the parts as they are; little-endian.

    Raises ValueError for a header with a number that JSON doesn't know.
    """
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    return b"".join([struct.pack("<I", len(text)), text, bytes(-len(text) % 4), *parts])


def turns(first: int, last: int) -> Float[Tensor, " t"]:
    """The least float32 from which on three digits are the next ones, all of those from 10 ** `first` to 10 ** `last`.

    Nine hundred a decade, ascending.
    """
    halves = torch.arange(100, 1000, dtype=torch.float64) + 0.5  # from these on the next three digits are nearer
    exact = torch.cat([halves * 10.0**power for power in range(first - 2, last - 2)])
    single = exact.float()
    return (single.view(torch.int32) + (single.double() < exact).int()).view(torch.float32)
