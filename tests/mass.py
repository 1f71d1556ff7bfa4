"""How much weight a map has at which distance: tests compare it with the sum over all pairs."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.maps.blocks import choices
from attention.maps.picture import HeadMaps, counts
from attention.maps.zoom import BATCH, check, pairs


def mass_by_distance(
    maps: HeadMaps, query: Float[Tensor, "h n d"], key: Float[Tensor, "g n d"]
) -> Float[Tensor, "a b"]:
    """How much weight lies at distance 0, 1, 2 to 3, 4 to 7 ..., as the mean of the queries that see anything.

    Tiles whose pairs all fall into one bin count by their pixel; the few that a bin's edge crosses are computed anew.
    """
    check(maps, whole=True)
    seeing = int((choices(maps.scoring.rule, maps.tokens, maps.scoring.span) > 0).sum())
    with torch.inference_mode():
        return torch.stack([_mass(maps, query, key, at) for at in range(len(maps.lse))]) / max(seeing, 1)


def bins(distance: Int[Tensor, "*n"]) -> Int[Tensor, "*n"]:
    """The bin of each distance: 0, 1, 2 to 3, 4 to 7 and so on; the lowest of bin b is 2 ** (b - 1)."""
    return torch.frexp(distance.double()).exponent.long()


def _mass(maps: HeadMaps, query: Tensor, key: Tensor, at: int) -> Float[Tensor, " b"]:
    """The mass of one head: whole tiles by their pixels, the rest cell by cell."""
    found = torch.zeros(int(bins(torch.tensor(maps.tokens - 1))) + 1, dtype=torch.float64, device=query.device)
    sizes = counts(maps.rows, maps.tile, found)
    cells = maps.mean[at].double() * sizes[:, None] * sizes
    for behind in range(len(cells)):
        near, far = (behind - 1) * maps.tile + 1, (behind + 1) * maps.tile - 1
        first, last = bins(torch.tensor([max(near, 0), far])).tolist()
        for shift in {behind, -behind}:
            tiles = cells.diagonal(-shift)
            if first == last:
                found[first] += tiles.sum()
            elif bool(tiles.any()):
                found += _crossing_mass(maps, query, key, at, shift, len(found))
    return found


def _crossing_mass(maps: HeadMaps, query: Tensor, key: Tensor, at: int, shift: int, many: int) -> Float[Tensor, " b"]:
    """The mass by bin of the tiles that are `shift` tiles behind their queries, cell by cell."""
    n, t, side = maps.tokens, maps.tile, maps.mean.shape[1]
    inside = torch.arange(t, dtype=torch.int32, device=query.device)
    total = torch.zeros(t, t, dtype=torch.float64, device=query.device)
    for tiles in torch.arange(max(0, shift), side + min(0, shift), device=query.device).split(max(1, BATCH // t**2)):
        rows = (tiles[:, None] * t + inside).int()[:, :, None]
        cols = (rows - shift * t).mT
        there = (rows < n) & (cols < n)
        total += (pairs(maps, query, key, at, rows.clamp(max=n - 1), cols.clamp(max=n - 1)) * there).sum(0)
    apart = (shift * t + inside[:, None] - inside).abs()
    return total.new_zeros(many).scatter_add_(0, bins(apart).flatten().clamp(max=many - 1), total.flatten())
