"""A header and bytes as one message to the browser; `opened` in components/canvas.js takes it apart."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from typing import Any


def framed(header: dict[str, Any], parts: Iterable[bytes | memoryview]) -> bytes:
    """u32 length of the header, JSON header, padding to 4 bytes, then the parts as they are; little-endian.

    Raises ValueError for a header with a number that JSON doesn't know.
    """
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    return b"".join([struct.pack("<I", len(text)), text, bytes(-len(text) % 4), *parts])
