"""The attention of one layer for one sequence, as its model computed it, and the weights that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from attention.attend import scaled_dot_product_attention
from attention.operations.mask import HIDDEN
from attention.summary import summarize_fields

UNDERFLOW = 105.0  # exp(-105) is 0 in float32
ROUNDED = 2**-7  # relative error of two numbers that are added in bfloat16, the coarsest dtype of a model


@dataclass(frozen=True, eq=False)
class Call:
    """Queries, keys and values of one sequence as they enter the scores, with rotary positions already applied.

    `mask (1 or h, q, k)` is True where a query attends to a key, or is added to the scaled scores; None masks
    nothing. `sinks (h, q)`: an additional logit per head and query, whose weight goes to no value (gpt-oss has one
    per head). `softcap` 0 leaves scores as they are. If only weights are known, q and k have no channels and `mask`
    is their logarithm. `first` and `first_key` are the positions of the first query and the first key in the text:
    not 0 if earlier ones were not recorded. `score_dtype`: the 16-bit dtype in which eager attention adds scores and
    mask; None if they are added in float32 or wider, as fused kernels do.
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
    score_dtype: torch.dtype | None = None

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
        return self._outweighed if self._only_hides else (self.mask != 0) & (self.weights() == 0)

    @cached_property
    def _outweighed(self) -> Bool[Tensor, "m q k"]:
        """Pairs that the mask puts so far below another key of their row that no score can give them weight."""
        mask = self.mask if self.mask is not None and self.mask.dtype == torch.float64 else as_added(self.mask)
        top = mask.amax(-1, keepdim=True)
        error = ROUNDED * (mask.abs() + top.abs())
        return (mask == HIDDEN) | (top - mask - error > 2 * self._largest_score + UNDERFLOW)

    @property
    def _largest_score(self) -> float:
        """An upper bound of the absolute scores."""
        if not self.q.numel() or not self.k.numel():
            return 0.0
        q, k = (float(x.float().norm(dim=-1).max()) for x in (self.q, self.k))
        bound = q * k * abs(self.scale) * (1 + ROUNDED)
        return min(bound, self.softcap) if self.softcap else bound

    @cached_property
    def _only_hides(self) -> bool:
        """Whether the mask is 0 wherever it does not take all weight from a pair."""
        if self.mask is None or self.mask.dtype == torch.bool:
            return True
        return bool((self._outweighed == (self.mask != 0)).all())

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
        if self.score_dtype is not None and not self._only_hides:
            return self._rounded_weights()
        nothing = k.new_zeros(*k.shape[:2], 1)
        with torch.no_grad():
            found = scaled_dot_product_attention(
                q, k, nothing, mask, scale=self.scale, enable_gqa=True, softcap=self.softcap or None
            ).weights
        return found[..., :keys].float()

    def _rounded_weights(self) -> Float[Tensor, "h q k"]:
        """The weights if scores, and their sums with a mask of numbers, are rounded to 16 bits as in eager attention.

        It matters where a mask is large and the same for all visible keys: its sum with any score may be the mask.
        """
        q, k = (x.to(self.score_dtype) for x in (self.q, self.k.repeat_interleave(len(self.q) // len(self.k), 0)))
        scores = q @ k.mT * self.scale
        if self.softcap:
            scores = torch.tanh(scores / self.softcap) * self.softcap
        logits = scores + as_added(self.mask).to(scores.dtype)
        if self.sinks is not None:
            logits = torch.cat([logits, self.sinks[..., None].to(scores.dtype)], -1)
        masked = (logits == HIDDEN).all(-1, keepdim=True)
        return logits.float().softmax(-1)[..., : k.shape[1]].masked_fill(masked, 0)


def as_added(mask: Tensor | None, dtype: torch.dtype = torch.float32) -> Tensor:
    """Converts a mask of any kind to numbers that are added to scores."""
    if mask is None:
        return torch.zeros(1, 1, 1, dtype=dtype)
    if mask.dtype == torch.bool:
        return torch.zeros(mask.shape, dtype=dtype).masked_fill_(~mask, HIDDEN)
    return mask.to(dtype)
