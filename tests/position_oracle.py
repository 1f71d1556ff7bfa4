"""Positions in float64, number by number from the formulas of the papers: nothing of `attention.operations` is used."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from attention import Config


def turn(x: Tensor, c: Config) -> Tensor:
    """Rotary positions with complex numbers: pair i at position m turns by m times its frequency, a Python number."""
    half = int(x.shape[-1] * c.rotary_fraction + 1e-9) // 2
    turns = torch.tensor([frequency(c, i, half) for i in range(half)], dtype=torch.float64)
    angle = torch.arange(x.shape[-2])[:, None] * turns
    size = 0.1 * math.log(c.rotary_factor) + 1 if c.rotary_scaling.startswith("yarn") else 1.0
    pairs = torch.complex(x[..., :half], x[..., half : 2 * half]) * torch.polar(torch.full_like(angle, size), angle)
    return torch.cat([pairs.real, pairs.imag, x[..., 2 * half :]], -1)


def frequency(c: Config, i: int, half: int) -> float:
    """Radians per token of pair i of `half`, from the formulas of the papers."""
    base, s, length = c.rotary_base, c.rotary_factor, c.rotary_length
    plain = base ** (-i / half)
    if c.rotary_scaling == "linear":
        return plain / s
    if c.rotary_scaling == "ntk":
        return (base * s ** (2 * half / max(2 * half - 2, 1))) ** (-i / half)
    if c.rotary_scaling == "llama3":
        share = (length * plain / (2 * math.pi) - 1) / (4 - 1)
    elif c.rotary_scaling.startswith("yarn"):
        low, high = (half * math.log(length / (turns * 2 * math.pi)) / math.log(base) for turns in (32, 1))
        low, high = (math.floor(low), math.ceil(high)) if c.rotary_scaling == "yarn" else (low, high)
        low, high = max(low, 0), min(high, 2 * half - 1)
        share = 1 - (i - low) / max(high - low, 0.001)
    else:
        share = 1.0
    share = min(max(share, 0.0), 1.0)
    return share * plain + (1 - share) * plain / s


def bias(positions: str, heads: int, queries: int, keys: int) -> Tensor:
    """What positions add to the scores (h q k)."""
    far = range(1 - keys, queries)
    by_distance = [{distance: added(positions, heads, head, distance) for distance in far} for head in range(heads)]
    rows = [[[found[q - k] for k in range(keys)] for q in range(queries)] for found in by_distance]
    return torch.tensor(rows, dtype=torch.float64).reshape(heads, queries, keys)


def added(positions: str, n: int, head: int, distance: int) -> float:
    """What positions add to one score of one of n heads."""
    if positions == "alibi":
        return -(2 ** (-8 * (head + 1) / n)) * abs(distance)
    if positions == "alibi bloom":
        power = 2 ** math.floor(math.log2(n))
        own = [2 ** (-8 * i / power) for i in range(1, power + 1)]
        own += [2 ** (-4 * i / power) for i in range(1, 2 * power + 1)][0::2][: n - power]
        return -own[head] * abs(distance)
    if not positions.startswith("t5"):
        return 0.0
    far, exact = (max(distance, 0), 16) if positions == "t5 causal" else (abs(distance), 8)
    bucket = far if far < exact else exact + int(math.log(far / exact) / math.log(128 / exact) * exact + 1e-12)
    return -(2 ** (-4 * (head + 1) / n)) * min(bucket, 2 * exact - 1)
