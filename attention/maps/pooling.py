"""Computes and pools the weights of one head, some rows at a time, in memory of order n.

A block of rows is multiplied with its keys in pieces that stay in the cache, and a strip (`strips`, `direct_strips`) turns
each into weights. If |q| |k| scale bounds every score (Cauchy-Schwarz), exponentials can't overflow and no running maximum
is kept.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.maps.direct_strips import strip_class
from attention.maps.scratch import Space, room
from attention.maps.strips import SAFE, RowJob, Tiles, ceil
from attention.maps.tiles import SUM, by_rows, tile_order

OWN = ("sums", "tops")  # results of a block of rows by tile


class Pooled(NamedTuple):
    """The result of a job: sums and maxima of weights by tile, from the tile of the first row on, and numbers by row."""

    sums: Float[Tensor, "a p"]
    most: Float[Tensor, "a p"] | None
    numbers: Float[Tensor, "s r"]


def pool_rows(job: RowJob) -> Pooled:
    """Computes the rows of a job. `numbers`: log-sum-exp, and with statistics entropy, largest weight and distance."""
    with torch.inference_mode():
        edges, tile, numbers = job.blocks.rows, job.tile, []
        base = (job.first - job.rows[0]) // tile * tile + job.rows[0]
        shape = ceil(edges[-1] - base, tile), ceil(job.cols[1] - job.cols[0], tile)
        sums, most = job.into or Tiles(job.query.new_empty(shape), job.query.new_empty(shape) if job.greatest else None)
        for tiles in (sums, most):
            if tiles is not None:
                tiles.zero_()
        space, bounded = (
            Space(job.blocks.tallest, job.widest, job.stats, len(job.key), job.query),
            _scores_are_bounded(job),
        )
        for row, (start, stop) in enumerate(itertools.pairwise(edges)):
            part, size = job.query[start - job.first : stop - job.first], (shape[1], stop - start)
            own = (room(name, math.prod(size), part).view(size) for name in OWN)
            order = tile_order(start - base, stop - start, tile)
            strip = strip_class(job)(job, part, range(start, stop), space, bounded, *own, order=order)
            for span in job.blocks.spans(row, job.widest, job.cols):
                strip.take(span, strip.visible_parts(span))
            by_tile, tops, found = strip.weights()
            by_rows(SUM, sums, by_tile.T, start - base, tile, order is not None)
            if most is not None and tops is not None:
                by_rows(job.scoring.top_pool, most, tops.T, start - base, tile, order is not None)
            numbers.append(found)
        return Pooled(sums, most, torch.cat(numbers, 1))


def sample_queries(jobs: list[RowJob], rows: Int[Tensor, "r 1"]) -> list[Pooled]:
    """Computes some queries, one head per job; each is a row of tiles by itself. `numbers`: log-sum-exp.

    The jobs contain only these queries, and their blocks are one band of rows that contains all of them.
    """
    with torch.inference_mode():
        first = jobs[0]
        space = Space(len(rows), first.widest, first.stats, len(first.key), first.query)
        wide, n = ceil(first.cols[1] - first.cols[0], first.tile), len(rows)
        strips = [
            strip_class(job)(
                job, job.query, rows, space, _scores_are_bounded(job), *(job.query.new_empty(wide, n) for _ in OWN)
            )
            for job in jobs
        ]
        for span in first.blocks.spans(0, first.widest, first.cols):
            shown = strips[0].visible_parts(span)
            for strip in strips:
                strip.take(span, shown)
        return [Pooled(*strip.weights()) for strip in strips]


def _scores_are_bounded(job: RowJob) -> bool:
    """Whether no score of these queries exceeds SAFE, which may hold even if another query of the head is longer.

    If something is added to scores, it only lowers them; each query then has to see itself, so that a score stays large.
    """
    if job.longest is None:
        return True
    mild = job.scoring.product_bound(length(job.query), job.longest) <= SAFE
    return mild and (not job.scoring.adds or job.scoring.sees_itself(len(job.key)))


def length(vectors: Float[Tensor, "*h n d"]) -> float:
    """The norm of the longest of some vectors."""
    return float(vectors.norm(dim=-1).max())
