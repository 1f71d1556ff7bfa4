"""The picture of every head's weights, pooled by tiles, and a few numbers per query."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import torch
from jaxtyping import Float
from torch import Tensor

from attention.maps.blocks import choices
from attention.maps.checks import POOLS, check_choice
from attention.maps.scoring import Scoring
from attention.masks import Rule
from attention.operations.query_scale import LOG, log_keys
from attention.runtime.tensor_cache import tensor_lru_cache
from attention.summary import summarize


@dataclass(frozen=True, eq=False)
class HeadMaps:
    """The weights of every head, pooled by tiles of `tile` x `tile` tokens, with a few numbers per query.

    `mean (h p r)` and `most (h p r)` are the means and maxima of the tiles within `rows` and `cols`, which are all
    `tokens` unless a window was requested. `lse (h q)` is the logarithm of each row's denominator, so that a weight
    is exp(score - lse); for a fully masked row it is -inf, or the logit of the sink if there is one (0 for one in the
    denominator). For sparsemax and entmax it is the row's threshold, infinite for a fully masked row; for a sigmoid, what is
    subtracted from every score; for differential attention that of the first softmax, and `second` that of the second.
    `entropy` in nats, the largest weight `greatest` and the mean `distance` in tokens `(h q)` are float64 as well (entropy and
    distance are NaN where rows are no distributions); maxima and statistics are None if they were not requested. `exact` is
    False in a preview, where one query represents its tile. `first` is the
    number of the first head among `heads`; `held` is the number of the first head in the query and key from which the
    maps were made.

    >>> q = torch.rand(2, 1000, 16)
    >>> maps = attention.head_maps(q, q, side=100)
    >>> maps.pixels.shape, maps.entropy.shape
    (torch.Size([2, 100, 100]), torch.Size([2, 1000]))
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
    second: Float[Tensor, "h q"] | None = None

    def __repr__(self) -> str:
        names = ("tokens", "tile", "rows", "cols", "pool", "pixels", "exact")
        return summarize(self, heads=len(self.lse), **{name: getattr(self, name) for name in names})

    @property
    def numbers(self) -> range:
        """The numbers of these heads among all heads."""
        return range(self.first, self.first + len(self.lse))

    @property
    def pixels(self) -> Float[Tensor, "h p r"]:
        """The picture: means or maxima, depending on `pool`."""
        return self.mean if self.pool == "mean" or self.most is None else self.most

    def pooled_by(self, pool: str) -> HeadMaps:
        """The same maps shown by mean or by maximum; raises ValueError for maxima that were not computed."""
        check_choice("pool", pool, POOLS)
        if pool == "max" and self.most is None:
            raise ValueError("pool='max' was not computed with these maps: ask head_maps for pool='max' or stats=True.")
        return replace(self, pool=pool)


def vectors(maps: HeadMaps, head: int, query: Tensor, key: Tensor) -> tuple[Float[Tensor, "n d"], Float[Tensor, "n d"]]:
    """The queries and keys of a head; if there are fewer heads of keys, neighbouring heads share them."""
    at = head - maps.held
    return query[at], key[at * len(key) // len(query)]


def scale_queries(maps: HeadMaps, q: Float[Tensor, "*r d"], rows: slice | Tensor) -> Float[Tensor, "*r d"]:
    """The queries of these rows, times what the query scale multiplies their scores by."""
    if maps.scoring.query_scale != LOG:
        return q
    return q * _log_counts(maps.scoring.rule, maps.tokens, maps.scoring.span)[rows].to(q)[..., None]


@tensor_lru_cache(8)
def _log_counts(rule: Rule, tokens: int, span: int) -> Float[Tensor, " n"]:
    return log_keys(choices(rule, tokens, span))


def counts(ends: tuple[int, int], tile: int, like: Tensor) -> Float[Tensor, " p"]:
    """The number of tokens in each tile of a range: all but the last are full."""
    starts = torch.arange(ends[0], ends[1], tile, device=like.device)
    return (ends[1] - starts).clamp(max=tile).to(like.dtype)


def join_maps(maps: list[HeadMaps]) -> HeadMaps:
    """Joins the maps of neighbouring heads into one."""
    first = maps[0]
    if len(maps) == 1:
        return first
    return replace(first, **{name: torch.cat([getattr(part, name) for part in maps]) for name in _tensors(first)})


def split(maps: HeadMaps, size: int = 1) -> list[HeadMaps]:
    """Splits maps into views of `size` neighbouring heads each."""
    return [
        replace(maps, first=maps.first + at, **{name: each[at : at + size] for name, each in _tensors(maps).items()})
        for at in range(0, len(maps.lse), size)
    ]


def _tensors(maps: HeadMaps) -> dict[str, Tensor]:
    """The fields that have a head axis."""
    every = {field.name: getattr(maps, field.name) for field in fields(HeadMaps)}
    return {name: value for name, value in every.items() if isinstance(value, Tensor)}
