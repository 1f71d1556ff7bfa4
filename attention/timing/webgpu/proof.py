"""Input that Python and JavaScript make bit for bit alike, and the exact result that kernels are compared with.

A counter is hashed to 32 bits (the mixing steps of MurmurHash3 by Austin Appleby), and eleven bits of the hash make a
number. These are exact in float16 too.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

STRIDE = 0x9E3779B9  # between the streams of queries, keys and values


def uniforms(count: int, stream: int, device: str = "cpu") -> Tensor:
    """Returns numbers from -2 to 2 in steps of 1/512, in float64: those of `browser/webgpu/input.js` for a stream."""
    x = (torch.arange(count, device=device) + (stream * STRIDE & 0xFFFFFFFF)) & 0xFFFFFFFF
    x = _multiply(x ^ (x >> 16), 0x85EBCA6B)
    x = _multiply(x ^ (x >> 13), 0xC2B2AE35)
    x = x ^ (x >> 16)
    return ((x >> 21) - 1024).double() / 512


def _multiply(x: Tensor, factor: int) -> Tensor:
    """Multiplies modulo 2^32, in two halves, as a product of 64 bits does not fit into int64."""
    low, high = x * (factor & 0xFFFF), x * (factor >> 16) & 0xFFFF
    return (low + (high << 16)) & 0xFFFFFFFF


def inputs(
    heads: int, kv_heads: int, length: int, d_head: int, device: str = "cpu", queries: int = 0
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns queries (h q d), keys and values (g n d) in float64; q is n unless `queries` is given."""
    sizes = ((heads, queries or length, d_head), (kv_heads, length, d_head), (kv_heads, length, d_head))
    q, k, v = (uniforms(math.prod(size), stream, device).reshape(size) for stream, size in enumerate(sizes, 1))
    return q, k, v


def exact_outputs(q: Tensor, k: Tensor, v: Tensor, ahead: int, back: int, rows: list[int] | None = None) -> Tensor:
    """Returns attention in float64 (h r d), of these rows or of all: a key k is visible from k - ahead to k + back.

    The queries are the last tokens.
    """
    at = torch.arange(q.shape[1], device=q.device) if rows is None else torch.tensor(rows, device=q.device)
    keys, token = torch.arange(k.shape[1], device=q.device), at[:, None] + k.shape[1] - q.shape[1]
    seen = (keys <= token + ahead) & (token <= keys + back)
    group = q.shape[0] // k.shape[0]
    k, v = (x.repeat_interleave(group, 0) for x in (k, v))
    scores = q[:, at] @ k.transpose(1, 2) / math.sqrt(q.shape[2])
    return scores.masked_fill(~seen, -math.inf).softmax(-1) @ v


def reach(mask: str, length: int, span: int) -> tuple[int, int]:
    """Returns how many keys ahead of a query and back from it are visible."""
    return {"full": (length, length), "causal": (0, length), "window": (0, span - 1), "local": (span - 1, span - 1)}[
        mask
    ]
