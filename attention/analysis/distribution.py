"""The distribution of all weights of every head: a histogram of their sizes and the entropy of every row."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention.heads import row_entropy

LEAST, BINS = -8, 40  # from 1e-8 to 1, five bins per power of ten


@dataclass(frozen=True, eq=False)
class Distribution:
    """The distribution of the weights of all visible pairs.

    `counts (h p)`: number of pairs per bin, for `BINS` bins of equal width in log10 from 1e-8 to 1; `below (h)`: number
    of pairs with a smaller weight that is not zero; `zero (h)`: number of pairs whose weight is zero in float32;
    `entropy (h q)` in nats; `seen (q)`: number of visible keys; `bound (q)`: the largest entropy of a row with that many
    visible keys. Negative weights are counted by their size; `negative (h)` is their number, None if there are none.
    """

    counts: Int[Tensor, "h p"]
    below: Int[Tensor, " h"]
    zero: Int[Tensor, " h"]
    entropy: Float[Tensor, "h q"]
    seen: Int[Tensor, " q"]
    bound: Float[Tensor, " q"]
    negative: Int[Tensor, " h"] | None = None


def distribution(weights: Float[Tensor, "h q k"], mask: Bool[Tensor, "q k"], below_one: bool = False) -> Distribution:
    """Returns the distribution of every head. Computes one head at a time to bound the memory.

    `below_one`: rows may sum to less than one, as with one added to the denominator.
    """
    seen = mask.sum(-1)
    each = [_bin_counts(head.abs(), int(seen.sum())) for head in weights]
    counts, below, zero = (torch.stack(parts) for parts in zip(*each, strict=True))
    entropy = torch.stack([row_entropy(head) for head in weights])
    negative = torch.stack([(head < 0).sum() for head in weights])
    some = negative if negative.any() else None
    return Distribution(counts, below, zero, entropy, seen, max_entropy(seen, below_one), some)


def max_entropy(seen: Int[Tensor, " q"], below_one: bool) -> Float[Tensor, " q"]:
    """Returns the largest -sum p ln p of n weights: ln n, when all are 1/n.

    If they may sum to less than one, one or two weights reach a larger value with 1/e each, the maximum of -p ln p.
    """
    even = seen.clamp(min=1).double().log()
    return torch.where((seen < 3) & below_one, seen / math.e, even).float()


def _bin_counts(head: Float[Tensor, "q k"], pairs: int) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the counts, the pairs below the bins and the zero pairs of one head. Masked pairs are not counted."""
    logs = head.flatten().log10()
    counts = torch.histc(logs, BINS, LEAST, 0).long()
    below = (logs < LEAST).sum() - (head == 0).sum()
    return counts, below, pairs - counts.sum() - below


def edges() -> list[float]:
    """Returns the edges of the bins, as weights."""
    return [10 ** (LEAST * (1 - i / BINS)) for i in range(BINS + 1)]
