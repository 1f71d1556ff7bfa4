"""Weights and gradients of the package entmax 1.3; `python -m tests.softmax_references` writes them to a file.

The tests compare with that file, so that they don't need the package.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch

from tests.strategies import normal

FILE = Path(__file__).with_name("softmax_references.json")
SHAPES = ((3, 5, 1.0), (4, 33, 2.0), (2, 128, 6.0))  # rows, keys, and the standard deviation of the logits


def reference_inputs(rows: int, keys: int, size: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The logits of some rows, and what their weights are multiplied by for the gradient."""
    logits, factors = (normal(keys + at, rows, keys, dtype=torch.float64) for at in range(2))
    return logits * size, factors


if __name__ == "__main__":
    from entmax import entmax15, sparsemax  # pyright: ignore[reportMissingImports]  not among the requirements

    found = []
    for shape in SHAPES:
        for name, function in (("sparsemax", sparsemax), ("entmax-1.5", entmax15)):
            logits, factors = reference_inputs(*shape)
            weights = function(logits.requires_grad_(), dim=-1)
            (weights * factors).sum().backward()
            part = {"softmax": name, "shape": shape, "weights": weights.tolist(), "gradient": logits.grad.tolist()}
            found.append(json.dumps(part, separators=(",", ":")))
    FILE.write_text("[\n" + ",\n".join(found) + "\n]\n")
