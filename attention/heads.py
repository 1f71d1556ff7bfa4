"""What a head does, in numbers.

Every function takes the `Rows` of heads and gives one number a head, `(h)`. To add one: write it, and
put its name and unit into `NUMBERS`, and its field into `Profile`; the table follows. Numbers of pairs that the tokens
make stand in `OF_TOKENS`. Rows that see nothing count in no
mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

Weights = Float[Tensor, "h q k"]
PerHead = Float[Tensor, "h"]
Pairs = tuple[Int[Tensor, " s"], Int[Tensor, " s"]]  # queries and keys
CACHED = 2**18  # weights that stay in a processor's cache while they are read for one number after another


class HeadMetric(NamedTuple):
    """A number about a head: how it is computed, what it is called, its unit, its formula, and whose that is."""

    of: Callable[[Rows], PerHead]
    label: str
    unit: str
    formula: str
    source: str = ""


class TokenMetric(NamedTuple):
    """A number about the weight on some pairs: which, of those of the same token; what else is said of it is as above."""

    of: Callable[[Tensor, Tensor], Pairs]
    label: str
    unit: str
    formula: str
    source: str = ""


@dataclass(frozen=True, eq=False)
class Profile:
    """The numbers of every head, each `(h)`, in the order of `NUMBERS` and `OF_TOKENS`; these are None without tokens."""

    entropy: PerHead
    entropy_share: PerHead
    greatest: PerHead
    distance: PerHead
    first: PerHead
    previous: PerHead
    same: PerHead | None = None
    induction: PerHead | None = None


def profile(
    weights: Float[Tensor, "h q k"], mask: Bool[Tensor, "q k"] | None = None, tokens: Sequence[str] | None = None
) -> Profile:
    """The numbers of every head from its weights `(h q k)`, which may be a tensor of your own.

    `mask` says which keys a query may see (True takes part); without it, those that have weight. `tokens`: the n texts
    of queries that are also the keys; without them, numbers that need them are None. Raises ValueError for other shapes.

    >>> weights = torch.eye(4).roll(-1, 1)[None]  # one head: each query attends to the key before it
    >>> profile(weights).previous
    tensor([1.])
    """
    if weights.ndim != 3 or 0 in weights.shape[1:]:
        raise ValueError(f"weights of shape {tuple(weights.shape)} are not (heads, queries, keys) of one or more.")
    if tokens is not None and (len(tokens), len(tokens)) != weights.shape[1:]:
        raise ValueError(
            f"{len(tokens)} tokens don't fit weights of {tuple(weights.shape[1:])}: they are one for each query and key."
        )
    return Profile(**metrics(rows(weights, mask), weights, mask, tokens))


def metrics(
    found: Rows, weights: Weights, mask: Bool[Tensor, "q k"] | None, tokens: Sequence[str] | None
) -> dict[str, PerHead]:
    """Those of the rows of these weights by their names; without `tokens`, those that need none."""
    known = {name: number.of(found) for name, number in METRICS.items()}
    if tokens is None:
        return known
    pairs = same_token_pairs(tokens)
    return known | {name: mean_weight_on(weights, mask, *number.of(*pairs)) for name, number in TOKEN_METRICS.items()}


@dataclass(frozen=True, eq=False)
class Rows:
    """What the numbers need of the rows of one or more heads.

    `entropy` in nats, the `greatest` weight, the mean `distance` to the keys in tokens, the weights on the `first` key
    `(h q)` and on the `previous` one, of the queries from the second on that have one `(h m)`; `choices`: how many keys
    a row may see, (h q) or (q); `sees_first` (h q) or (q) and `sees_previous` (h m) or (m): which rows may see these keys;
    without a mask all that have any weight.
    """

    entropy: Float[Tensor, "h q"]
    greatest: Float[Tensor, "h q"]
    distance: Float[Tensor, "h q"]
    first: Float[Tensor, "h q"]
    previous: Float[Tensor, "h m"]
    choices: Int[Tensor, "..."]
    sees_first: Bool[Tensor, "..."]
    sees_previous: Bool[Tensor, "..."]

    @property
    def seeing(self) -> Bool[Tensor, "h q"]:
        """Which rows see anything? Those of a softmax that adds one may do so and still have no weight."""
        return (self.choices > 0).expand_as(self.greatest)


def rows(weights: Weights, mask: Bool[Tensor, "q k"] | None = None) -> Rows:
    """The rows of heads, from their weights, which are read block by block, in float32 at least."""
    queries, keys = weights.shape[-2:]
    dtype = torch.promote_types(weights.dtype, torch.float32)
    high = min(queries, max(1, CACHED // keys))
    at = torch.arange(max(queries, keys), device=weights.device)
    bands = []
    for band, these in zip(weights.split(high, 1), at[:queries].split(high), strict=True):
        apart = (these[:, None] - at[None, :keys]).abs().to(dtype)
        blocks = band.split(max(1, CACHED // (high * keys)))
        found = (_block(block.to(dtype), apart) for block in blocks)
        bands.append([torch.cat(each) for each in zip(*found, strict=True)])
    entropy, greatest, distance = (torch.cat(each, -1) for each in zip(*bands, strict=True))
    choices = (weights > 0).sum(-1) if mask is None else mask.sum(-1)
    return Rows(
        entropy=entropy,
        greatest=greatest,
        distance=distance,
        first=weights[..., 0].to(dtype),
        previous=weights[:, 1:].diagonal(0, 1, 2).to(dtype),
        choices=choices,
        sees_first=choices > 0 if mask is None else mask[:, 0],
        sees_previous=choices[:, 1 : weights.shape[2] + 1] > 0 if mask is None else mask[1:].diagonal(),
    )


def _block(weights: Weights, apart: Float[Tensor, "q k"]) -> tuple[Tensor, Tensor, Tensor]:
    """Entropy, greatest weight and mean distance of some rows of some heads."""
    return row_entropy(weights), weights.amax(-1), (weights * apart).sum(-1)


def row_entropy(weights: Float[Tensor, "*q k"]) -> Float[Tensor, "*q"]:
    """Entropy of each row in nats (Clark et al. 2019, section 3.3): -sum p ln p."""
    logs = weights.clamp(min=torch.finfo(weights.dtype).tiny).log2()  # 0 ln 0 is 0; `log` and `entr` are slower
    bits = (weights * logs).sum(-1).clamp(max=0)  # of a weight that was rounded to above one it would be positive
    return 0 - math.log(2) * bits  # and minus zero would be written with its sign


def entropy(rows: Rows) -> PerHead:
    """Mean entropy of the rows, in nats."""
    return _mean(rows.entropy, rows.seeing)


def entropy_share(rows: Rows) -> PerHead:
    """Mean over the rows of entropy over the most it could be, ln of the keys they may see, where these are several."""
    share = rows.entropy / rows.choices.clamp(min=2).to(rows.entropy.dtype).log()
    return _mean(share, rows.seeing & (rows.choices > 1))


def greatest(rows: Rows) -> PerHead:
    """Mean over the rows of the greatest weight: the confidence of Voita et al. 2019, section 4.

    They leave out the end-of-sentence token; here every token counts.
    """
    return _mean(rows.greatest, rows.seeing)


def distance(rows: Rows) -> PerHead:
    """Mean distance between query and key in tokens, weighted by attention (Vig & Belinkov 2019, equation 6)."""
    return _mean(rows.distance, rows.seeing)


def first(rows: Rows) -> PerHead:
    """Mean weight on the first token, over the queries that see it: the attention sink of Xiao et al. 2023, section 3.1."""
    return _mean(rows.first, rows.sees_first.expand_as(rows.first))


def previous(rows: Rows) -> PerHead:
    """Mean weight on the token just before, over the queries that see it (Olsson et al. 2022: previous-token)."""
    return _mean(rows.previous, rows.sees_previous.expand_as(rows.previous))


def token_numbers(tokens: Sequence[str]) -> Int[Tensor, " n"]:
    """A number for each token, the same for the same one, capital letters aside."""
    words = [token.casefold() for token in tokens]
    numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
    return torch.tensor([numbers[word] for word in words])


def same_token_pairs(tokens: Sequence[str]) -> Pairs:
    """Queries and keys that are the same token, capital letters aside; a query and itself are such a pair."""
    at = token_numbers(tokens)
    query, key = (at[:, None] == at).nonzero(as_tuple=True)
    return query, key


def induction_pairs(query: Int[Tensor, " m"], key: Int[Tensor, " m"]) -> Pairs:
    """Of pairs of the same token: queries, and keys right after an earlier copy (Olsson et al. 2022: prefix matching)."""
    earlier = key < query
    return query[earlier], key[earlier] + 1


def mean_weight_on(weights: Weights, mask: Bool[Tensor, "q k"] | None, query: Tensor, key: Tensor) -> PerHead:
    """Mean weight of a query on such keys of its own, over the queries that see one."""
    found = weights.flatten(1).index_select(1, query * weights.shape[2] + key)  # faster than by two indices
    found = found.to(torch.promote_types(weights.dtype, torch.float32))
    rows = found.new_zeros(weights.shape[:2]).index_add_(1, query, found)
    if mask is None:
        return _mean(rows, rows > 0)
    seeing = torch.zeros(len(mask), dtype=torch.bool).index_put_((query[mask[query, key]],), torch.tensor(True))
    return _mean(rows, seeing.expand_as(rows))


def _mean(rows: Float[Tensor, "h q"], counted: Bool[Tensor, "h q"]) -> PerHead:
    """Mean over the rows that count; 0 where none does."""
    return torch.where(counted, rows, 0).sum(-1) / counted.sum(-1).clamp(min=1)


METRICS: dict[str, HeadMetric] = {
    "entropy": HeadMetric(
        entropy, "Entropy", "nats", "mean over queries of -sum p ln p", "Clark et al. 2019, section 3.3"
    ),
    "entropy_share": HeadMetric(
        entropy_share,
        "Share",
        "",
        "mean of entropy / ln(keys that may be seen), over queries that see several",
        "Pielou 1966: evenness",
    ),
    "greatest": HeadMetric(
        greatest,
        "Greatest",
        "",
        "mean over queries of max p",
        "Voita et al. 2019, section 4: confidence, without the end token",
    ),
    "distance": HeadMetric(
        distance,
        "Distance",
        "tokens",
        "mean over queries of sum p |q - k|",
        "Vig & Belinkov 2019, section 5.1.3, equation 6",
    ),
    "first": HeadMetric(
        first, "First", "", "mean of p at key 0, over queries that see it", "Xiao et al. 2023, section 3.1: a sink"
    ),
    "previous": HeadMetric(
        previous,
        "Previous",
        "",
        "mean of p at key q - 1, over queries that see it",
        "Olsson et al. 2022: previous-token head",
    ),
}
TOKEN_METRICS: dict[str, TokenMetric] = {  # numbers of those pairs of queries and keys that their tokens make
    "same": TokenMetric(
        lambda *pairs: pairs,
        "Same",
        "",
        "mean of p on keys that are the query's own token, itself included",
        "this app; without the query itself it is the duplicate-token head of Wang et al. 2022",
    ),
    "induction": TokenMetric(
        induction_pairs,
        "Induction",
        "",
        "mean of p on keys right after an earlier copy of the query's token, over queries that have one",
        "Olsson et al. 2022: prefix matching",
    ),
}
ALL_METRICS: dict[str, HeadMetric | TokenMetric] = METRICS | TOKEN_METRICS  # by their names in a profile
assert tuple(ALL_METRICS) == tuple(field.name for field in fields(Profile)), (
    "NUMBERS, OF_TOKENS: each needs its field in Profile"
)
