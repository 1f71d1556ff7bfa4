"""The attention of one layer for one sequence, as its model computed it, and the weights that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from attention.attend import scaled_dot_product_attention
from attention.scores import HIDDEN
from attention.summary import summarize_fields

LOW = -1e30  # below this, a masked pair has weight 0 whatever its score, if any key of the row is visible


@dataclass(frozen=True, eq=False)
class Call:
    """Queries, keys and values of one sequence as they enter the scores, with rotary positions already applied.

    `mask (1 or h, q, k)` is True where a query attends to a key, or is added to the scaled scores; None masks
    nothing. `sinks (h, q)`: an additional logit per head and query, whose weight goes to no value (gpt-oss has one
    per head). `softcap` 0 leaves scores as they are. If only weights are known, q and k have no channels and `mask`
    is their logarithm. `first` and `first_key` are the positions of the first query and the first key in the text:
    not 0 if earlier ones were not recorded.
    """

    q: Float[Tensor, "h q d"]
    k: Float[Tensor, "g k d"]
    v: Float[Tensor, "g k e"]
    scale: float
    mask: Tensor | None = None
    softcap: float = 0.0
    sinks: Float[Tensor, "h q"] | None = None
    first: int = 0
    first_key: int = 0

    __repr__ = summarize_fields

    @property
    def is_standard(self) -> bool:
        """Whether q, k and one mask for all heads determine the weights, with nothing added to scores."""
        if self.sinks is not None or not self.q.shape[-1]:
            return False
        if self.mask is None or self.mask.dtype == torch.bool:
            return self.mask is None or len(self.mask) == 1
        hidden = self.masked_pairs
        return bool((hidden == (self.mask != 0)).all()) and bool((hidden == hidden[:1]).all())

    @cached_property
    def masked_pairs(self) -> Bool[Tensor, "m q k"]:
        """Pairs whose mask adds something and whose weight is exactly 0; per head, or for all (m = 1)."""
        queries, keys = self.q.shape[1], self.k.shape[1]
        if self.mask is None:
            return torch.zeros(1, queries, keys, dtype=torch.bool)
        if self.mask.dtype == torch.bool:
            return ~self.mask
        added = self.mask != 0
        sure = (self.mask == HIDDEN) | ((self.mask < LOW) & (self.mask > LOW).any(-1, keepdim=True))
        return sure if bool((sure == added).all()) else added & (self.weights() == 0)

    @property
    def square(self) -> Bool[Tensor, "q k"] | None:
        """Which pairs take part in any head; None for all."""
        seen = ~self.masked_pairs.all(0)
        return None if seen.all() else seen

    def weights(self) -> Float[Tensor, "h q k"]:
        """The weights of every head, in float32; those of a fully masked row are zero."""
        keys, mask = self.k.shape[1], self.mask
        if not self.q.shape[-1] and mask is not None:
            return mask.exp().float()
        dtype = torch.float64 if self.q.dtype == torch.float64 else torch.float32
        q, k = self.q.to(dtype), self.k.to(dtype)
        if self.sinks is not None:  # a key of zeros, whose score is only what the mask adds
            k = F.pad(k, (0, 0, 0, 1))
            sinks = self.sinks.to(dtype)[..., None]
            mask = torch.cat([as_added(mask, dtype).expand(*q.shape[:2], keys), sinks], -1)
        elif mask is not None and mask.dtype != torch.bool:
            mask = mask.to(dtype)
        nothing = k.new_zeros(*k.shape[:2], 1)
        with torch.no_grad():
            found = scaled_dot_product_attention(
                q, k, nothing, mask, scale=self.scale, enable_gqa=True, softcap=self.softcap or None
            ).weights
        return found[..., :keys].float()


def as_added(mask: Tensor | None, dtype: torch.dtype = torch.float32) -> Tensor:
    """Converts a mask of any kind to numbers that are added to scores."""
    if mask is None:
        return torch.zeros(1, 1, 1, dtype=dtype)
    if mask.dtype == torch.bool:
        return torch.zeros(mask.shape, dtype=dtype).masked_fill_(~mask, HIDDEN)
    return mask.to(dtype)
