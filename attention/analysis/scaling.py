"""Why divide by the square root of d_head: what grows with it, measured on inputs of unit variance.

Queries and keys are independent standard normal noise, as in the argument of Vaswani et al. 2017 (section 3.2.1,
footnote 4): q·k has mean zero and variance d_head. All in float64, no mask, seeded; the numbers depend on the number of
keys and on d_head alone.
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
QUERIES = 32  # of one sequence at the most
FEWEST, MOST, LOGITS = (16, 256, 2**18)  # sequences, and logits of one width at about the most


@dataclass(frozen=True)
class Point:
    """One width under one scale, over all rows drawn.

    `variance` of the logits and the standard error of that (`error`); means over the rows of `entropy` in nats, of the
    `greatest` weight, and of `jacobian`, the Frobenius norm of the softmax's Jacobian, with the `median` of that.
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
    """Dot products of unit-variance queries and keys, for sequences drawn independently of each other.

    Rows of one sequence share its keys, so an error must be taken over the sequences s, not over all numbers.
    """
    rows = min(keys, QUERIES)
    sequences = max(FEWEST, min(MOST, LOGITS // (rows * keys)))
    random = make_generator(seed)
    q = torch.randn(sequences, rows, d_head, generator=random)
    k = torch.randn(sequences, keys, d_head, generator=random)
    return torch.stack([a.double() @ b.double().T for a, b in zip(q, k, strict=True)])


def point(products: Float[Tensor, "s q k"], d_head: int, scale: float) -> Point:
    """What becomes of these dot products under a scale (over the temperature, where there is one)."""
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
    """Frobenius norm of the softmax's Jacobian, J = diag(p) - p pᵀ: |J|² = Σp² - 2Σp³ + (Σp²)².

    It is what is left of a gradient on its way back through the row. Where one weight is nearly one that difference
    cancels; computed is the same as a sum over cells, Σ_i p_i² (1 - p_i)² + 2 Σ_{i<j} p_i² p_j².
    """
    squares = weights.square()
    own = (squares * (1 - weights).square()).sum(-1)
    before = F.pad(squares.cumsum(-1), (1, -1))
    return (own + 2 * (squares * before).sum(-1)).sqrt()


def sweep(keys: int, width: int, seed: int = 0) -> tuple[Point, Point]:
    """One width without scaling and divided by the square root of it."""
    products = dots(keys, width, seed)
    return point(products, width, 1.0), point(products, width, width**-0.5)
