"""Compares weights and outputs with PyTorch's own attention.

`torch.nn.functional.scaled_dot_product_attention` does not return its weights, but with the identity matrix as values its
output is the weights. For maps of any length a few rows are compared, which follow from the log-sum-exp; there the values
have one channel per compared key, which is one at that key and zero elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention.maps import zoom
from attention.maps.blocks import choices
from attention.maps.picture import HeadMaps, scale_queries, split, vectors
from attention.maps.sizes import precision, working
from attention.operations.by_torch import ByTorch, by_torch, row_sizes
from attention.operations.mask import HIDDEN
from attention.operations.positions import sinusoidal
from attention.operations.softmax import SOFTMAXES
from attention.trace import Trace, scaled_queries

CLOSE = 1e-5
STORED = 2**-8  # error of a row's sum if weights were stored with 16 bits: half the step of bfloat16 at one
BUDGET = 2**27  # maximum number of multiplications of the check, which then takes about as long as the pass
TOGETHER = 2**20  # elements of the identity matrices up to which they are concatenated to the values, for a single pass
KEYS = 256  # evenly spaced keys whose weights are compared, in addition to the heaviest of each row
CHANNELS = 32  # channels of the values per pass: values of n tokens dominate the memory

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Parity:
    """Result of a comparison with PyTorch.

    `weights`, `output` (before W_o, None without values): largest differences from PyTorch; `row_sum`: largest error of a
    row's sum; `blind`: number of fully masked rows; `rows`: number of rows compared per head, evenly spaced and including
    the last. For a source with weights alone only the sums are checked and `weights` is None; `farthest` is then the head
    and the query whose sum has the largest error, None if all rows are fully masked.

    `rounding` is the error that scores may have from rounding; it is also the relative error of a weight.
    """

    weights: float | None
    output: float | None
    row_sum: float
    blind: int
    rows: int
    rounding: float = 0.0
    farthest: tuple[int, int] | None = None

    @property
    def close(self) -> bool:
        """Whether all differences are within 1e-5, which float32 allows for outputs of about one if scores are not large."""
        return self._most <= CLOSE

    @property
    def agrees(self) -> bool:
        """Whether all differences are within 1e-5 plus the rounding of the scores."""
        return self._most <= CLOSE + self.rounding

    @property
    def _most(self) -> float:
        return largest(self.weights or 0.0, self.output or 0.0, self.row_sum)


def parity(trace: Trace) -> Parity:
    """Compares the pass with scaled_dot_product_attention on the same q, k, v, mask, bias, scale and softmax."""
    if not trace.has.issuperset("qk"):
        return _sums_alone(trace)
    h, n, m = trace.weights.shape
    many = min(n, BUDGET // (h * m * m) or 1)
    rows = evenly(n, many) if many < n else slice(None)
    config = trace.config
    values, one_hot = trace.given.v, torch.eye(m).expand(h, -1, -1)
    some = [one_hot] if values is None else [values, one_hot]
    if h * m * m <= TOGETHER:
        some = [torch.cat(some, -1)]
    with torch.inference_mode():
        mask = torch.where(trace.mask[rows], trace.bias[:, rows], HIDDEN)
        given = scaled_queries(config, trace.q, trace.mask)[:, rows], trace.k
        theirs = [
            by_torch(*given, value, mask, trace.scale, config.softcap, config.softmax, config.sinks) for value in some
        ]
        context, weights = torch.cat([each.output for each in theirs], -1).tensor_split([-m], -1)
        seen = trace.mask.any(-1)
        return Parity(
            weights=greatest(trace.weights[:, rows] - weights),
            output=None
            if values is None
            else greatest((trace.context[:, rows] - context) / _sizes(trace, rows)[..., None]),
            row_sum=greatest(_sums(trace, rows, theirs[0].nothing) - 1),
            blind=int((~seen).sum()),
            rows=many,
            rounding=rounding(*given, trace.scale, config.softcap) * SOFTMAXES[config.softmax].rise,
        )


def worst(found: Sequence[Parity]) -> Parity:
    """Combines comparisons of different heads on the same rows: the largest of each field."""
    numbers = zip(*(vars(one).values() for one in found), strict=True)
    return Parity(*(None if None in each else largest(*each) for each in numbers))  # pyright: ignore[reportArgumentType]


def _sums_alone(trace: Trace) -> Parity:
    """Checks weights without queries and keys: rows sum to one, or to at most one if one is added to the denominator."""
    seen = trace.mask.any(-1)
    over = trace.weights[:, seen].double().sum(-1) - 1
    over = over if SOFTMAXES[trace.config.softmax].sums_to_one else over.clamp(min=0)
    return Parity(None, None, greatest(over), int((~seen).sum()), len(seen), STORED, _farthest(over, seen))


def _farthest(off: Float[Tensor, "h s"], seen: Bool[Tensor, " n"]) -> tuple[int, int] | None:
    """Returns the head and the query with the largest error, of the queries with a visible key; None if there are none."""
    if not off.numel():
        return None
    head, at = divmod(int(off.abs().argmax()), off.shape[1])
    return head, int(seen.nonzero()[at])


def rounding(query: Float[Tensor, "h r d"], key: Float[Tensor, "g n d"], scale: float, softcap: float | None) -> float:
    """Returns the rounding error of scores: the relative step of their dtype times their bound |q| |k| scale, or the softcap."""
    most = float(query.norm(dim=-1).max() * key.norm(dim=-1).max()) * abs(scale)
    return torch.finfo(query.dtype).eps * min(most, softcap or math.inf)


def evenly(n: int, many: int) -> Int[Tensor, " r"]:
    """Returns `many` of n positions, evenly spaced and including the last; all of them if n is smaller."""
    found = torch.linspace(0, n - 1, min(n, many)).round().long()
    found[-1] = n - 1
    return found


def _sums(trace: Trace, rows: Int[Tensor, " r"] | slice, nothing: Float[Tensor, "h r"]) -> Float[Tensor, "h s"]:
    """Returns the sums of rows with a visible key: all of them, or the compared ones plus `nothing` if one is added."""
    seen = trace.mask.any(-1)
    if SOFTMAXES[trace.config.softmax].sums_to_one:
        return trace.weights.sum(-1)[:, seen]
    weights = trace.weights[:, rows].double()
    return (1 + (weights.sum(-1) + nothing - 1) / _sizes(trace, rows))[:, seen[rows]]


def _sizes(trace: Trace, rows: Int[Tensor, " r"] | slice) -> Float[Tensor, "h r"]:
    """Returns what differences of outputs and sums are divided by (`row_sizes`)."""
    return row_sizes(trace.weights[:, rows], trace.config.softmax)


def greatest(difference: Tensor) -> float:
    """Returns the largest absolute value, 0 for an empty tensor."""
    return float(difference.abs().max()) if difference.numel() else 0.0


def largest(*differences: Number) -> Number:
    """Returns the largest number, NaN if any is NaN; max() would depend on their order."""
    return next((each for each in differences if math.isnan(each)), max(differences))


def map_parity(maps: HeadMaps, query: Float[Tensor, "h n d"], key: Float[Tensor, "g n d"], rows: int = 16) -> Parity:
    """Compares rows of every head of the maps with scaled_dot_product_attention on the same q, k, mask, bias, scale, softmax.

    Compared are the weights on 256 keys and on the heaviest key of each row, the output with sines and cosines of the
    position as values, and the sum of the row. `rounding` is for the dtype that the maps were computed in: the largest of
    all heads. Raises ValueError for a window and for a preview.
    """
    zoom.check(maps, whole=True)
    at = evenly(maps.tokens, rows)
    seeing = choices(maps.scoring.rule, maps.tokens, maps.scoring.span) > 0
    with torch.inference_mode():
        found = [
            _compare_rows(each, query, key, at.to(query.device), seeing[at].to(query.device)) for each in split(maps)
        ]
    most = [largest(*differences) for differences in zip(*found, strict=True)]
    rounded = largest(*(_rounding_error(maps, head, query, key, at.to(query.device)) for head in maps.numbers))
    return Parity(*most, blind=int((~seeing).sum()), rows=len(at), rounding=rounded)


def _rounding_error(maps: HeadMaps, head: int, query: Tensor, key: Tensor, rows: Int[Tensor, " r"]) -> float:
    """Returns the rounding error of these rows' scores in the dtype that the head's map was computed in."""
    q, k = vectors(maps, head, query, key)
    q = scale_queries(maps, q, slice(None))
    dtype = working(q, k, maps.scoring)
    found = rounding(q[None, rows].to(dtype), k[None].to(dtype), maps.scoring.scale, maps.scoring.softcap)
    return found * SOFTMAXES[maps.scoring.softmax].rise


def _compare_rows(
    maps: HeadMaps, query: Tensor, key: Tensor, rows: Int[Tensor, " r"], seeing: Bool[Tensor, " r"]
) -> tuple[float, float, float]:
    """Returns the largest differences of weights, outputs and sums of some rows of one head."""
    n, dtype, scoring = maps.tokens, precision(query), maps.scoring
    weights = torch.cat([zoom.row(maps, query, key, at) for at in rows.tolist()])
    q, k = vectors(maps, maps.first, query, key)
    q, k = scale_queries(maps, q[rows].to(dtype), rows)[None], k.to(dtype)[None]
    keys = torch.cat([evenly(n, KEYS).to(rows.device), weights.argmax(-1)])
    mask = _mask(maps, rows, q)

    def torchs(value: Float[Tensor, "n e"]) -> ByTorch:
        own = scoring.softmax, [scoring.sink(maps.first)]
        return by_torch(q, k, value[None], mask, scoring.scale, scoring.softcap, *own)

    def outputs(sines: Float[Tensor, "n e"]) -> tuple[float, float]:
        found = torchs(sines)
        size = row_sizes(weights, scoring.softmax)
        off = (weights.double().sum(-1) + found.nothing - 1) / size
        return greatest((weights @ sines - found.output) / size[..., None]), greatest(off[:, seeing])

    output, total = outputs(sinusoidal(n, CHANNELS).to(k))  # freed before other values of this size
    weight = largest(*(greatest(weights[:, some] - torchs(_one_hot(some, k)).output) for some in keys.split(CHANNELS)))
    return weight, output, total


def _one_hot(keys: Int[Tensor, " e"], like: Float[Tensor, "1 n d"]) -> Float[Tensor, "n e"]:
    """Returns values with one channel per key in `keys`, one at that key and zero elsewhere."""
    value = like.new_zeros(like.shape[1], len(keys))
    value[keys, torch.arange(len(keys), device=like.device)] = 1
    return value


def _mask(maps: HeadMaps, rows: Int[Tensor, " r"], like: Tensor) -> Float[Tensor, "1 r n"]:
    """Returns the mask that is added to the scores of these rows: the bias, and minus infinity for masked keys."""
    q, k = rows[:, None], torch.arange(maps.tokens, device=like.device)[None]
    bias = like.new_zeros(())
    for part in maps.scoring.score_biases(q, k, maps.first, maps.heads, like):
        bias = bias + part.to(like)
    return torch.where(maps.scoring.sees(q, k, maps.tokens, like), bias, HIDDEN)[None]
