"""A file to try the page with: the two layers of heads that were built by hand, as somebody would save a model's."""

from __future__ import annotations

import json

from attention.imported import safe_file
from attention.recorded.shipped import recording

NAME, OF = "two_layers.safetensors", "two-layers"


def sample_file() -> bytes:
    """The file."""
    found = recording(OF)
    tensors = {f"layers.{at}.{part}": getattr(found, part)[at] for at in range(len(found.q)) for part in ("q", "k")}
    said = {"title": "Two layers by hand", "what": found.what, "tokens": list(found.tokens)}
    said |= {name: found.own[name] for name in ("mask", "scale")}
    return safe_file.write_safetensors(tensors, {name: json.dumps(value) for name, value in said.items()})
