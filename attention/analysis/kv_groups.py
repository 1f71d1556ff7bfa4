"""Compares multi-head, grouped-query and multi-query attention with the same weights.

Neighbouring heads share keys and values, which are the means of their own ones (Ainslie et al. 2023, section 2.1); as
projections are linear, averaging them averages the keys. Every grouping is compared with the heads without sharing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from attention.config import Config
from attention.trace import Trace
from attention.trace import trace as traced

BYTES = {"float32": 4, "bfloat16": 2, "int8": 1}


@dataclass(frozen=True)
class Grouping:
    """The change when all heads share `kv_heads` sets of keys and values.

    `moved (heads)`: the share of a row's weight that is on other keys than without sharing: half of the sum of the
    absolute differences, averaged over the rows with a visible key. `output`: norm of the change of the output, after
    W_o, relative to the norm of the output.
    """

    kv_heads: int
    moved: tuple[float, ...]
    output: float

    @property
    def mean_moved(self) -> float:
        """The mean of `moved` over the heads."""
        return sum(self.moved) / len(self.moved)


def divisors(heads: int) -> list[int]:
    """Returns the possible numbers of kv heads, from one per head down to one for all."""
    return [n for n in range(heads, 0, -1) if heads % n == 0]


def with_kv_heads(config: Config, kv_heads: int) -> Config:
    """Returns the config with `kv_heads` averaged heads of keys and values; with `config.heads` of them nothing is shared."""
    return replace(config, kv_heads=0 if kv_heads == config.heads else kv_heads, sharing="averaged")


def groupings(config: Config, trace: Callable[[Config], Trace] = traced) -> list[Grouping]:
    """Compares every grouping of a config's heads with the heads without sharing, in the order of `divisors`."""
    whole = trace(with_kv_heads(config, config.heads))
    return [_compare_grouping(whole, trace(with_kv_heads(config, n)), n) for n in divisors(config.heads)]


def cache_bytes(config: Config, kv_heads: int, dtype: str) -> int:
    """Returns the bytes of the KV cache of one layer and one sequence: 2 kv_heads d_head tokens, times the bytes per number."""
    return 2 * kv_heads * config.d_head * config.tokens * BYTES[dtype]


def name(kv_heads: int, heads: int) -> str:
    """Returns the name of this kind of attention in the literature."""
    return "multi-head" if kv_heads == heads else "multi-query" if kv_heads == 1 else "grouped-query"


def _compare_grouping(whole: Trace, shared: Trace, kv_heads: int) -> Grouping:
    change = torch.linalg.norm(shared.output - whole.output) / torch.linalg.norm(whole.output)
    return Grouping(kv_heads, tuple(_moved_weight(whole, shared).tolist()), float(change.nan_to_num()))


def _moved_weight(before: Trace, after: Trace) -> Float[Tensor, " h"]:
    rows = torch.stack([(b - a).abs_().sum(-1) / 2 for b, a in zip(before.weights, after.weights, strict=True)])
    seeing = before.mask.any(-1)
    return rows[:, seeing].mean(-1) if seeing.any() else rows.new_zeros(len(rows))
