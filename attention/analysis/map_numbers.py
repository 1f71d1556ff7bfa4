"""Head statistics of maps, for any length: as in heads.py, but without holding all weights in memory."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F

from attention.heads import METRICS, Profile, Rows
from attention.maps import zoom
from attention.maps.blocks import choices
from attention.maps.picture import HeadMaps

ALIKE, MOST, LARGE = 0.4, 0.9, 2  # of the largest pixel of a row; share of the pixels; multiple of the uniform weight


def hides_pattern(
    pixels: Float[Tensor, "p r"], seen: Bool[Tensor, "p r"], visible_keys: Int[Tensor, " q"], tile: int
) -> bool:
    """Returns whether nearly every pixel of a map contains a large weight, so that it does not show which keys have them.

    `pixels` are the largest weights of tiles, `seen` is False for fully masked ones. A head with uniform weights has no large
    ones: there, pooling hides nothing.
    """
    if tile == 1 or not seen.any():
        return False
    largest = pixels.masked_fill(~seen, 0).amax(-1)
    uniform = torch.stack([rows.float().clamp(min=1).mean() for rows in visible_keys.split(tile)])
    alike = (pixels >= ALIKE * largest[:, None]) & (pixels * uniform[:, None] >= LARGE) & seen
    return bool(alike.sum() >= MOST * seen.sum())


def hidden_by_pooling(weights: Float[Tensor, "n m"], mask: Bool[Tensor, "n m"], tile: int) -> bool:
    """Returns whether the largest weights of tiles of so many tokens per side hide the pattern; `mask`: visible pairs."""
    if tile == 1:
        return False

    def largest(pairs: Tensor) -> Tensor:
        return F.max_pool2d(pairs[None].float(), tile, ceil_mode=True)[0]

    return hides_pattern(largest(weights.masked_fill(~mask, 0)), largest(mask) > 0, mask.sum(-1), tile)


def numbers(maps: HeadMaps, query: Float[Tensor, "h n d"], key: Float[Tensor, "g n d"]) -> Profile:
    """Returns the statistics of every head of the maps, as `heads.profile` does from the weights and the mask.

    `query` and `key` are those that the maps were computed from. Raises ValueError for maps without statistics, for a
    window and for a preview.
    """
    if maps.entropy is None or maps.greatest is None or maps.distance is None:
        raise ValueError("These maps have no statistics: ask head_maps for stats=True.")
    n = maps.tokens
    previous = zoom.diagonal(maps, query, key, 1) if n > 1 else maps.lse[:, :0]
    first = zoom.window(maps, query, key, (0, n), (0, 1))[..., 0]
    seen = choices(maps.scoring.rule, n, maps.scoring.span).to(maps.lse.device)
    at, scoring = torch.arange(n, device=maps.lse.device), maps.scoring
    sees_first = scoring.rule(at, torch.zeros_like(at), n, scoring.span)
    sees_previous = scoring.rule(at[1:], at[:-1], n, scoring.span)
    weights = first.double(), previous.double()
    rows = Rows(maps.entropy, maps.greatest, maps.distance, *weights, seen, sees_first, sees_previous)
    return Profile(**{name: number.of(rows) for name, number in METRICS.items()})
