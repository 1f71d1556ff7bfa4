"""Tensors as a file that any library for safetensors opens: a header of JSON, then their bytes as they are.

The length of the header in 8 bytes, little-endian; of each tensor its dtype, shape, first byte and the one after its last.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import torch
from torch import Tensor

NAMES = {torch.float32: "F32", torch.float16: "F16"}
EDGE = 8  # bytes: the header is filled up with spaces to a multiple of it


def safetensors(tensors: Mapping[str, Tensor], about: Mapping[str, str]) -> bytes:
    """The file of some tensors, with what is to be said about them; raises KeyError for other dtypes than float32 and float16."""
    header: dict[str, object] = {"__metadata__": dict(about)}
    parts, at = [], 0
    for name, tensor in tensors.items():
        part = tensor.detach().contiguous().numpy().tobytes()
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [at, at + len(part)]}
        parts.append(part)
        at += len(part)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % EDGE)
    return b"".join([len(text).to_bytes(8, "little"), text, *parts])
