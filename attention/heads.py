"""What a head does, in numbers.

Every function takes the weights of all heads `(h q k)` and gives one number a head, `(h)`. To add one: write it, and
put its name and unit into `NUMBERS`, and its field into `Profile`; the table follows. Rows that see nothing count in no
mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

Weights = Float[Tensor, "h q k"]
PerHead = Float[Tensor, "h"]


class Number(NamedTuple):
    """A number about a head: how it is computed, what it is called, its unit, and its formula."""

    of: Callable[[Weights], PerHead]
    label: str
    unit: str
    formula: str


@dataclass(frozen=True, eq=False)
class Profile:
    """The numbers of every head, each `(h)`, in the order of `NUMBERS`."""

    entropy: PerHead
    entropy_share: PerHead
    greatest: PerHead
    distance: PerHead
    first: PerHead
    previous: PerHead


def profile(weights: Float[Tensor, "h q k"]) -> Profile:
    """The numbers of every head from its weights `(h q k)`, which may be a tensor of your own."""
    if weights.ndim != 3:
        raise ValueError(f"weights of shape {tuple(weights.shape)} are not (heads, queries, keys).")
    each = weights.split(1) or [weights]  # head by head: what fits a cache is read once from memory, not once a number
    return Profile(**{name: torch.cat([number.of(head) for head in each]) for name, number in NUMBERS.items()})


def seeing(weights: Weights) -> Bool[Tensor, "h q"]:
    """Which rows see anything?"""
    return (weights > 0).any(-1)


def row_entropy(weights: Float[Tensor, "*q k"]) -> Float[Tensor, "*q"]:
    """Entropy of each row in nats (Clark et al. 2019, section 3.2, without their smoothing): -sum p ln p."""
    return torch.special.entr(weights).sum(-1)


def entropy(weights: Weights) -> PerHead:
    """Mean entropy of the rows, in nats."""
    return _mean(row_entropy(weights), seeing(weights))


def entropy_share(weights: Weights) -> PerHead:
    """Mean over the rows of entropy over the most it could be, ln of the keys with weight, where these are several."""
    choices = (weights > 0).sum(-1)
    share = row_entropy(weights) / choices.clamp(min=2).to(weights.dtype).log()
    return _mean(share, choices > 1)


def greatest(weights: Weights) -> PerHead:
    """Mean over the rows of the greatest weight: the confidence of Voita et al. 2019, section 3."""
    return _mean(weights.amax(-1), seeing(weights))


def distance(weights: Weights) -> PerHead:
    """Mean distance between query and key in tokens, weighted by attention (Vig & Belinkov 2019, section 4.2)."""
    queries, keys = weights.shape[-2:]
    at = torch.arange(max(queries, keys), device=weights.device)
    apart = (at[:queries, None] - at[None, :keys]).abs().to(weights.dtype)
    return _mean((weights * apart).sum(-1), seeing(weights))


def first(weights: Weights) -> PerHead:
    """Mean weight on the first token: the attention sink of Xiao et al. 2023, section 3.1."""
    return _mean(weights[..., 0], seeing(weights))


def previous(weights: Weights) -> PerHead:
    """Mean weight on the token just before, over the queries that have one (Olsson et al. 2022: previous-token)."""
    if weights.shape[-2] < 2:
        return weights.new_zeros(weights.shape[0])
    return _mean(weights.diagonal(-1, -2, -1), seeing(weights)[:, 1 : weights.shape[-1] + 1])


def _mean(rows: Float[Tensor, "h q"], counted: Bool[Tensor, "h q"]) -> PerHead:
    """Mean over the rows that count; 0 where none does."""
    return torch.where(counted, rows, 0).sum(-1) / counted.sum(-1).clamp(min=1)


NUMBERS: dict[str, Number] = {
    "entropy": Number(entropy, "Entropy", "nats", "mean over queries of -sum p ln p"),
    "entropy_share": Number(entropy_share, "Share of most", "", "mean of entropy / ln(keys with weight)"),
    "greatest": Number(greatest, "Greatest", "", "mean over queries of max p"),
    "distance": Number(distance, "Distance", "tokens", "mean over queries of sum p |q - k|"),
    "first": Number(first, "On first", "", "mean over queries of p at key 0"),
    "previous": Number(previous, "On previous", "", "mean over queries of p at key q - 1"),
}
assert tuple(NUMBERS) == tuple(field.name for field in fields(Profile))
