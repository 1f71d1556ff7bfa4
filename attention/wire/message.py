"""A message to the browser: a header and bytes, and how its numbers are rounded.

`openMessage` in components/browser/message.js decodes the message, and lists the keys of every header.
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
    """Returns the header's length as u32, the header as JSON, padding to 4 bytes, then the parts unchanged; little-endian.

    Raises ValueError for a header with a number that JSON does not have.
    """
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    return b"".join([struct.pack("<I", len(text)), text, bytes(-len(text) % 4), *parts])


def turns(first: int, last: int) -> Float[Tensor, " t"]:
    """Returns the smallest float32 numbers with the next three digits, from 10 ** `first` to 10 ** `last`, ascending.

    There are 900 per power of ten.
    """
    halves = torch.arange(100, 1000, dtype=torch.float64) + 0.5  # from these on, the next three digits are nearer
    exact = torch.cat([halves * 10.0**power for power in range(first - 2, last - 2)])
    single = exact.float()
    return (single.view(torch.int32) + (single.double() < exact).int()).view(torch.float32)
