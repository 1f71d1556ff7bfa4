"""Code of a mask that is no rule, with the visible keys of each query as ranges: a mask_mod and a dense tensor.

A test runs both programs and compares the masks.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import torch.nn.functional as F
from jaxtyping import Bool
from torch import Tensor

from attention.steps.file_program import FILE

LINES = 400  # maximum number in a program


def mask_mod(mask: Bool[Tensor, "q k"]) -> str:
    """Returns a program with the mask as `mask_mod`, and attention that skips masked blocks."""
    queries, keys = mask.shape
    return (
        "import torch\n"
        "from torch.nn.attention.flex_attention import create_block_mask, flex_attention\n\n"
        f"{_table(mask)}\n"
        "def mask_mod(b, h, q_idx, kv_idx):\n"
        "    return mask[q_idx, kv_idx]\n\n"
        f"def attention(query, key, value):  # (batch, heads, {queries} or {keys}, d_head); mask on the same device\n"
        f"    block_mask = create_block_mask(mask_mod, None, None, {queries}, {keys}, device=query.device)\n"
        "    return flex_attention(query, key, value, block_mask=block_mask)\n"
    )


def dense(mask: Bool[Tensor, "q k"]) -> str:
    """Returns a program with the mask as `mask (queries keys)`, True for visible pairs."""
    queries, keys = mask.shape
    return (
        "import torch\n"
        "from torch.nn.functional import scaled_dot_product_attention\n\n"
        f"{_table(mask)}\n"
        f"def attention(query, key, value):  # (batch, heads, {queries} or {keys}, d_head)\n"
        "    return scaled_dot_product_attention(query, key, value, attn_mask=mask)\n"
    )


def _table(mask: Bool[Tensor, "q k"]) -> str:
    """Returns the lines that build `mask`, one per run of queries with the same visible keys.

    If there are more than `LINES`, returns code that loads it from a file.
    """
    lines = [f"mask = torch.zeros({mask.shape[0]}, {mask.shape[1]}, dtype=torch.bool)"]
    for first, last, row in _alike(mask):
        for start, stop in _ranges(row):
            lines.append(f"mask[{first}:{last}, {start}:{stop}] = True")
    if len(lines) > LINES:
        return f'import numpy as np\n\nmask = torch.from_numpy(np.load("{FILE}")["mask"])  # under Downloads on Heads\n'
    return "\n".join(lines) + "\n"


def _alike(mask: Bool[Tensor, "q k"]) -> Iterator[tuple[int, int, Tensor]]:
    """Yields runs of queries with the same visible keys: the first, the one after the last, and their row."""
    new = [0, *((mask[1:] != mask[:-1]).any(1).nonzero()[:, 0] + 1).tolist(), len(mask)]
    return ((first, last, mask[first]) for first, last in pairwise(new))


def _ranges(row: Bool[Tensor, " k"]) -> list[tuple[int, int]]:
    """Returns the visible keys of a query, as the first and the one after the last of each run."""
    edges = F.pad(row.int(), (1, 1)).diff().nonzero()[:, 0].tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))
