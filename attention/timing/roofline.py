"""What the hardware could do at best, and what a case asks of it.

What is counted are the products that are computed, a multiplication and an addition each one operation; the softmax is
not counted. A forward pass of attention is two products, 4 b h n² d. Its backward pass is five where a fused kernel
computes the scores again, 2.5 times its forward, so that both are 3.5 times it (Dao 2023, FlashAttention-2, section 4.1);
it is four where the weights were kept, so that both are 3 times it. A causal mask leaves n (n + 1) / 2 of the n² pairs
where the implementation skips the rest, and changes nothing where it does not. A layer adds 2 b n (h d)² for each of its
maps, three times that with the backward pass. Traffic is the least that must move: every input and every output once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from attention.timing import devices, stopwatch
from attention.timing.implementations import Implementation
from attention.timing.sweep import Case

SIDES = (256, 512, 1024, 2048, 4096, 8192)  # of square matrices to multiply; the small ones fit into a moment alone
COPIED = 2**27  # bytes on a CPU, beyond its caches; eight times that on an accelerator
PATIENCE = 1.0  # seconds for both peaks of a device, about


@dataclass(frozen=True)
class Peaks:
    """The best that was measured: operations a second of a matrix product, bytes a second moved by a copy."""

    matmul: float
    copy: float


def operations(case: Case, how: Implementation) -> float:
    """Floating-point operations of one call, by the convention of this module."""
    n, width = case.length, case.heads * case.d_head
    learns = case.passes != "forward"
    skips = case.mask == "causal" and how.skips(case.device.partition(":")[0], n, learns)
    pairs = n * (n + 1) / 2 if skips else n * n
    heads, _ = how.used(case.heads)
    passes = (3.5 if how.recomputes else 3) if learns else 1
    square = 4 * case.batch * heads * pairs * case.d_head * passes
    maps = 2 * how.maps * case.batch * n * width * heads * case.d_head * (3 if learns else 1)
    return float(square + maps)


def traffic(case: Case, how: Implementation) -> float:
    """Bytes that one call must move at the least: q, k, v and the output once each, and the weights it returns.

    The backward pass reads these and the output's gradient and writes three gradients. For a layer, x and the output
    are moved and four maps are read, and all of their gradients written.
    """
    tokens = case.batch * case.length * case.heads * case.d_head
    learns = case.passes != "forward"
    heads, squares = how.used(case.heads)
    maps = how.maps * case.heads * case.d_head * heads * case.d_head
    moved = (5 if learns else 2) if how.layer else (12 if learns else 4)
    vectors = moved * tokens + (2 if learns else 1) * maps
    weights = case.batch * squares * case.length**2 if how.weights else 0
    return float((vectors + weights) * size(case.dtype))


def size(dtype: str) -> int:
    """Bytes of one number."""
    return devices.DTYPES[dtype].itemsize


def peaks(device: str, dtype: str, threads: int, patience: float = PATIENCE) -> Peaks:
    """The device's peaks in this dtype, measured here and now: the best block of the best size, not a data sheet's."""

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
    """Bytes that a case holds at once, counted roughly: its inputs, its results, and its squares of n x n a head."""
    learns = case.passes != "forward"
    squares = how.squares * case.batch * case.heads * case.length**2 * (2 if learns else 1)
    vectors = case.batch * case.heads * case.length * case.d_head * (12 if learns else 5)
    mask = case.length**2 if case.mask == "causal" else 0  # one byte a pair, where one is made
    return float((squares + vectors) * size(case.dtype) + mask * (how.squares > 0))
