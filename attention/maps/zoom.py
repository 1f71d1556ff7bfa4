"""Computes windows, rows and diagonals from a map and its log-sum-exp, and the preview of a map.

A weight is exp(score - lse), so the cost of a part of the square is proportional to its size. A preview does the
opposite: it computes one query of each tile before the exact map is available. All functions take the query and key
from which the maps were made.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.maps.blocks import KeyRange, classify_blocks, edges
from attention.maps.checks import POOLS, check_choice, check_size
from attention.maps.exact import blank
from attention.maps.picture import HeadMaps, counts, scale_queries, split, vectors
from attention.maps.pooling import RowJob, ceil, length, sample_queries
from attention.maps.scoring import HIDDEN, LEAST, Exponential, exponentials, factors, penalty, way_of
from attention.maps.sizes import HEIGHT, STEP, across, fitting, precision
from attention.maps.tiles import Pool, add, pool_maxima
from attention.operations.differential import HALVES
from attention.operations.softmax import SOFTMAXES

BATCH = 2**20  # cells that are computed at once, if there is a choice
PICKS, REACH = 192, 2048  # largest numbers of queries and keys that a preview computes together
SHARES = 2  # parts that the heads of a preview are split into, one per thread


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
    _check_window(maps, rows, cols)
    weights = query.new_empty(len(maps.lse), rows[1] - rows[0], cols[1] - cols[0], dtype=precision(query))
    with torch.inference_mode():
        fill(maps, query, key, range(*rows), KeyRange(*cols, cuts=(cols,)), weights)
    return weights


def pool_window(
    maps: HeadMaps,
    query: Float[Tensor, "h n d"],
    key: Float[Tensor, "g n d"],
    rows: tuple[int, int],
    cols: tuple[int, int],
    tile: int,
    pool: str = "max",
) -> Float[Tensor, "a p r"]:
    """The window by tiles of `tile` x `tile` tokens, each the mean or the maximum, in memory of the pixels alone.

    Tiles are counted from the window's first row and column; the last ones count only the cells that exist. Fully
    masked blocks are skipped. Raises ValueError as `window` and `head_maps` do.
    """
    _check_window(maps, rows, cols)
    check_choice("pool", pool, POOLS)
    heads = len(maps.lse)
    check_size(rows, cols, tile, heads)
    pixels = query.new_zeros(
        heads, ceil(rows[1] - rows[0], tile), ceil(cols[1] - cols[0], tile), dtype=precision(query)
    )
    down, across = edges(rows, HEIGHT), edges(cols, fitting(STEP, tile))
    blocks = classify_blocks(maps.scoring.rule, maps.tokens, maps.scoring.span, down, across)
    space = pixels.new_empty(max(BATCH, heads * int(down.diff().max()) * int(across.diff().max())))
    with torch.inference_mode():
        for at, (start, stop) in enumerate(pairwise(down.tolist())):
            for span in blocks.spans(at, BATCH // (heads * (stop - start))):
                shape = heads, span.stop - span.start, stop - start
                weights = space[: math.prod(shape)].view(shape).mT  # stored key by key, the fastest layout to pool
                fill(maps, query, key, range(start, stop), span, weights)
                _fold(pixels, weights, start - rows[0], span.start - cols[0], tile, pool, maps.scoring.top_pool)
    return pixels if pool == "max" else pixels / counts(rows, tile, pixels)[:, None] / counts(cols, tile, pixels)


def row(maps: HeadMaps, query: Float[Tensor, "h n d"], key: Float[Tensor, "g n d"], at: int) -> Float[Tensor, "a n"]:
    """The weights of the query at position `at` over all keys: n x d operations per head."""
    return window(maps, query, key, (at, at + 1), (0, maps.tokens))[:, 0]


def diagonal(
    maps: HeadMaps, query: Float[Tensor, "h n d"], key: Float[Tensor, "g n d"], behind: int
) -> Float[Tensor, "a m"]:
    """The weight of each query on the key `behind` positions before it (negative: after), if there is such a key.

    1 is the previous token; the period of a repeat minus one is what induction heads attend to (Olsson et al. 2022).
    """
    check(maps, whole=True)
    if abs(behind) >= maps.tokens:
        raise ValueError(
            f"behind={behind} leaves the square of {maps.tokens} tokens: -{maps.tokens} < behind < {maps.tokens}."
        )
    with torch.inference_mode():
        first, stop = max(0, behind), maps.tokens + min(0, behind)
        rows = torch.arange(first, stop, dtype=torch.int32, device=query.device)[:, None]
        return torch.stack([pairs(maps, query, key, at, rows, rows - behind)[:, 0] for at in range(len(maps.lse))])


def preview(
    query: Float[Tensor, "h n d"],
    key: Float[Tensor, "g n d"],
    *asked: Any,
    executor: Executor | None = None,
    **options: Any,
) -> HeadMaps:
    """A first picture from the middle query of each row of tiles: 1/tile of the work of `head_maps`, and not exact.

    Takes the arguments of `head_maps`. `lse (h p)` is that of the sampled queries; there are no statistics. Threads
    of an `executor` share the work.
    """
    maps, _ = blank(query, key, *asked, **options)
    picks = torch.arange(maps.rows[0], maps.rows[1], maps.tile, device=query.device) + maps.tile // 2
    picks = picks.clamp_(max=maps.rows[1] - 1).int()
    mean, most = (
        each if each is None else each.clone(memory_format=torch.contiguous_format) for each in (maps.mean, maps.most)
    )
    found = replace(maps, mean=mean, most=most, lse=maps.lse[:, : len(picks)].clone(), exact=False)
    work = [
        (heads, query, key, at, picks[at])
        for at in torch.arange(len(picks)).split(PICKS)
        for heads in split(found, 1 if SOFTMAXES[found.scoring.softmax].sparse else ceil(len(query), SHARES))
    ]
    work.reverse()  # under a causal mask the last rows take longest
    for _ in (executor.map if executor else map)(_sample, *zip(*work, strict=True)):
        pass
    return found


def check(maps: HeadMaps, whole: bool = False) -> None:
    """Raises ValueError for a preview and, if all tokens are needed, for a window."""
    if not maps.exact:
        raise ValueError("A preview has no log-sum-exp of every query; make the maps with head_maps.")
    if whole and not maps.rows == maps.cols == (0, maps.tokens):
        raise ValueError(f"These maps are a window, rows {maps.rows} and columns {maps.cols}; this needs all tokens.")


def _check_window(maps: HeadMaps, rows: tuple[int, int], cols: tuple[int, int]) -> None:
    if not (maps.rows[0] <= rows[0] < rows[1] <= maps.rows[1] and 0 <= cols[0] < cols[1] <= maps.tokens):
        inside = f"rows within {maps.rows} and columns within (0, {maps.tokens})"
        raise ValueError(f"rows={rows}, cols={cols} are not a window of these maps, which have {inside}.")
    check(maps)


def fill(
    maps: HeadMaps, query: Tensor, key: Tensor, down: range, span: KeyRange, weights: Float[Tensor, "a r w"]
) -> None:
    """Computes the weights of these rows and of the keys of a span, for every head of the maps, into `weights`."""
    across, first = range(span.start, span.stop), maps.rows[0]
    hidden, way = [], way_of(maps.scoring.softmax, weights)
    for left, right in span.cuts:
        if not bool((seen := maps.scoring.sees(down, range(left, right), maps.tokens, query)).all()):
            part = slice(left - span.start, right - span.start)
            hidden.append((part, torch.empty_like(weights[0, :, part]).copy_(penalty(factors(seen, weights)))))
    for at, head in enumerate(maps.numbers):
        q, k = vectors(maps, head, query, key)
        q, k = q[down.start : down.stop].to(weights.dtype), k[span.start : span.stop].to(weights.dtype)
        q = scale_queries(maps, q, slice(down.start, down.stop))
        some = slice(down.start - first, down.stop - first)
        place = down, across, head, maps.heads, way.unit

        def weigh(q: Tensor, k: Tensor, into: Tensor, lse: Tensor, place=place, own=(at, some, None)) -> Tensor:
            scores = maps.scoring.products(q, k, into, way.unit)
            maps.scoring.adjust_scores(scores, *place)
            for part, added in hidden:
                scores[:, part].add_(added)
            least = -maps.scoring.score_bound(length(q), length(k)) - float(lse[own].max())
            return _exponentials(scores, lse[own], way, faint=bool(hidden) or least < LEAST + 1)

        _by_halves(maps, head, q, k, weights[at], weigh)


def _by_halves(
    maps: HeadMaps,
    head: int,
    q: Tensor,
    k: Tensor,
    into: Tensor,
    weigh: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor],
) -> Tensor:
    """Returns the weights of a head by `weigh`, in `into`: one softmax of q and k, or the difference of those of their halves."""
    if maps.second is None:
        return weigh(q, k, into, maps.lse)
    (q, other_q), (k, other_k) = q.chunk(HALVES, -1), k.chunk(HALVES, -1)
    weights = weigh(q, k, into, maps.lse)
    return weights.sub_(weigh(other_q, other_k, torch.empty_like(into), maps.second), alpha=maps.scoring.sink(head))


def _fold(pixels: Tensor, weights: Tensor, top: int, left: int, tile: int, pool: str, top_pool: Pool) -> None:
    """Pools the weights of a part, whose first cell is at (top, left) of the window, into its pixels."""
    into, wide = (
        (add if pool == "mean" else partial(pool_maxima, pool=top_pool)),
        ceil(left % tile + weights.shape[2], tile),
    )
    for head, cells in zip(pixels, weights.mT, strict=True):
        strip = cells.new_zeros(wide, cells.shape[1])
        into(strip, cells, left % tile, tile)
        into(head[top // tile :, left // tile : left // tile + wide], strip.T.contiguous(), top % tile, tile)


def _exponentials(scores: Tensor, lse: Tensor, way: Exponential, faint: bool = True) -> Tensor:
    """Converts scores, with HIDDEN added for masked pairs, to weights in place; fully masked rows get zeros.

    `lse` is the statistic of each row, as in `HeadMaps`; `faint`: whether some weights may be too small for float32.
    """
    return exponentials(scores.sub_(lse.clamp(min=HIDDEN / 10).mul(way.unit).to(scores.dtype)), scores, way, faint)


def pairs(maps: HeadMaps, query: Tensor, key: Tensor, at: int, rows: Tensor, cols: Tensor) -> Float[Tensor, "*b r w"]:
    """The weights of pairs: rows `(* r 1)` with columns `(* 1 w)`, or elementwise if both are (m 1)."""
    head, dtype = maps.numbers[at], precision(query)
    q, k = (each.to(dtype) for each in vectors(maps, head, query, key))
    q = scale_queries(maps, q, slice(None))
    one_by_one, way = rows.shape == cols.shape, way_of(maps.scoring.softmax, q)
    seen = maps.scoring.sees(rows, cols, maps.tokens, query)

    def weigh(q: Tensor, k: Tensor, into: Tensor, lse: Tensor) -> Tensor:
        dots = torch.linalg.vecdot(q[rows], k[cols]) if one_by_one else q[rows[..., 0]] @ k[cols[..., 0, :]].mT
        dots.mul_(maps.scoring.scale * way.unit)
        scores = maps.scoring.adjust_scores(dots, rows, cols, head, maps.heads, way.unit)
        if not bool(seen.all()):
            scores.add_(penalty(factors(seen, scores)))
        return _exponentials(scores, lse[at, rows], way)

    return _by_halves(maps, head, q, k, q, weigh)


@torch.inference_mode()
def _sample(maps: HeadMaps, query: Tensor, key: Tensor, some: Tensor, rows: Int[Tensor, " r"]) -> None:
    """Fills some rows of pixels of every head with the weights of one query each."""
    rule, span, dtype, step = maps.scoring.rule, maps.scoring.span, precision(query), fitting(REACH, maps.tile)
    down = torch.tensor([int(rows[0]), int(rows[-1]) + 1])
    blocks = classify_blocks(rule, maps.tokens, span, down, across(maps.tokens, maps.cols, step))
    found = [vectors(maps, head, query, key) for head in maps.numbers]
    rest = maps.scoring, blocks, maps.tile, maps.rows, maps.cols, step
    jobs = [
        RowJob(
            scale_queries(maps, q[rows].to(dtype), rows),
            k.to(dtype),
            int(down[0]),
            head,
            maps.heads,
            *rest,
            length(k),
            maps.most is not None,
            False,
        )
        for (q, k), head in zip(found, maps.numbers, strict=True)
    ]
    for at, found in enumerate(sample_queries(jobs, rows[:, None])):
        maps.lse[at, some] = found.numbers[0]
        maps.mean[at, some] = (found.sums / counts(maps.cols, maps.tile, found.sums)).to(maps.mean.dtype)
        if maps.most is not None and found.most is not None:
            maps.most[at, some] = found.most.to(maps.most.dtype)
