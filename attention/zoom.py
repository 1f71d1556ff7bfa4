"""What follows from a map and its log-sum-exp without another pass: windows, rows, diagonals, mass by distance.

A weight is exp(score - lse), so that a part of the square costs its own size and no more. A preview goes the other way:
it looks at one query of each tile before the exact map is there. All take the query and key that the maps were made of.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.maps import HeadMaps, blank, counts, key_of, precision
from attention.pooling import add, lift
from attention.scores import NORMALISERS
from attention.scoring import HIDDEN, exponentials, penalty

BATCH = 2**20  # cells that are computed at once where there is a choice


def window(
    maps: HeadMaps,
    query: Float[Tensor, "h n d"],
    key: Float[Tensor, "g n d"],
    rows: tuple[int, int],
    cols: tuple[int, int],
) -> Float[Tensor, "a r w"]:
    """The weights of these rows and columns token by token, of every head of the maps.

    Raises ValueError for a preview and for rows that the maps don't have.
    """
    down, across = range(*rows), range(*cols)
    if not (maps.rows[0] <= down.start < down.stop <= maps.rows[1] and 0 <= across.start < across.stop <= maps.tokens):
        inside = f"rows within {maps.rows} and columns within (0, {maps.tokens})"
        raise ValueError(f"rows={rows}, cols={cols} are no window of these maps: they have {inside}.")
    _check(maps)
    weights = query.new_empty(len(maps.lse), len(down), len(across), dtype=precision(query))
    with torch.inference_mode():
        seen = maps.scoring.sees(down, across, maps.tokens, query)
        for at, head in enumerate(maps.numbers):
            q = query[head, down.start : down.stop].to(weights.dtype)
            k = key_of(head, query, key)[across.start : across.stop].to(weights.dtype)
            scores = maps.scoring.scores(q, k, down, across, head, maps.heads, weights[at])
            lse = maps.lse[at, down.start - maps.rows[0] : down.stop - maps.rows[0], None]
            _weights(scores, seen, lse)
    return weights


def row(maps: HeadMaps, query: Float[Tensor, "h n d"], key: Float[Tensor, "g n d"], at: int) -> Float[Tensor, "a n"]:
    """The weights of the query at a position, over all keys: n x d of work a head."""
    return window(maps, query, key, (at, at + 1), (0, maps.tokens))[:, 0]


def diagonal(
    maps: HeadMaps, query: Float[Tensor, "h n d"], key: Float[Tensor, "g n d"], behind: int
) -> Float[Tensor, "a m"]:
    """The weight of each query on the key that is `behind` it (negative: ahead), over the queries that have one.

    1 is the previous token; one less than the period of a repeat is what induction heads look at (Olsson et al. 2022).
    """
    _check(maps, whole=True)
    if abs(behind) >= maps.tokens:
        raise ValueError(
            f"behind={behind} leaves the square of {maps.tokens} tokens: -{maps.tokens} < behind < {maps.tokens}."
        )
    rows = torch.arange(max(0, behind), maps.tokens + min(0, behind), dtype=torch.int32, device=query.device)[:, None]
    return torch.stack([_pairs(maps, query, key, at, rows, rows - behind)[:, 0] for at in range(len(maps.lse))])


def mass_by_distance(
    maps: HeadMaps, query: Float[Tensor, "h n d"], key: Float[Tensor, "g n d"]
) -> Float[Tensor, "a b"]:
    """How much weight lies at distance 0, 1, 2 to 3, 4 to 7 ..., as the mean of the queries that see anything.

    Tiles whose pairs all fall into one bin count by their pixel; the few that a bin's edge crosses are computed anew.
    """
    _check(maps, whole=True)
    with torch.inference_mode():
        return torch.stack([_mass(maps, query, key, at) for at in range(len(maps.lse))])


def preview(query: Float[Tensor, "h n d"], key: Float[Tensor, "g n d"], *asked: Any, **options: Any) -> HeadMaps:
    """A first picture from the middle query of each row of tiles: 1/tile of the work of `head_maps`, and not exact.

    Takes what `head_maps` takes. `lse (h p)` is of the queries that were looked at; there are no statistics.
    """
    maps, _ = blank(query, key, *asked, **options)
    picks = torch.arange(maps.rows[0], maps.rows[1], maps.tile, device=query.device) + maps.tile // 2
    picks = picks.clamp_(max=maps.rows[1] - 1).int()
    sampled = replace(maps, lse=maps.lse[:, : len(picks)].clone(), exact=False)
    with torch.inference_mode():
        for head in maps.numbers:
            for some in torch.arange(len(picks)).split(max(1, BATCH // maps.tokens)):
                _sample(sampled, query, key, head, some, picks[some])
    return sampled


def bins(distance: Int[Tensor, "*n"]) -> Int[Tensor, "*n"]:
    """The bin of each distance: 0, 1, 2 to 3, 4 to 7 and so on; the lowest of bin b is 2 ** (b - 1)."""
    return torch.frexp(distance.double()).exponent.long()


def _check(maps: HeadMaps, whole: bool = False) -> None:
    if not maps.exact:
        raise ValueError("A preview has no log-sum-exp of every query; make the maps with head_maps.")
    if whole and not maps.rows == maps.cols == (0, maps.tokens):
        raise ValueError(f"These maps are a window, rows {maps.rows} and columns {maps.cols}; this needs all tokens.")


def _weights(scores: Tensor, seen: Tensor, lse: Tensor) -> Tensor:
    """Weights of scores, in place; rows that see nothing have an lse of -inf and get zeros."""
    if not bool(seen.all()):
        scores.add_(penalty(seen, scores))
    return exponentials(scores.sub_(lse.clamp(min=HIDDEN / 10).to(scores.dtype)), scores, faint=True)


def _pairs(maps: HeadMaps, query: Tensor, key: Tensor, at: int, rows: Tensor, cols: Tensor) -> Float[Tensor, "*b r w"]:
    """The weights of pairs: each row of `rows (* r 1)` with each column of `cols (* 1 w)`, or in turn, both (m 1)."""
    head, dtype = maps.numbers[at], precision(query)
    q, k = query[head].to(dtype), key_of(head, query, key).to(dtype)
    one_by_one = rows.shape == cols.shape
    dots = torch.linalg.vecdot(q[rows], k[cols]) if one_by_one else q[rows[..., 0]] @ k[cols[..., 0, :]].mT
    scores = maps.scoring.adjusted(dots.mul_(maps.scoring.scale), rows, cols, head, maps.heads)
    return _weights(scores, maps.scoring.sees(rows, cols, maps.tokens, query), maps.lse[at, rows])


def _sample(maps: HeadMaps, query: Tensor, key: Tensor, head: int, some: Tensor, rows: Tensor) -> None:
    """Fills some rows of pixels with the weights of one query each."""
    k, across = key_of(head, query, key).to(precision(query)), range(maps.tokens)
    scores = k.new_empty(len(rows), maps.tokens)
    maps.scoring.scores(query[head, rows].to(k.dtype), k, rows[:, None], across, head, maps.heads, scores)
    seen = maps.scoring.sees(rows[:, None], across, maps.tokens, scores)
    raw = scores.add_(penalty(seen, scores)).logsumexp(-1)
    lse = NORMALISERS[maps.scoring.softmax](torch.where(seen.any(-1), raw, -torch.inf)).double()
    maps.lse[head, some] = lse
    shown = _weights(scores, seen, lse[:, None])[:, maps.cols[0] : maps.cols[1]]
    sums, tops = shown.new_zeros(2, len(rows), maps.mean.shape[2])
    add(sums, shown, 0, maps.tile)
    maps.mean[head, some] = (sums / counts(maps.cols, maps.tile, sums)).to(maps.mean.dtype)
    if maps.most is not None:
        lift(tops, shown, 0, maps.tile)
        maps.most[head, some] = tops.to(maps.most.dtype)


def _mass(maps: HeadMaps, query: Tensor, key: Tensor, at: int) -> Float[Tensor, "b"]:
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
                found += _crossed(maps, query, key, at, shift, len(found))
    return found / (maps.lse[at] > -torch.inf).sum().clamp(min=1)


def _crossed(maps: HeadMaps, query: Tensor, key: Tensor, at: int, shift: int, many: int) -> Float[Tensor, "b"]:
    """The mass by bin of the tiles that are `shift` tiles behind their queries, cell by cell."""
    n, t, side = maps.tokens, maps.tile, maps.mean.shape[1]
    inside = torch.arange(t, dtype=torch.int32, device=query.device)
    total = torch.zeros(t, t, dtype=torch.float64, device=query.device)
    for tiles in torch.arange(max(0, shift), side + min(0, shift), device=query.device).split(max(1, BATCH // t**2)):
        rows = (tiles[:, None] * t + inside).int()[:, :, None]
        cols = (rows - shift * t).mT
        there = (rows < n) & (cols < n)
        total += (_pairs(maps, query, key, at, rows.clamp(max=n - 1), cols.clamp(max=n - 1)) * there).sum(0)
    apart = (shift * t + inside[:, None] - inside).abs()
    return total.new_zeros(many).scatter_add_(0, bins(apart).flatten().clamp(max=many - 1), total.flatten())


def pooled(maps, query, key, rows, cols, tile, pool="max"):
    w = window(maps, query, key, rows, cols)
    w = torch.nn.functional.pad(w, (0, -w.shape[2] % tile, 0, -w.shape[1] % tile))
    from einops import reduce

    return reduce(w, "h (p i) (r j) -> h p r", "max", i=tile, j=tile)
