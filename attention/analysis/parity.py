"""Does the picture agree with PyTorch? The weights and outputs on the screen against its own attention.

`torch.nn.functional.scaled_dot_product_attention` does not return its weights, but it multiplies them with any value:
with the unit matrix as the value, it returns them. Of a map, at any length, a few rows are compared, which follow from its
log-sum-exp; there PyTorch's attention gives the weights on some keys as outputs: the values have a channel for each, one
there and zero elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention.maps import zoom
from attention.maps.blocks import choices
from attention.maps.picture import HeadMaps, split, vectors
from attention.maps.sizes import precision, working
from attention.scores import HIDDEN, POSITIONS, adds_one, sinusoidal, soft_cap
from attention.trace import Trace, position_bias

CLOSE = 1e-5
STORED = (
    2**-8
)  # what a row's sum may be off by where weights were stored with 16 bits: half the step of bfloat16 at one
BUDGET = 2**27  # multiplications of the check at the most: about as long as the pass itself
TOGETHER = 2**20  # numbers of the unit matrices up to which these, made one by one, go through one pass with the values
KEYS = 256  # keys whose weights are compared, evenly spread, apart from the heaviest of each row
CHANNELS = 32  # channels of a value at once: its n tokens are the memory that is taken


@dataclass(frozen=True)
class Parity:
    """Greatest differences of `weights` and `output` (before W_o, None without values) to PyTorch, greatest error of a
    row's sum, how many rows see nothing (`blind`), and how many rows of each head were compared (`rows`), evenly spread
    and with the last. Of weights that came alone there are the sums only, and `weights` is None; `farthest` is the head and
    the query of the row whose sum is farthest off, where any row sees a key.

    `rounding` is what scores may be off by because numbers have so many digits; a weight is as much off, of its size.
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
        """Within what float32 allows where scores are not large: 1e-5 relative to outputs of about one."""
        return self._most <= CLOSE

    @property
    def agrees(self) -> bool:
        """Within that and what the scores are rounded by."""
        return self._most <= CLOSE + self.rounding

    @property
    def _most(self) -> float:
        return max(self.weights or 0.0, self.output or 0.0, self.row_sum)


def parity(trace: Trace) -> Parity:
    """The pass against scaled_dot_product_attention on the same q, k, v, mask, bias, scale and softmax."""
    if not trace.has.issuperset("qk"):
        return _sums_alone(trace)
    h, n, m = trace.weights.shape
    many = min(n, BUDGET // (h * m * m) or 1)
    rows = evenly(n, many) if many < n else slice(None)
    config, bias = trace.config, position_bias(trace.config)
    values, one_hot = trace.given.v, torch.eye(m).expand(h, -1, -1)
    some = [one_hot] if values is None else [values, one_hot]
    if h * m * m <= TOGETHER:
        some = [torch.cat(some, -1)]
    with torch.inference_mode():
        mask = torch.where(trace.mask[rows], 0.0 if bias is None else bias[:, rows], HIDDEN)
        given = trace.q[:, rows], trace.k
        theirs = [by_torch(*given, value, mask, trace.scale, config.softcap, config.softmax) for value in some]
        context, weights = torch.cat([each.output for each in theirs], -1).tensor_split([-m], -1)
        seen = trace.mask.any(-1)
        return Parity(
            weights=greatest(trace.weights[:, rows] - weights),
            output=None if values is None else greatest(trace.context[:, rows] - context),
            row_sum=greatest(_sums(trace, rows, theirs[0].nothing) - 1),
            blind=int((~seen).sum()),
            rows=many,
            rounding=rounding(trace.q[:, rows], trace.k, trace.scale, config.softcap),
        )


def worst(found: Sequence[Parity]) -> Parity:
    """One comparison for several of some heads each, of the same rows: the greatest of each difference."""
    numbers = zip(*(vars(one).values() for one in found), strict=True)
    return Parity(*(None if None in each else max(each) for each in numbers))  # pyright: ignore[reportArgumentType]


def _sums_alone(trace: Trace) -> Parity:
    """What can be checked of weights alone: that rows sum to one, or to no more where some of it may go elsewhere."""
    seen = trace.mask.any(-1)
    over = trace.weights[:, seen].double().sum(-1) - 1
    over = over if not adds_one(trace.config.softmax) else over.clamp(min=0)
    return Parity(None, None, greatest(over), int((~seen).sum()), len(seen), STORED, _farthest(over, seen))


def _farthest(off: Float[Tensor, "h s"], seen: Bool[Tensor, " n"]) -> tuple[int, int] | None:
    """The head and the query that are farthest off, of the queries that see something."""
    if not off.numel():
        return None
    head, at = divmod(int(off.abs().argmax()), off.shape[1])
    return head, int(seen.nonzero()[at])


def rounding(query: Float[Tensor, "h r d"], key: Float[Tensor, "g n d"], scale: float, softcap: float | None) -> float:
    """What scores may be off by: the relative step of their dtype, times the most that they can be by their lengths."""
    most = float(query.norm(dim=-1).max() * key.norm(dim=-1).max()) * abs(scale)
    return torch.finfo(query.dtype).eps * min(most, softcap or math.inf)


def evenly(n: int, many: int) -> Int[Tensor, " r"]:
    """So many of n positions, evenly spread and with the last; all where there are fewer."""
    found = torch.linspace(0, n - 1, min(n, many)).round().long()
    found[-1] = n - 1
    return found


def _sums(trace: Trace, rows: Int[Tensor, " r"] | slice, nothing: Float[Tensor, "h r"]) -> Float[Tensor, "h s"]:
    """Sums of every row that sees something; of the compared ones, with what went to it, where one was added."""
    seen = trace.mask.any(-1)
    if not adds_one(trace.config.softmax):
        return trace.weights.sum(-1)[:, seen]
    return (trace.weights[:, rows].sum(-1) + nothing)[:, seen[rows]]


class ByTorch(NamedTuple):
    """What scaled_dot_product_attention gives: its output, and the weight that goes to the one that may be added."""

    output: Float[Tensor, "h r e"]
    nothing: Float[Tensor, "h r"]


def by_torch(
    q: Float[Tensor, "h r d"],
    k: Float[Tensor, "h n d"],
    v: Float[Tensor, "h n e"],
    mask: Float[Tensor, "*h r n"],
    scale: float,
    softcap: float | None,
    softmax: str,
) -> ByTorch:
    """Attention of these queries by scaled_dot_product_attention, with a mask that is added to the scores.

    A softcap, which it does not have, goes in as scores that are ready (a float mask over queries of zero); one added
    to the denominator is a key of zeros with a value of zeros, and a channel of its own to tell its weight.
    """
    if softcap:
        mask = mask + soft_cap(q @ k.mT * scale, softcap)
        q = torch.zeros_like(q)
    if adds_one(softmax):
        k, v, mask = F.pad(k, (0, 0, 0, 1)), F.pad(v, (0, 1, 0, 1)), F.pad(mask, (0, 1))
        v[:, -1, -1] = 1
    found = F.scaled_dot_product_attention(q[None], k[None], v[None], mask.expand(1, len(q), -1, -1), scale=scale)[0]
    if adds_one(softmax):
        return ByTorch(found[..., :-1], found[..., -1])
    return ByTorch(found, torch.zeros_like(found[..., 0]))


def greatest(difference: Tensor) -> float:
    """The greatest absolute value, 0 of none."""
    return float(difference.abs().max()) if difference.numel() else 0.0


def map_parity(maps: HeadMaps, query: Float[Tensor, "h n d"], key: Float[Tensor, "g n d"], rows: int = 16) -> Parity:
    """Rows of every head of the maps against scaled_dot_product_attention on the same q, k, mask, bias, scale, softmax.

    Compared are weights on 256 keys and the heaviest of each row, the output for sines and cosines of the position as
    the values, and the sum of the row. `rounding` is of what the maps were computed in: the greatest of their heads. Raises
    ValueError for a window and for a preview.
    """
    zoom.check(maps, whole=True)
    at = evenly(maps.tokens, rows)
    seeing = choices(maps.scoring.rule, maps.tokens, maps.scoring.span) > 0
    with torch.inference_mode():
        found = [
            _compare_rows(each, query, key, at.to(query.device), seeing[at].to(query.device)) for each in split(maps)
        ]
    most = [max(differences) for differences in zip(*found, strict=True)]
    rounded = max(_rounding_error(maps, head, query, key, at.to(query.device)) for head in maps.numbers)
    return Parity(*most, blind=int((~seeing).sum()), rows=len(at), rounding=rounded)


def _rounding_error(maps: HeadMaps, head: int, query: Tensor, key: Tensor, rows: Int[Tensor, " r"]) -> float:
    """What the scores of these rows may be off by in what the head's map was computed in, whatever they are compared in."""
    q, k = vectors(maps, head, query, key)
    dtype = working(q, k, maps.scoring)
    return rounding(q[None, rows].to(dtype), k[None].to(dtype), maps.scoring.scale, maps.scoring.softcap)


def _compare_rows(
    maps: HeadMaps, query: Tensor, key: Tensor, rows: Int[Tensor, " r"], seeing: Bool[Tensor, " r"]
) -> tuple[float, float, float]:
    """Greatest differences of weights, outputs and sums of some rows of one head."""
    n, dtype, scoring = maps.tokens, precision(query), maps.scoring
    weights = torch.cat([zoom.row(maps, query, key, at) for at in rows.tolist()])
    q, k = vectors(maps, maps.first, query, key)
    q, k = q[rows].to(dtype)[None], k.to(dtype)[None]
    keys = torch.cat([evenly(n, KEYS).to(rows.device), weights.argmax(-1)])
    mask = _mask(maps, rows, q)

    def torchs(value: Float[Tensor, "n e"]) -> ByTorch:
        return by_torch(q, k, value[None], mask, scoring.scale, scoring.softcap, scoring.softmax)

    def outputs(sines: Float[Tensor, "n e"]) -> tuple[float, float]:
        found = torchs(sines)
        return greatest(weights @ sines - found.output), greatest((weights.sum(-1) + found.nothing)[:, seeing] - 1)

    output, total = outputs(sinusoidal(n, CHANNELS).to(k))  # gone before other values, as large, are made
    weight = max(greatest(weights[:, some] - torchs(_one_hot(some, k)).output) for some in keys.split(CHANNELS))
    return weight, output, total


def _one_hot(keys: Int[Tensor, " e"], like: Float[Tensor, "1 n d"]) -> Float[Tensor, "n e"]:
    """Values with a channel for each of these keys."""
    value = like.new_zeros(like.shape[1], len(keys))
    value[keys, torch.arange(len(keys), device=like.device)] = 1
    return value


def _mask(maps: HeadMaps, rows: Int[Tensor, " r"], like: Tensor) -> Float[Tensor, "1 r n"]:
    """What is added to the scores of these rows: the bias of positions, and minus infinity where a key is hidden."""
    q, k = rows[:, None], torch.arange(maps.tokens, device=like.device)[None]
    to_scores, head = POSITIONS[maps.scoring.positions].to_scores, torch.tensor(maps.first, device=like.device)
    bias = to_scores(q, k, head, maps.heads).to(like) if to_scores else like.new_zeros(())
    return torch.where(maps.scoring.sees(q, k, maps.tokens, like), bias, HIDDEN)[None]
