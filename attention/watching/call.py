"""One call of attention, as a model made it, and the weights that follow from it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from attention.attend import scaled_dot_product_attention
from attention.scores import HIDDEN

LOW = -1e4  # what is added to a score that is this low or lower hides it


@dataclass(frozen=True, eq=False)
class Call:
    """Queries, keys and values of one sequence as they met: positions that turn them have turned them.

    `mask (1 or h, q, k)` is True where a query looks, or is added to the scaled scores; None hides nothing. `sinks (h)`: a
    score for each head beside those of the keys, whose weight goes nowhere (gpt-oss). `softcap` 0 leaves scores as they are.
    """

    q: Float[Tensor, "h q d"]
    k: Float[Tensor, "g k d"]
    v: Float[Tensor, "g k e"]
    scale: float
    mask: Tensor | None = None
    softcap: float = 0.0
    sinks: Float[Tensor, " h"] | None = None

    @property
    def plain(self) -> bool:
        """Do q, k, and which pairs take part, say all? Else something is added to the scores, or heads see different keys."""
        shared = self.mask is None or (self.mask.dtype == torch.bool and len(self.mask) == 1)
        return shared and self.sinks is None

    @property
    def square(self) -> Bool[Tensor, "q k"] | None:
        """Which pairs take part in any head; None for all."""
        if self.mask is None:
            return None
        seen = self.mask if self.mask.dtype == torch.bool else self.mask > LOW
        return seen.any(0).expand(self.q.shape[1], self.k.shape[1])

    def weights(self) -> Float[Tensor, "h q k"]:
        """The weights of every head, in float32; a query that sees nothing has none."""
        q, k, mask, keys = self.q.float(), self.k.float(), self.mask, self.k.shape[1]
        if self.sinks is not None:  # a key of zeros, whose score is what is added to it
            k = F.pad(k, (0, 0, 0, 1))
            mask = torch.cat([_added(mask, q, keys), self.sinks.float()[:, None, None].expand(-1, q.shape[1], 1)], -1)
        elif mask is not None and mask.dtype != torch.bool:
            mask = mask.float()
        nothing = k.new_zeros(*k.shape[:2], 1)
        with torch.no_grad():
            found = scaled_dot_product_attention(
                q, k, nothing, mask, scale=self.scale, enable_gqa=True, softcap=self.softcap or None
            ).weights
        return found[..., :keys]


def _added(mask: Tensor | None, q: Float[Tensor, "h q d"], keys: int) -> Float[Tensor, "h q k"]:
    """A mask of any kind as numbers that are added."""
    if mask is None:
        return q.new_zeros(*q.shape[:2], keys)
    if mask.dtype == torch.bool:
        mask = torch.zeros(mask.shape).masked_fill_(~mask, HIDDEN)
    return mask.float().expand(*q.shape[:2], keys)


def tidied(mask: Tensor | None) -> Tensor | None:
    """A mask as truths where it only hides; None where it hides nothing and adds nothing."""
    if mask is None:
        return None
    if mask.dtype != torch.bool:
        seen = mask > LOW
        if mask[seen].any():
            return mask
        mask = seen
    return None if mask.all() else mask


def joined(before: Call, after: Call) -> Call | None:
    """Two calls of one layer as one, where the second goes on from the first with its keys kept; None where it doesn't.

    So a model writes token by token: each step has queries for what is new, and all keys so far. Of a decoder that looks at
    another sequence the keys stay the same, and each step has one query.
    """
    old, new, many = before.k.shape[1], after.k.shape[1], after.q.shape[1]
    said = [(call.scale, call.softcap, call.sinks is None) for call in (before, after)]
    if said[0] != said[1] or before.q.shape[::2] != after.q.shape[::2] or before.k.shape[::2] != after.k.shape[::2]:
        return None
    if new - old not in (0, many) or (new == old and many > 1) or not torch.equal(after.k[:, :old], before.k):
        return None
    if new == old and before.q.shape[1] == many and torch.equal(before.q, after.q):  # the same once more
        return None
    rows = [_rows(before, new), _rows(after, new)]
    if any(row.dtype != torch.bool for row in rows):
        rows = [_added(row, call.q, new) for row, call in zip(rows, (before, after), strict=True)]
    heads = max(len(row) for row in rows)
    mask = torch.cat([row.expand(heads, -1, -1) for row in rows], 1)
    return replace(after, q=torch.cat([before.q, after.q], 1), mask=tidied(mask))


def _rows(call: Call, keys: int) -> Tensor:
    """The mask of a call among so many keys, those that it did not have yet hidden."""
    queries, had = call.q.shape[1], call.k.shape[1]
    mask = torch.ones(1, queries, had, dtype=torch.bool) if call.mask is None else call.mask.expand(-1, queries, had)
    return F.pad(mask, (0, keys - had), value=False if mask.dtype == torch.bool else HIDDEN)
