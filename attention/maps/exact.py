"""Maps of the weights at any length: a picture of n x n weights in memory of order n.

A pixel is a tile of exact softmax weights, by mean or by maximum; up to the side of a picture a tile is one cell, and
the picture is the weights. From the log-sum-exp that comes with it, maps/zoom.py computes any part of the square.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.machine.threads import alone
from attention.maps.blocks import Blocks, classed, edges
from attention.maps.checks import POOLS, check, check_finite, check_size, known, within
from attention.maps.jobs import results, watched
from attention.maps.pooling import Job, Pooled, ceil, length
from attention.maps.scoring import Scoring
from attention.maps.sizes import fitting, job, sizes, working
from attention.masks import Rule

SIDE = 512  # pixels of a map's side at the most


@dataclass(frozen=True, eq=False)
class HeadMaps:
    """The weights of every head, pooled by tiles of `tile` x `tile` tokens, with a few numbers of every query.

    `mean (h p r)` and `most (h p r)` are the means and maxima of the tiles within `rows` and `cols`, which are all
    `tokens` unless a window was asked for. `lse (h q)` is the logarithm of each row's denominator, so that a weight is
    exp(score - lse); where a query sees nothing it is -inf, or 0 with one added. `entropy` in nats, `greatest` weight
    and mean `distance` in tokens `(h q)` are of float64 as well; maxima and statistics are None where they were not
    asked for. `exact` is False in a preview, where one query stands for its tile. `first` is the number of the first
    head among `heads`; `held` that of the first one that the query and key have which they were made of.
    """

    mean: Float[Tensor, "h p r"]
    most: Float[Tensor, "h p r"] | None
    lse: Float[Tensor, "h q"]
    entropy: Float[Tensor, "h q"] | None
    greatest: Float[Tensor, "h q"] | None
    distance: Float[Tensor, "h q"] | None
    tokens: int
    tile: int
    rows: tuple[int, int]
    cols: tuple[int, int]
    pool: str
    scoring: Scoring
    first: int
    heads: int
    exact: bool = True
    held: int = 0

    @property
    def numbers(self) -> range:
        """The numbers of these heads among all."""
        return range(self.first, self.first + len(self.lse))

    @property
    def pixels(self) -> Float[Tensor, "h p r"]:
        """The picture: means or maxima, as the pool says."""
        return self.mean if self.pool == "mean" or self.most is None else self.most

    def pooled_by(self, pool: str) -> HeadMaps:
        """The same maps shown by mean or by maximum; raises ValueError for maxima that were not computed."""
        known("pool", pool, POOLS)
        if pool == "max" and self.most is None:
            raise ValueError("pool='max' was not computed with these maps: ask head_maps for pool='max' or stats=True.")
        return replace(self, pool=pool)


def head_maps(
    query: Float[Tensor, "h n d"],
    key: Float[Tensor, "g n d"],
    mask: str | Rule = "causal",
    span: int = 4,
    scale: float | None = None,
    side: int = SIDE,
    pool: str = "mean",
    rows: tuple[int, int] | None = None,
    cols: tuple[int, int] | None = None,
    *,
    tile: int | None = None,
    positions: str = "none",
    softcap: float | None = None,
    softmax: str = "standard",
    stats: bool = True,
    executor: Executor | None = None,
    progress: Callable[[float], object] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> HeadMaps:
    """Exact softmax weights of every head, each pixel the mean or the maximum of a tile, in memory of order n.

    query (h n d), key (g n d) where g divides h, as in grouped-query attention. `mask` is a name from MASKS or a rule
    (they combine: `causal & documents`), `span` its reach. A tile is ceil(n / side) tokens wide, and the last one
    counts only the cells that exist. `rows=(a, b)` and `cols=(a, b)` ask for a window of the square at full
    resolution, or in tiles of `tile` tokens, which is also how to choose the tile otherwise. `positions` is what is
    added to the scores ("alibi"); what turns or shifts tokens (rotary, sinusoidal) is in query and key already, as in
    `Trace.q`. `scale` is 1/sqrt(d) unless given; `softcap` and `softmax` as in a Config.

    Up to 4,096 tokens everything is computed in float64; beyond, scores are float32 and the sums of a row float64. So
    they are from 2,049 on in a head where no score can exceed 16: weights are as right then (to 1e-6), but `lse` and
    `entropy` to 1e-5 only, where float64 gives them to 1e-6 and better. For these, give a query of float64.
    Blocks of rows are independent: an `executor` spreads them. `progress` is told the share that is done, `cancelled`
    is asked between blocks whether to stop.

    Raises ValueError for what doesn't fit together, and for a number that is not finite and reaches the picture, as it may
    also from a token that the mask hides; and Cancelled.
    """
    options = dict(locals())
    with alone() if executor else nullcontext():
        maps = joined(list(each_head(**options)))
        if not math.isfinite(float(maps.mean.sum())):
            check_finite(query=query, key=key)
    return maps


def each_head(
    query: Float[Tensor, "h n d"],
    key: Float[Tensor, "g n d"],
    *asked: Any,
    begun: int = 0,
    executor: Executor | None = None,
    progress: Callable[[float], object] | None = None,
    cancelled: Callable[[], bool] | None = None,
    **options: Any,
) -> Iterator[HeadMaps]:
    """The maps of `head_maps`, which takes the same, one head after the other, each as soon as it is there.

    The first `begun` heads are left out: those that there are already. Of many heads, query and key may be those `held` at a
    time, as for `blank`.
    """
    picture, stats = blank(query, key, *asked, **options)
    plans = _plans(query, key, picture)
    before, every = (sum(len(plan.bands) for plan in some) for some in (plans[:begun], plans))
    jobs = (job for plan in plans[begun:] for job in _jobs(query, key, picture, plan, stats))
    done = watched(results(jobs, executor, cancelled), every, progress, before)
    for plan in plans[begun:]:
        yield _drawn(picture, plan, list(islice(done, len(plan.bands))))


def blank(
    query: Tensor,
    key: Tensor,
    mask: str | Rule = "causal",
    span: int = 4,
    scale: float | None = None,
    side: int = SIDE,
    pool: str = "mean",
    rows: tuple[int, int] | None = None,
    cols: tuple[int, int] | None = None,
    *,
    tile: int | None = None,
    positions: str = "none",
    softcap: float | None = None,
    softmax: str = "standard",
    stats: bool = True,
    held: range | None = None,
    of: int | None = None,
) -> tuple[HeadMaps, bool]:
    """The picture that was asked for, with nothing on it yet, and whether statistics are wanted; checks everything.

    Its pixels are one zero, expanded: who draws on it makes them.
    `held`: the numbers of the heads that query and key have, where these are some `of` many, in whole groups of shared keys.
    """
    check(query, key, mask, span, side, pool, positions, softcap, softmax)
    heads, n, d = query.shape
    window = rows is not None or cols is not None
    rows, cols = within("rows", rows, n), within("cols", cols, n)
    tile = tile if tile is not None else 1 if window else ceil(n, side)
    check_size(rows, cols, tile, heads)
    scoring = Scoring(mask, span, scale if scale is not None else 1 / math.sqrt(d), softcap, positions, softmax)
    dtype = query.dtype if query.dtype == torch.float64 else torch.float32
    shape = heads, ceil(rows[1] - rows[0], tile), ceil(cols[1] - cols[0], tile)
    pixels = query.new_zeros(1, dtype=dtype).expand(shape)
    most = pixels if stats or pool == "max" else None
    lse = query.new_full((heads, rows[1] - rows[0]), -math.inf, dtype=torch.float64)
    first = held.start if held else 0
    found = HeadMaps(pixels, most, lse, None, None, None, n, tile, rows, cols, pool, scoring, first, of or heads)
    return replace(found, held=first), stats


def vectors(maps: HeadMaps, head: int, query: Tensor, key: Tensor) -> tuple[Float[Tensor, "n d"], Float[Tensor, "n d"]]:
    """The queries of a head and its keys; with fewer heads of keys, neighbours share them."""
    at = head - maps.held
    return query[at], key[at * len(key) // len(query)]


def counts(ends: tuple[int, int], tile: int, like: Tensor) -> Float[Tensor, "p"]:
    """How many tokens each tile of a range has: all but the last are full."""
    starts = torch.arange(ends[0], ends[1], tile, device=like.device)
    return (ends[1] - starts).clamp(max=tile).to(like.dtype)


def joined(maps: list[HeadMaps]) -> HeadMaps:
    """The maps of neighbouring heads as one."""
    first = maps[0]
    if len(maps) == 1:
        return first
    return replace(first, **{name: torch.cat([getattr(part, name) for part in maps]) for name in _tensors(first)})


def split(maps: HeadMaps, size: int = 1) -> list[HeadMaps]:
    """The maps of every head by itself, or of so many neighbours: views."""
    return [
        replace(maps, first=maps.first + at, **{name: each[at : at + size] for name, each in _tensors(maps).items()})
        for at in range(0, len(maps.lse), size)
    ]


def _tensors(maps: HeadMaps) -> dict[str, Tensor]:
    """What has an axis for heads."""
    every = {field.name: getattr(maps, field.name) for field in fields(HeadMaps)}
    return {name: value for name, value in every.items() if isinstance(value, Tensor)}


class _Plan(NamedTuple):
    """What a head is computed in, and its blocks of rows, those of a job each, from the last rows on.

    Under a causal mask these see most: two threads that end with the shortest job end together.
    """

    head: int
    dtype: torch.dtype
    bands: list[Blocks]


def _plans(query: Tensor, key: Tensor, picture: HeadMaps) -> list[_Plan]:
    """One a head: whether scores are mild is a question to each by itself."""
    with torch.no_grad():
        dtypes = [working(*vectors(picture, head, query, key), picture.scoring) for head in picture.numbers]
    bands = {dtype: _bands(picture, dtype, query.device) for dtype in set(dtypes)}
    return [_Plan(head, dtype, bands[dtype]) for head, dtype in zip(picture.numbers, dtypes, strict=True)]


def _bands(picture: HeadMaps, dtype: torch.dtype, device: torch.device) -> list[Blocks]:
    """The blocks of the rows, as many for a job as make it worth its while.

    Their height does not depend on the tile, and two may share a row of tiles: torch reduces the rows beyond a multiple of
    its vectors one by one, so that a map in blocks of 252 rows took 1.1 to 1.2 times as long as in those of 256.
    """
    n, wanted = picture.tokens, sizes(dtype, device)
    columns = across(picture, fitting(wanted.step, picture.tile))
    blocks = classed(picture.scoring.rule, n, picture.scoring.span, edges(picture.rows, wanted.height), columns)
    cells = job(n, picture.rows[1] - picture.rows[0])
    return list(blocks.bands(max(1, cells // (n * wanted.height))))[::-1]


def across(picture: HeadMaps, step: int) -> Int[Tensor, "j"]:
    """The edges of blocks of keys of a size, with those of the window."""
    n, cols = picture.tokens, picture.cols
    return torch.tensor(sorted({*range(cols[0] % step, n, step), 0, n, *cols}))


def _jobs(query: Tensor, key: Tensor, picture: HeadMaps, plan: _Plan, stats: bool) -> Iterator[Job]:
    """One job a band of a head."""
    cells = sizes(plan.dtype, query.device).cells
    q, k = (each.detach() for each in vectors(picture, plan.head, query, key))
    k = k.to(plan.dtype)
    longest = length(k)
    for blocks in plan.bands:
        part = q[int(blocks.rows[0]) : int(blocks.rows[-1])].to(plan.dtype)
        widest = max(int(blocks.cols.diff().max()), min(len(k), cells // int(blocks.rows.diff().max())))
        square, wanted = (picture.tile, picture.rows, picture.cols), (picture.most is not None, stats)
        rest = blocks, *square, widest, longest, *wanted
        yield Job(part, k, int(blocks.rows[0]), plan.head, picture.heads, picture.scoring, *rest)


def _drawn(picture: HeadMaps, plan: _Plan, parts: list[Pooled]) -> HeadMaps:
    """The map of one head from its bands; neighbouring bands may share a row of tiles, which is then summed in float64."""
    apart = all((int(blocks.rows[0]) - picture.rows[0]) % picture.tile == 0 for blocks in plan.bands)
    like, empty = picture.mean, torch.empty if apart else torch.zeros  # bands of their own rows write all of it
    mean = empty(like.shape[1:], dtype=like.dtype if apart else torch.float64, device=like.device)
    most = None if picture.most is None else empty(like.shape[1:], dtype=like.dtype, device=like.device)
    down, across = (counts(ends, picture.tile, mean) for ends in (picture.rows, picture.cols))
    for part, blocks in zip(parts, plan.bands, strict=True):
        top = (int(blocks.rows[0]) - picture.rows[0]) // picture.tile
        here = slice(top, top + len(part.sums))
        sums, each, lines = part.sums.to(like.device), down[here, None] * across, part.most
        if apart:
            torch.div(sums, each, out=mean[here])
        else:
            mean[here] += sums / each
        if most is not None and lines is not None:
            most[here] = lines if apart else torch.maximum(most[here], lines.to(most))
    numbers = torch.cat([part.numbers for part in reversed(parts)], 1).to(mean.device)[:, None]
    names = ("lse", "entropy", "greatest", "distance")[: len(numbers)]
    found = dict(zip(names, numbers, strict=True))
    pixels = {"mean": mean.to(like.dtype)[None], "most": None if most is None else most[None]}
    return replace(picture, first=plan.head, **pixels, **found)
