"""All weights of every head, not one row: how often each size occurs, and how spread out every row is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention.heads import row_entropy

LEAST, BINS = -8, 40  # from 1e-8 to 1, five bins a power of ten


@dataclass(frozen=True, eq=False)
class Distribution:
    """The weights of all pairs that the mask lets through.

    `counts (h p)`: pairs whose weight lies in each of `BINS` bins, evenly wide in log10 from 1e-8 to 1; `below (h)`:
    pairs with less than that, but not zero; `zero (h)`: pairs whose weight is zero in float32; `entropy (h q)` in nats;
    `seen (q)`: keys that a query may look at; `bound (q)`: the greatest entropy that so many keys can have.
    """

    counts: Int[Tensor, "h p"]
    below: Int[Tensor, " h"]
    zero: Int[Tensor, " h"]
    entropy: Float[Tensor, "h q"]
    seen: Int[Tensor, " q"]
    bound: Float[Tensor, " q"]


def distribution(weights: Float[Tensor, "h q k"], mask: Bool[Tensor, "q k"], below_one: bool = False) -> Distribution:
    """The distribution of every head, head by head, so that memory stays at one head's size.

    `below_one`: rows may sum to less than one, as with one added to the denominator.
    """
    seen = mask.sum(-1)
    each = [_bin_counts(head, int(seen.sum())) for head in weights]
    counts, below, zero = (torch.stack(parts) for parts in zip(*each, strict=True))
    entropy = torch.stack([row_entropy(head) for head in weights])
    return Distribution(counts, below, zero, entropy, seen, max_entropy(seen, below_one))


def max_entropy(seen: Int[Tensor, " q"], below_one: bool) -> Float[Tensor, " q"]:
    """The greatest -sum p ln p of this many weights: ln n, when all are 1/n.

    Where they may sum to less than one, one or two weights have more with 1/e each, where -p ln p is greatest.
    """
    even = seen.clamp(min=1).double().log()
    return torch.where((seen < 3) & below_one, seen / math.e, even).float()


def _bin_counts(head: Float[Tensor, "q k"], pairs: int) -> tuple[Tensor, Tensor, Tensor]:
    """Counts, pairs below the bins and pairs of zero of one head; what the mask hides is zero and counts nowhere."""
    logs = head.flatten().log10()
    counts = torch.histc(logs, BINS, LEAST, 0).long()
    below = (logs < LEAST).sum() - (head == 0).sum()
    return counts, below, pairs - counts.sum() - below


def edges() -> list[float]:
    """The borders of the bins, as weights."""
    return [10 ** (LEAST * (1 - i / BINS)) for i in range(BINS + 1)]
