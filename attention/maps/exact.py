"""Maps of the weights at any length: a picture of n x n weights in memory of order n.

A pixel is the mean or the maximum of a tile of exact softmax weights; up to SIDE tokens a tile is one cell, and the
picture is the weights. From the log-sum-exp that a map stores, maps/zoom.py computes any part of the square.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from attention.maps.blocks import Blocks
from attention.maps.checks import check, check_choice, check_finite, check_kept, check_size, within
from attention.maps.jobs import report_progress, results
from attention.maps.picture import HeadMaps, counts, join_maps, scale_queries, vectors
from attention.maps.pooling import SAFE, Pooled, RowJob, Tiles, ceil, length, pool_rows
from attention.maps.scoring import Scoring
from attention.maps.sizes import PRECISE, bands, sizes, working
from attention.maps.tiles import SUM
from attention.masks import Rule
from attention.operations.query_scale import OFF, QUERY_SCALES
from attention.operations.softmax import SOFTMAXES
from attention.runtime.threads import single_threaded

SIDE = 512  # largest number of pixels of a map's side


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
    sinks: Sequence[float] = (),
    query_scale: str = OFF,
    kept: Tensor | None = None,
    stats: bool = True,
    executor: Executor | None = None,
    progress: Callable[[float], object] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> HeadMaps:
    """Exact softmax weights of every head, each pixel the mean or the maximum of a tile, in memory of order n.

    query (h n d), key (g n d) where g divides h, as in grouped-query attention. `mask` is a name from MASKS or a rule
    (rules combine: `causal & documents`), `span` its reach. A tile is ceil(n / side) tokens wide, and the last one
    counts only the cells that exist. `rows=(a, b)` and `cols=(a, b)` select a window of the square at full
    resolution, or in tiles of `tile` tokens; `tile` without a window sets the tile of the whole square. `positions`
    is what is added to the scores ("alibi"); rotary and sinusoidal positions must be in query and key already, as in
    `Trace.q`. `scale` is 1/sqrt(d) by default; `softcap`, `softmax` and `query_scale` are as in a Config, and the
    softmax "sink" takes the `sinks` of the heads, one logit each; "sigmoid" subtracts them, 0 by default; of "differential",
    which has two softmaxes of half of the channels each, they are the factors of the second ones, 0.5 by default.
    `kept (h n)` makes heads forget: for each token, the sum of the logarithms of the forget gates up to it, in float64; its
    difference between query and key is added.

    Up to 4,096 tokens everything is computed in float64; beyond, scores are float32 and the sums of a row float64.
    The same applies from 2,049 tokens on to a head in which no score can exceed 16: its weights are as accurate (to
    1e-6), but `lse` and `entropy` to 1e-5 only, where float64 gives 1e-6 and better. For these, pass a query of
    float64. Blocks of rows are independent: an `executor` spreads them. `progress` is called with the fraction that
    is done; `cancelled` is called between blocks, and the work stops if it returns True.

    The softmaxes "sparsemax" and "entmax-1.5" have maps of up to 16,384 tokens.

    Raises ValueError for inconsistent arguments and for a number that is not finite and reaches the picture, which
    may come from a masked token too; and Cancelled.

    >>> q, k = torch.rand(4, 1000, 16), torch.rand(2, 1000, 16)
    >>> attention.head_maps(q, k, mask="window", span=64, side=100)
    HeadMaps(heads=4, tokens=1000, tile=10, rows=(0, 1000), cols=(0, 1000), pool='mean', pixels=float32 (4, 100, 100), exact=True)
    """
    options = dict(locals())
    with single_threaded() if executor else nullcontext():
        maps = join_maps(list(each_head(**options)))
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
    """Yields the maps of `head_maps`, which takes the same arguments, head by head, as soon as each is computed.

    The first `begun` heads, which the caller has already, are left out. Query and key may contain only the `held`
    heads of many, as for `blank`.
    """
    picture, stats = blank(query, key, *asked, **options)
    plans, canvases = _plans(query, key, picture), {}
    before, every = (sum(len(plan.bands) for plan in some) for some in (plans[:begun], plans))
    jobs = (job for plan in plans[begun:] for job in _jobs(query, key, picture, plan, stats, canvases))
    together = (len(plan.bands) for plan in plans[begun:])
    done = report_progress(results(jobs, together, executor, cancelled, pool_rows), every, progress, before)
    for plan in plans[begun:]:
        parts = list(islice(done, len(plan.bands)))
        yield _assemble_head(picture, plan, parts, canvases.pop(plan.head, None))


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
    sinks: Sequence[float] = (),
    query_scale: str = OFF,
    kept: Tensor | None = None,
    stats: bool = True,
    held: range | None = None,
    of: int | None = None,
) -> tuple[HeadMaps, bool]:
    """The requested picture without any pixels drawn, and whether statistics are wanted; checks all arguments.

    Its pixels are a single zero, expanded: the function that draws on them allocates memory. `held`: the numbers of
    the heads in query and key, if these are only some `of` many, in whole groups of shared keys.
    """
    check(query, key, mask, span, side, pool, positions, softcap, softmax, sinks, of or len(query))
    check_kept(kept, of or len(query), query.shape[1])
    check_choice("query_scale", query_scale, QUERY_SCALES)
    heads, n, d = query.shape
    window = rows is not None or cols is not None
    rows, cols = within("rows", rows, n), within("cols", cols, n)
    tile = tile if tile is not None else 1 if window else ceil(n, side)
    check_size(rows, cols, tile, heads)
    own = softcap, positions, softmax, tuple(sinks), query_scale, kept
    width = d // SOFTMAXES[softmax].halves
    scoring = Scoring(mask, span, scale if scale is not None else 1 / math.sqrt(width), *own)
    dtype = query.dtype if query.dtype == torch.float64 else torch.float32
    shape = heads, ceil(rows[1] - rows[0], tile), ceil(cols[1] - cols[0], tile)
    pixels = query.new_zeros(1, dtype=dtype).expand(shape)
    most = pixels if stats or pool == "max" else None
    lse = query.new_full((heads, rows[1] - rows[0]), -math.inf, dtype=torch.float64)
    first = held.start if held else 0
    found = HeadMaps(pixels, most, lse, None, None, None, n, tile, rows, cols, pool, scoring, first, of or heads)
    return replace(found, held=first), stats


class _Plan(NamedTuple):
    """How a head is computed: its dtype, and its bands of blocks of rows, one per job, starting with the last rows.

    Under a causal mask the last rows have the most visible keys: two threads that end with the shortest jobs end
    together. `bound`: an upper bound of its scores, if it was computed already; `shared`: whether two bands have
    cells of the same row of tiles.
    """

    head: int
    dtype: torch.dtype
    bands: list[Blocks]
    bound: float | None
    shared: bool


@torch.no_grad()
def _plans(query: Tensor, key: Tensor, picture: HeadMaps) -> list[_Plan]:
    """One plan per head, as whether scores are mild is decided for each head."""
    found, blocks, square = [], {}, (picture.rows, picture.cols, picture.tile)
    for head in picture.numbers:
        q, k = vectors(picture, head, query, key)
        q = scale_queries(picture, q, slice(None))
        bound = picture.scoring.score_bound(length(q), length(k)) if len(q) <= PRECISE else None
        dtype = working(q, k, picture.scoring, bound)
        if dtype not in blocks:
            given = picture.scoring.rule, picture.tokens, picture.scoring.span, *square
            held = SOFTMAXES[picture.scoring.softmax].sparse
            blocks[dtype] = bands(*given, sizes(dtype, query.device, held))
        shared = any((band.rows[0] - picture.rows[0]) % picture.tile for band in blocks[dtype])
        found.append(_Plan(head, dtype, blocks[dtype], bound, shared))
    return found


def _canvas(picture: HeadMaps, make: Callable[..., Tensor], dtype: torch.dtype) -> Tiles:
    """Allocates the tiles of one head as ordinary tensors, since a later caller may be in another mode."""
    shape = picture.mean.shape[1:]
    with torch.inference_mode(False):
        return Tiles(make(shape, dtype=dtype), None if picture.most is None else make(shape, dtype=dtype))


def _jobs(
    query: Tensor, key: Tensor, picture: HeadMaps, plan: _Plan, stats: bool, canvases: dict[int, Tiles]
) -> Iterator[RowJob]:
    """Yields one job per band of a head, which draws on the head's canvas if no other band has cells of its tiles."""
    cells, wide = sizes(plan.dtype, query.device).cells, plan.bands[0].widest
    q, k = (each.detach() for each in vectors(picture, plan.head, query, key))
    k = k.to(plan.dtype)
    longest_query = length(scale_queries(picture, q, slice(None))) if plan.bound is None else 0.0
    bound = picture.scoring.score_bound(longest_query, length(k)) if plan.bound is None else plan.bound
    longest = None if bound <= SAFE else length(k)
    square, wanted = (picture.tile, picture.rows, picture.cols), (picture.most is not None, stats)
    if not plan.shared:
        canvases[plan.head] = _canvas(picture, picture.mean.new_empty, plan.dtype)
    for blocks in plan.bands:
        widest = max(wide, min(len(k), cells // blocks.tallest))
        into = None if plan.shared else canvases[plan.head].rows(_tiles(picture, blocks))
        rest = blocks, *square, widest, longest, *wanted, into
        first, stop = blocks.rows[0], blocks.rows[-1]
        some = scale_queries(picture, q[first:stop].to(plan.dtype), slice(first, stop))
        yield RowJob(some, k, first, plan.head, picture.heads, picture.scoring, *rest)


def _assemble_head(picture: HeadMaps, plan: _Plan, parts: list[Pooled], canvas: Tiles | None) -> HeadMaps:
    """Assembles the map of one head from its bands.

    Bands have already drawn on a canvas, unless they were computed in another process. Without a canvas, neighbouring
    bands share a row of tiles, which is summed in float64.
    """
    whole = canvas or _canvas(picture, picture.mean.new_zeros, torch.float64)
    for part, blocks in zip(parts, plan.bands, strict=True):
        for pool, tiles, own in zip(
            (SUM, picture.scoring.top_pool), whole.rows(_tiles(picture, blocks)), part[:2], strict=True
        ):
            if tiles is None or own is None:
                continue
            if canvas is None:
                pool.join(tiles, own.to(tiles))
            elif own.data_ptr() != tiles.data_ptr():
                tiles.copy_(own)
    down, across = (counts(ends, picture.tile, whole.sums) for ends in (picture.rows, picture.cols))
    # some rows at a time: the counts of all cells would take as much memory as the picture
    for sums, each in zip(whole.sums.split(SIDE), down.split(SIDE), strict=True):
        sums.div_(each[:, None] * across)
    numbers = torch.cat([part.numbers for part in reversed(parts)], 1).to(picture.mean.device)[:, None]
    names = ("lse", *("second",) * (picture.scoring.halves > 1), "entropy", "greatest", "distance")[: len(numbers)]
    found = dict(zip(names, numbers, strict=True))
    mean, most = (each if each is None else each.to(picture.mean.dtype)[None] for each in whole)
    return replace(picture, first=plan.head, mean=mean, most=most, **found)


def _tiles(picture: HeadMaps, blocks: Blocks) -> slice:
    """The rows of tiles in which a band of blocks has cells."""
    first, stop = blocks.rows[0] - picture.rows[0], blocks.rows[-1] - picture.rows[0]
    return slice(first // picture.tile, ceil(stop, picture.tile))
