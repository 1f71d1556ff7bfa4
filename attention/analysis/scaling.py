"""Why scores are divided by the square root of d_head: statistics of logits and weights on inputs of unit variance.

Queries and keys are independent standard normal noise, as in the argument of Vaswani et al. 2017 (section 3.2.1,
footnote 4): q·k has mean zero and variance d_head. Everything is seeded, computed in float64 and without a mask; the
results depend only on the number of keys and on d_head.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from attention.heads import row_entropy
from attention.inputs import make_generator

WIDTHS = tuple(2**i for i in range(11))  # 1 to 1024
QUERIES = 32  # maximum number per sequence
FEWEST, MOST, LOGITS = (16, 256, 2**18)  # sequences, and about the maximum number of logits per width


@dataclass(frozen=True)
class Point:
    """Statistics of one d_head under one scale, over all sampled rows.

    `variance` of the logits and its standard `error`; means over the rows of `entropy` in nats, of the largest weight
    (`greatest`), and of `jacobian`, the Frobenius norm of the softmax's Jacobian, whose `median` is given too.
    """

    d_head: int
    scale: float
    variance: float
    error: float
    entropy: float
    greatest: float
    jacobian: float
    median: float


def dots(keys: int, d_head: int, seed: int = 0) -> Float[Tensor, "s q k"]:
    """Returns dot products of unit-variance queries and keys, for sequences that are sampled independently.

    Rows of one sequence share its keys, so a standard error must be computed over the sequences s, not over all products.
    """
    rows = min(keys, QUERIES)
    sequences = max(FEWEST, min(MOST, LOGITS // (rows * keys)))
    random = make_generator(seed)
    q = torch.randn(sequences, rows, d_head, generator=random)
    k = torch.randn(sequences, keys, d_head, generator=random)
    return torch.stack([a.double() @ b.double().T for a, b in zip(q, k, strict=True)])


def point(products: Float[Tensor, "s q k"], d_head: int, scale: float) -> Point:
    """Returns the statistics of these dot products times a scale (divided by the temperature, if there is one)."""
    logits = products * scale
    each = logits.square().mean((-2, -1))  # their mean is known: zero
    weights = logits.softmax(-1)
    norms = jacobian_norm(weights).flatten()
    return Point(
        d_head=d_head,
        scale=scale,
        variance=float(each.mean()),
        error=float(each.std() / len(each) ** 0.5),
        entropy=float(row_entropy(weights).mean()),
        greatest=float(weights.amax(-1).mean()),
        jacobian=float(norms.mean()),
        median=float(norms.median()),
    )


def jacobian_norm(weights: Float[Tensor, "*b k"]) -> Float[Tensor, "*b"]:
    """Returns the Frobenius norm of the softmax's Jacobian, J = diag(p) - p pᵀ: |J|² = Σp² - 2Σp³ + (Σp²)².

    It measures how much of a gradient passes back through the row. That difference cancels if one weight is nearly one, so
    the equal sum over cells is computed, Σ_i p_i² (1 - p_i)² + 2 Σ_{i<j} p_i² p_j².
    """
    squares = weights.square()
    own = (squares * (1 - weights).square()).sum(-1)
    before = F.pad(squares.cumsum(-1), (1, -1))
    return (own + 2 * (squares * before).sum(-1)).sqrt()


def sweep(keys: int, width: int, seed: int = 0) -> tuple[Point, Point]:
    """Returns the statistics of one d_head without scaling, and divided by its square root."""
    products = dots(keys, width, seed)
    return point(products, width, 1.0), point(products, width, width**-0.5)
