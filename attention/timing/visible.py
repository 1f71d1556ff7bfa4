"""Which keys the queries of a timed case attend to: how many queries there are, the mask and the window."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool
from torch import Tensor

from attention.masks import MASKS, Rule


@dataclass(frozen=True)
class Visible:
    """The visible keys of the last `queries` of `keys` tokens.

    `causal`: no key after the query. `window`: the query's own position and the `window - 1` positions before it, and without
    `causal` as many after it; 0 for no window. A single query is the last token, as when a model decodes: a causal mask
    hides nothing from it.

    >>> Visible(queries=1, keys=8, causal=True).pairs
    8
    """

    queries: int
    keys: int
    causal: bool = False
    window: int = 0

    @property
    def all_pairs(self) -> bool:
        """Whether every query attends to every key, so that no mask is needed."""
        return self.pairs == self.queries * self.keys

    @property
    def is_causal(self) -> bool:
        """Whether it is what `is_causal` means in torch, which aligns the first query with the first key."""
        return self.causal and self.queries == self.keys and not 0 < self.window < self.keys

    @property
    def pairs(self) -> int:
        """Number of pairs of a query and a key that it attends to."""
        window = min(self.window, self.keys) or self.keys
        before = _triangle(self.keys - window) - _triangle(self.keys - self.queries - window)
        after = _triangle(self.queries - (1 if self.causal else window))
        return self.queries * self.keys - before - after

    @property
    def keys_read(self) -> int:
        """Number of keys that at least one query attends to."""
        return min(self.keys, self.queries + (self.window or self.keys) - 1)

    @property
    def rule(self) -> Rule:
        """The rule of `attention.masks` that the pairs follow; its span is `window`."""
        if self.window:
            return MASKS["window" if self.causal else "local"]
        return MASKS["causal" if self.causal else "full"]

    def matrix(self, device: torch.device | str) -> Bool[Tensor, "q k"] | None:
        """Returns the pairs as a boolean mask, True where the key is visible; None if every pair is."""
        if self.all_pairs:
            return None
        keys = torch.arange(self.keys, device=device)
        return self.rule(keys[-self.queries :, None], keys, self.keys, self.window)


def _triangle(count: int) -> int:
    """1 + 2 + ... + count; 0 below one."""
    return count * (count + 1) // 2 if count > 0 else 0
