"""The example file of the upload page: two hand-built layers, saved as those of a model would be."""

from __future__ import annotations

import json

from attention.array_files import safe_file
from attention.recorded.shipped import recording

NAME, OF = "two_layers.safetensors", "two-layers"


def sample_file() -> bytes:
    """Returns the bytes of the file."""
    found = recording(OF)
    tensors = {f"layers.{at}.{part}": getattr(found, part)[at] for at in range(len(found.q)) for part in ("q", "k")}
    said = {"title": "Two layers by hand", "what": found.what, "tokens": list(found.tokens)}
    said |= {name: found.own[name] for name in ("mask", "scale")}
    return safe_file.write_safetensors(tensors, {name: json.dumps(value) for name, value in said.items()})
