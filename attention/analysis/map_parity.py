"""Does a map agree with PyTorch, at any length? A few of its rows, which follow from its log-sum-exp, as parity.py does.

PyTorch's attention gives the weights on some keys as outputs: the values have a channel for each, one there and zero
elsewhere.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention.analysis.parity import ByTorch, Parity, by_torch, evenly, greatest, rounding
from attention.attend import HIDDEN
from attention.maps import zoom
from attention.maps.blocks import choices
from attention.maps.exact import HeadMaps, key_of, precision, split
from attention.scores import POSITIONS, sinusoidal

KEYS = 256  # keys whose weights are compared, evenly spread, apart from the heaviest of each row
CHANNELS = 64  # channels of a value at once: its n tokens are the memory that is taken


def parity(maps: HeadMaps, query: Float[Tensor, "h n d"], key: Float[Tensor, "g n d"], rows: int = 16) -> Parity:
    """Rows of every head of the maps against scaled_dot_product_attention on the same q, k, mask, bias, scale, softmax.

    Compared are weights on 256 keys and the heaviest of each row, the output for sines and cosines of the position as
    the values, and the sum of the row. Raises ValueError for a window and for a preview.
    """
    zoom.check(maps, whole=True)
    at = evenly(maps.tokens, rows)
    seeing = choices(maps.scoring.rule, maps.tokens, maps.scoring.span) > 0
    with torch.inference_mode():
        found = [_compared(each, query, key, at.to(query.device), seeing[at].to(query.device)) for each in split(maps)]
    most = [max(differences) for differences in zip(*found, strict=True)]
    q, k = (x.to(precision(query)) for x in (query[:, at.to(query.device)], key))
    rounded = rounding(q, k, maps.scoring.scale, maps.scoring.softcap)
    return Parity(*most, blind=int((~seeing).sum()), rows=len(at), rounding=rounded)


def _compared(
    maps: HeadMaps, query: Tensor, key: Tensor, rows: Int[Tensor, "r"], seeing: Bool[Tensor, "r"]
) -> tuple[float, float, float]:
    """Greatest differences of weights, outputs and sums of some rows of one head."""
    n, dtype, scoring = maps.tokens, precision(query), maps.scoring
    weights = torch.cat([zoom.row(maps, query, key, at) for at in rows.tolist()])
    q, k = query[maps.first, rows].to(dtype)[None], key_of(maps.first, query, key).to(dtype)[None]
    keys = torch.cat([evenly(n, KEYS).to(rows.device), weights.argmax(-1)])
    mask, sines = _mask(maps, rows, q), sinusoidal(n, CHANNELS).to(k)

    def torchs(value: Float[Tensor, "n e"]) -> ByTorch:
        return by_torch(q, k, value[None], mask, scoring.scale, scoring.softcap, scoring.softmax)

    found = torchs(sines)
    return (
        max(greatest(weights[:, some] - torchs(_one_hot(some, k)).output) for some in keys.split(CHANNELS)),
        greatest(weights @ sines - found.output),
        greatest((weights.sum(-1) + found.nothing)[:, seeing] - 1),
    )


def _one_hot(keys: Int[Tensor, "e"], like: Float[Tensor, "1 n d"]) -> Float[Tensor, "n e"]:
    """Values with a channel for each of these keys."""
    value = like.new_zeros(like.shape[1], len(keys))
    value[keys, torch.arange(len(keys), device=like.device)] = 1
    return value


def _mask(maps: HeadMaps, rows: Int[Tensor, "r"], like: Tensor) -> Float[Tensor, "1 r n"]:
    """What is added to the scores of these rows: the bias of positions, and minus infinity where a key is hidden."""
    q, k = rows[:, None], torch.arange(maps.tokens, device=like.device)[None]
    to_scores, head = POSITIONS[maps.scoring.positions].to_scores, torch.tensor(maps.first, device=like.device)
    bias = to_scores(q, k, head, maps.heads).to(like) if to_scores else like.new_zeros(())
    return torch.where(maps.scoring.sees(q, k, maps.tokens, like), bias, HIDDEN)[None]
