"""Measures the peak rates of the hardware, and counts the operations and bytes of a case.

Only computed matrix products are counted, a multiplication and an addition as one operation each; the softmax is not counted.
A forward pass of attention is two products, 4 b h n² d operations. Its backward pass is five products if a fused kernel
recomputes the scores, which is 2.5 times the forward pass, 3.5 times for both (Dao 2023, FlashAttention-2, section 4.1), and
four products if the weights were kept, 3 times for both. A mask leaves fewer than n² pairs, a causal one n (n + 1) / 2, if the
implementation skips the others, and changes nothing if it does not. A layer adds 2 b n (h d)² for each of its linear maps, and
three times that with the backward pass. Traffic is the minimum that must be moved: every input and every output once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from attention.timing import devices, stopwatch
from attention.timing.implementations import Implementation
from attention.timing.sweep import Case

SIDES = (256, 512, 1024, 2048, 4096, 8192)  # of square matrices; small products fit between disturbances
COPIED = 2**27  # bytes on a CPU, larger than its caches; eight times as many on an accelerator
PATIENCE = 1.0  # approximate seconds to measure both peaks of a device


@dataclass(frozen=True)
class Peaks:
    """The largest measured rates: operations per second of a matrix product, and bytes per second of a copy."""

    matmul: float
    copy: float


def operations(case: Case, how: Implementation) -> float:
    """Floating-point operations of one call, by the convention of this module."""
    n, width, visible = case.length, case.heads * case.d_head, case.visible
    learns = case.passes != "forward"
    skips = how.skips(case.device.partition(":")[0], visible, learns)
    pairs = visible.pairs if skips else visible.queries * visible.keys
    heads, _ = how.used(case.heads)
    passes = (3.5 if how.recomputes else 3) if learns else 1
    square = 4 * case.batch * heads * pairs * case.d_head * passes
    maps = 2 * how.maps * case.batch * n * width * heads * case.d_head * (3 if learns else 1)
    return float(square + maps)


def traffic(case: Case, how: Implementation) -> float:
    """Minimum bytes that one call must move: q, k, v and the output once each, and the weights that it returns.

    Keys and values that no query attends to are not counted. The backward pass also reads these and the output's gradient,
    and writes three gradients. For a layer, x and the output are moved, four maps are read, and all of their gradients are
    written.
    """
    visible = case.visible
    queries, keys = case.heads * visible.queries, case.key_heads * visible.keys_read
    learns = case.passes != "forward"
    heads, squares = how.used(case.heads)
    maps = how.maps * case.heads * case.d_head * heads * case.d_head
    moved = (5 if learns else 2) * queries if how.layer else (6 if learns else 2) * (queries + keys)
    vectors = moved * case.batch * case.d_head + (2 if learns else 1) * maps
    weights = case.batch * squares * visible.queries * visible.keys if how.weights else 0
    return float((vectors + weights) * size(case.dtype))


def size(dtype: str) -> int:
    """Bytes of one number."""
    return devices.DTYPES[dtype].itemsize


def peaks(device: str, dtype: str, threads: int, patience: float = PATIENCE) -> Peaks:
    """Measures the device's peaks in this dtype: the best block of the best size, not the data sheet's figures."""

    def best(run: Callable[[], object]) -> float:
        return min(stopwatch.samples(run, patience / 6, threads, stopwatch.clock(device)))

    return Peaks(_matmul(device, devices.DTYPES[dtype], best, patience / 20), _copy(device, best))


def _matmul(device: str, dtype: torch.dtype, best: Callable[[Callable], float], longest: float) -> float:
    reached = 0.0
    for side in SIDES:
        a, b = (torch.randn(side, side, device=device).to(dtype) for _ in range(2))
        taken = best(lambda a=a, b=b: a @ b)
        reached = max(reached, 2 * side**3 / taken)
        if taken > longest:
            break
    return reached


def _copy(device: str, best: Callable[[Callable], float]) -> float:
    count = COPIED * (1 if device == "cpu" else 8)
    source = torch.ones(count, dtype=torch.uint8, device=device)
    target = torch.ones_like(source)
    return 2 * count / best(lambda: target.copy_(source))


def memory(case: Case, how: Implementation) -> float:
    """Estimates the bytes that a case holds at once: its inputs, its results, and its n x n matrices per head."""
    learns, visible = case.passes != "forward", case.visible
    squares = how.squares * case.batch * case.heads * visible.queries * visible.keys * (2 if learns else 1)
    tokens = case.heads * visible.queries + case.key_heads * visible.keys
    vectors = case.batch * tokens * case.d_head * (6 if learns else 2.5)
    mask = 0 if visible.all_pairs else visible.queries * visible.keys  # one byte per pair, if a mask is made
    return float((squares + vectors) * size(case.dtype) + mask * (how.squares > 0 or not visible.is_causal))
