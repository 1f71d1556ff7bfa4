"""Head statistics: numbers that describe what a head does.

Every function takes the `Rows` of heads and returns one number per head, `(h)`. Statistics of pairs that depend on the
tokens are in `TOKEN_METRICS`. Fully masked rows count in no mean.

These statistics are in the table of the page Heads and in `profile`. One that only compares the heads of layers, or that
needs more of the weights than `Rows` has, belongs in `analysis/head_numbers.py`. To add one here, write the function, and
add it to `METRICS` with its label and unit, to `Profile`, and to `head_numbers.ORDER`; tests/test_heads.py has each one
again as a loop.
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
CACHED = 2**18  # weights that stay in a processor's cache while several statistics read them


class HeadMetric(NamedTuple):
    """A head statistic: its function, label, unit and formula, and the publication of the formula."""

    of: Callable[[Rows], PerHead]
    label: str
    unit: str
    formula: str
    source: str = ""


class TokenMetric(NamedTuple):
    """A statistic of the weight on some pairs; `of` selects them from the pairs of equal tokens. Else as `HeadMetric`."""

    of: Callable[[Tensor, Tensor], Pairs]
    label: str
    unit: str
    formula: str
    source: str = ""


@dataclass(frozen=True, eq=False)
class Profile:
    """The statistics of every head, each `(h)`, as in `METRICS` and `TOKEN_METRICS`; the latter are None without tokens."""

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
    """Returns the statistics of every head from its weights `(h q k)`, which may be a tensor of your own.

    `mask` is True for the keys that are visible to a query; without it, keys with weight count as visible. `tokens` are
    the n texts of queries that are also the keys; without them, statistics that need them are None. Raises ValueError
    for other shapes.

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
    """Returns the statistics of the rows of these weights by name; without `tokens`, those that need none."""
    known = {name: number.of(found) for name, number in METRICS.items()}
    if tokens is None:
        return known
    pairs = same_token_pairs(tokens)
    return known | {name: mean_weight_on(weights, mask, *number.of(*pairs)) for name, number in TOKEN_METRICS.items()}


@dataclass(frozen=True, eq=False)
class Rows:
    """What the statistics need of the rows of one or more heads.

    `entropy` in nats, the `greatest` weight, the mean `distance` to the keys in tokens, the weights on the `first` key
    `(h q)`, and on the `previous` one, of the queries from the second on that have one `(h m)`; `choices`, (h q) or
    (q): the number of visible keys of a row; `sees_first`, (h q) or (q), and `sees_previous`, (h m) or (m): the rows to
    which these keys are visible; without a mask, all rows that have any weight.
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
        """The rows with a visible key. If the softmax adds one, such a row may still have no weight."""
        return (self.choices > 0).expand_as(self.greatest)


def rows(weights: Weights, mask: Bool[Tensor, "q k"] | None = None) -> Rows:
    """Returns the rows of heads from their weights, which are read block by block, in float32 or wider."""
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
    """Returns entropy, largest weight and mean distance of some rows of some heads."""
    return row_entropy(weights), weights.amax(-1), (weights * apart).sum(-1)


def row_entropy(weights: Float[Tensor, "*q k"]) -> Float[Tensor, "*q"]:
    """Returns the entropy of each row in nats (Clark et al. 2019, section 3.3): -sum p ln p."""
    logs = weights.clamp(min=torch.finfo(weights.dtype).tiny).log2()  # 0 ln 0 is 0; `log` and `entr` are slower
    bits = (weights * logs).sum(-1).clamp(max=0)  # a weight that was rounded to above one would make it positive
    return 0 - math.log(2) * bits  # minus zero would be written with its sign


def entropy(rows: Rows) -> PerHead:
    """Returns the mean entropy of the rows, in nats."""
    return _mean(rows.entropy, rows.seeing)


def entropy_share(rows: Rows) -> PerHead:
    """Returns the mean of entropy / ln(visible keys), its largest value, over the rows with several visible keys."""
    share = rows.entropy / rows.choices.clamp(min=2).to(rows.entropy.dtype).log()
    return _mean(share, rows.seeing & (rows.choices > 1))


def greatest(rows: Rows) -> PerHead:
    """Returns the mean over the rows of the largest weight: the confidence of Voita et al. 2019, section 4.

    They leave out the end-of-sentence token; here every token counts.
    """
    return _mean(rows.greatest, rows.seeing)


def distance(rows: Rows) -> PerHead:
    """Returns the mean distance of query and key in tokens, weighted by attention (Vig & Belinkov 2019, equation 6)."""
    return _mean(rows.distance, rows.seeing)


def first(rows: Rows) -> PerHead:
    """Returns the mean weight on the first token, if visible: the attention sink of Xiao et al. 2023, section 3.1."""
    return _mean(rows.first, rows.sees_first.expand_as(rows.first))


def previous(rows: Rows) -> PerHead:
    """Returns the mean weight on the token just before, if visible (Olsson et al. 2022: previous-token)."""
    return _mean(rows.previous, rows.sees_previous.expand_as(rows.previous))


def token_numbers(tokens: Sequence[str]) -> Int[Tensor, " n"]:
    """Returns a number for each token, the same for equal tokens, ignoring case."""
    words = [token.casefold() for token in tokens]
    numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
    return torch.tensor([numbers[word] for word in words])


def same_token_pairs(tokens: Sequence[str]) -> Pairs:
    """Returns queries and keys that are the same token, ignoring case; a query and itself are such a pair."""
    at = token_numbers(tokens)
    query, key = (at[:, None] == at).nonzero(as_tuple=True)
    return query, key


def induction_pairs(query: Int[Tensor, " m"], key: Int[Tensor, " m"]) -> Pairs:
    """Returns queries, and keys right after an earlier copy of them (Olsson et al. 2022: prefix matching)."""
    earlier = key < query
    return query[earlier], key[earlier] + 1


def mean_weight_on(weights: Weights, mask: Bool[Tensor, "q k"] | None, query: Tensor, key: Tensor) -> PerHead:
    """Returns the mean weight of a query on its keys in these pairs, over the queries for which one is visible."""
    found = weights.flatten(1).index_select(1, query * weights.shape[2] + key)  # faster than by two indices
    found = found.to(torch.promote_types(weights.dtype, torch.float32))
    rows = found.new_zeros(weights.shape[:2]).index_add_(1, query, found)
    if mask is None:
        return _mean(rows, rows > 0)
    seeing = torch.zeros(len(mask), dtype=torch.bool).index_put_((query[mask[query, key]],), torch.tensor(True))
    return _mean(rows, seeing.expand_as(rows))


def _mean(rows: Float[Tensor, "h q"], counted: Bool[Tensor, "h q"]) -> PerHead:
    """Returns the mean over the rows that count; 0 if no row does."""
    return torch.where(counted, rows, 0).sum(-1) / counted.sum(-1).clamp(min=1)


METRICS: dict[str, HeadMetric] = {
    "entropy": HeadMetric(
        entropy, "Entropy", "nats", "mean over queries of -sum p ln p, p the weights", "Clark et al. 2019, section 3.3"
    ),
    "entropy_share": HeadMetric(
        entropy_share,
        "Normalized entropy",
        "",
        "mean of entropy / ln(visible keys), over queries with several",
        "Pielou 1966 (there: evenness)",
    ),
    "greatest": HeadMetric(
        greatest,
        "Largest weight",
        "",
        "mean over queries of the largest weight",
        "Voita et al. 2019, section 4: confidence, without the end token",
    ),
    "distance": HeadMetric(
        distance,
        "Distance",
        "tokens",
        "mean over queries of sum p |q - k|, p the weights",
        "Vig & Belinkov 2019, section 5.1.3, equation 6",
    ),
    "first": HeadMetric(
        first,
        "First token",
        "",
        "mean weight on key 0, over queries for which it is visible",
        "Xiao et al. 2023, section 3.1: attention sink",
    ),
    "previous": HeadMetric(
        previous,
        "Previous token",
        "",
        "mean weight on key q - 1, over queries for which it is visible",
        "Olsson et al. 2022: previous-token head",
    ),
}
TOKEN_METRICS: dict[str, TokenMetric] = {  # statistics of pairs of queries and keys that depend on their tokens
    "same": TokenMetric(
        lambda *pairs: pairs,
        "Same token or itself",
        "",
        "mean weight on keys that are the query's own token, itself included",
        "this app; without the query itself it is the duplicate-token head of Wang et al. 2022",
    ),
    "induction": TokenMetric(
        induction_pairs,
        "Induction",
        "",
        "mean weight on keys right after an earlier copy of the query's token, over queries that have one",
        "Olsson et al. 2022: prefix matching",
    ),
}
ALL_METRICS: dict[str, HeadMetric | TokenMetric] = METRICS | TOKEN_METRICS  # by their names in `Profile`
assert [*ALL_METRICS] == [field.name for field in fields(Profile)], (
    f"Profile needs one field for each entry of METRICS and TOKEN_METRICS, in this order: {', '.join(ALL_METRICS)}."
)
