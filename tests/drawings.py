"""A small message of every drawing in components/browser, made as the app makes it."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import torch

from attention import Config, trace
from attention.analysis.mask_gallery import gallery
from attention.analysis.weighted_values import weighted_values
from attention.components import heads_grid, large_head, mask_gallery, matrices, row_output, word_lines
from attention.steps.values import values
from attention.wire import cells, matrix_cells

SIDE = 6
SMALL = Config(tokens=SIDE, heads=2, d_model=8, mask="full")


def grid(shift: int, config: Config = SMALL) -> bytes:
    """Heads that look so far back alone, the first keys at the last."""
    weights = torch.eye(SIDE).roll(-shift, 1).expand(config.heads, SIDE, SIDE)
    return heads_grid.message(config, cells.cells(weights, torch.ones(SIDE, SIDE, dtype=torch.bool), 64), height=300)


@cache
def messages() -> dict[str, bytes]:
    """By the name of the module that draws it."""
    names = ["q", "k", "scores"]
    weights, mask = torch.eye(SIDE)[None], torch.ones(SIDE, SIDE, dtype=torch.bool)
    steps = matrix_cells.encode_steps(SMALL, values(SMALL), names)
    return {
        "heads_grid": grid(1),
        "large_head": large_head.message(SMALL, cells.cells(weights, mask, 64), (0, 0)),
        "mask_gallery": mask_gallery.payload(SMALL, gallery(SIDE, 2, 1)),
        "matrices": matrices.message(SMALL, dict(zip(names, steps, strict=True))),
        "row_output": row_output.message(SMALL, weighted_values(trace(SMALL), 0, 3)),
        "word_lines": word_lines.message(SMALL, cells.cells(weights, mask, SIDE)),
    }


def header(message: bytes) -> dict[str, Any]:
    """What a message says beside its bytes."""
    length = int.from_bytes(message[:4], "little")
    return json.loads(message[4 : 4 + length])
