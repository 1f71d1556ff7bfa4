"""What distances add to the scores: ALiBi by the paper and as public models have it, and T5's buckets.

A function gets positions of queries and keys, which broadcast, the number of a head, and the number of heads. It computes in
float32, or in the dtype of heads that are floating-point numbers.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

BUCKETS, FARTHEST = 32, 128  # of every T5: buckets, and the distance from which on all keys share the last one


def alibi(
    q: Int[Tensor, ...], k: Int[Tensor, ...], head: Int[Tensor, ...] | Float[Tensor, ...], heads: int
) -> Float[Tensor, ...]:
    """A penalty that grows with distance, with a different slope in each head (Press et al. 2022, ALiBi, section 3).

    The slope of head i (from 0) is 2 ** (-8 (i + 1) / heads); the distance counts on both sides of the query.
    """
    return -(2.0 ** (-8.0 * _real(head + 1) / heads)) * (q - k).abs()


def alibi_bloom(
    q: Int[Tensor, ...], k: Int[Tensor, ...], head: Int[Tensor, ...] | Float[Tensor, ...], heads: int
) -> Float[Tensor, ...]:
    """ALiBi with the slopes of BLOOM and of the authors' code, which differ if the number of heads is no power of two.

    The first heads have the slopes of the largest power of two P within `heads`, the others every second slope of 2 P.
    """
    power, head = 2 ** (heads.bit_length() - 1), _real(head)
    steepness = torch.where(head < power, 8 * (head + 1) / power, 4 * (2 * (head - power) + 1) / power)
    return -(2.0**-steepness) * (q - k).abs()


def bucket_edges(buckets: int) -> tuple[int, ...]:
    """Returns the least distance of each bucket but the first: one per distance for half of them, then logarithmic."""
    exact = buckets // 2
    beyond = (exact * (FARTHEST / exact) ** (step / (buckets - exact)) for step in range(1, buckets - exact))
    return *range(1, exact + 1), *(math.ceil(distance - 1e-9) for distance in beyond)


def bucket_of(distance: Int[Tensor, ...], buckets: int) -> Float[Tensor, ...]:
    """Returns the bucket of each distance of one side, looked up: many times as fast as to compute each."""
    edges = torch.tensor(bucket_edges(buckets), device=distance.device)
    table = torch.bucketize(torch.arange(FARTHEST + 1, device=distance.device), edges, right=True).float()
    return table.index_select(0, distance.clamp(0, FARTHEST).flatten()).view(distance.shape)


def t5_bucket(q: Int[Tensor, ...], k: Int[Tensor, ...], causal: bool) -> Float[Tensor, ...]:
    """Returns the bucket of each pair (Raffel et al. 2020, T5, section 2.1, and its code).

    If not `causal`, keys after the query have buckets of their own, the second half; else they share that of distance zero.
    """
    if causal:
        return bucket_of(q - k, BUCKETS)
    return bucket_of((q - k).abs(), BUCKETS // 2) + BUCKETS // 2 * (k > q)


def t5(
    q: Int[Tensor, ...], k: Int[Tensor, ...], head: Int[Tensor, ...] | Float[Tensor, ...], heads: int
) -> Float[Tensor, ...]:
    """A number for each of 32 buckets of distances, learned in T5 (Raffel et al. 2020, section 2.1); made up here.

    Both sides of a query have 16 buckets. Each takes 2 ** (-4 (i + 1) / heads) from the scores of head i more than the one
    before it, where a model would have learned its own numbers.
    """
    return _fall(bucket_of((q - k).abs(), BUCKETS // 2), head, heads)


def t5_causal(
    q: Int[Tensor, ...], k: Int[Tensor, ...], head: Int[Tensor, ...] | Float[Tensor, ...], heads: int
) -> Float[Tensor, ...]:
    """T5's bias in its decoder: all 32 buckets are for keys before the query, so that distances count more finely."""
    return _fall(bucket_of(q - k, BUCKETS), head, heads)


def _fall(bucket: Float[Tensor, ...], head: Int[Tensor, ...] | Float[Tensor, ...], heads: int) -> Float[Tensor, ...]:
    """Returns the made-up numbers of the buckets: one more step down for each."""
    return -(2.0 ** (-4.0 * _real(head + 1) / heads)) * bucket


def _real(head: Tensor) -> Tensor:
    return head if head.is_floating_point() else head.float()
