"""All head statistics, for comparing the heads of all layers: those of `heads.profile`, and further ones.

`numbers` returns all of them. Each is a mean over queries, except the effective rank, which is of the whole matrix of
weights. The further ones are shown on the page Layers and in the map of layers and heads, not in the table of the page
Heads. To add one, write a function, its entry in `FURTHER` (if it needs the weights) or in `PAIRS` (if it is the mean
weight on some pairs), and its place in `ORDER`. Every entry has a unit, a formula and a source; tests/test_head_numbers.py
has each one again as a loop, and on heads whose statistics are known.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention import heads
from attention.heads import Pairs, PerHead, Rows, Weights

MOST = 128  # maximum number of queries in the rank: the time for singular values grows with its third power
MARKS = frozenset(".,;:!?…。、，；：！？")  # marks that end a sentence or a part of one
SPECIAL = ("[", "]"), ("<", ">")  # brackets around the name of a special token
PLAIN = "first", "previous", "next", "same"  # patterns that any text has
FIRST_EXAMPLE = 2  # the first query of an example: of query 1, the first token is also the one before


class Seen(NamedTuple):
    """The heads that are described: weights, mask, statistics of the rows, and the number of visible keys per row."""

    weights: Weights
    mask: Bool[Tensor, "q k"]
    rows: Rows
    choices: Float[Tensor, " q"]


class OfWeights(NamedTuple):
    """A head statistic that is computed from the weights: its function, name, unit, formula and source."""

    of: Callable[[Seen], PerHead]
    label: str
    unit: str
    formula: str
    source: str


class OfPairs(NamedTuple):
    """A head statistic that is the mean weight on pairs; `of` finds the pairs by the token texts. Else as `OfWeights`."""

    of: Callable[[Sequence[str]], Pairs]
    label: str
    unit: str
    formula: str
    source: str


Described = heads.HeadMetric | heads.TokenMetric | OfWeights | OfPairs


def pairs_of(name: str, texts: Sequence[str]) -> Pairs | None:
    """Returns the queries and keys whose weights a statistic counts, in these tokens; None if it is about whole rows."""
    described, at = EVERY[name], torch.arange(len(texts))
    if name in ("first", "previous"):
        return (at, torch.zeros_like(at)) if name == "first" else (at[1:], at[:-1])
    if isinstance(described, heads.TokenMetric):
        return described.of(*heads.same_token_pairs(texts))
    return described.of(texts) if isinstance(described, OfPairs) else None


def example_pairs(name: str, texts: Sequence[str]) -> Pairs | None:
    """Returns those pairs of a statistic that fit none of the other `PLAIN` patterns; None if it is about whole rows.

    >>> example_pairs("previous", ["a", "b", "c", "c", "d"])
    (tensor([2, 4]), tensor([1, 3]))
    """
    if (pairs := pairs_of(name, texts)) is None:
        return None
    alone = torch.zeros(len(texts), len(texts), dtype=torch.bool)
    alone[pairs] = True
    for other in PLAIN if texts else ():
        if other != name and (name, other) != ("duplicate", "same"):  # an earlier copy is the same token
            alone[pairs_of(other, texts)] = False
    alone[:FIRST_EXAMPLE] = False
    query, key = alone.nonzero(as_tuple=True)
    return query, key


def numbers(weights: Weights, mask: Bool[Tensor, "q k"], tokens: Sequence[str] | None = None) -> dict[str, PerHead]:
    """Returns every statistic of the heads `(h q k)`, each `(h)`, in the order of `EVERY`.

    `mask`: the visible keys of each query. `tokens`: the n token texts, if the queries are also the keys; without them,
    statistics that need them are left out.
    """
    rows = heads.rows(weights, mask)
    seen = Seen(weights, mask, rows, mask.sum(-1).float())
    found = heads.metrics(rows, weights, mask, tokens)
    found |= {name: number.of(seen) for name, number in FURTHER.items()}
    if tokens is not None:
        found |= {name: heads.mean_weight_on(weights, mask, *number.of(tokens)) for name, number in PAIRS.items()}
    return {name: found[name] for name in EVERY if name in found}


def effective_keys(seen: Seen) -> PerHead:
    """Returns the mean number of keys of a uniform row with the same entropy (Hill 1973, order 1; Jelinek's perplexity)."""
    return _mean(seen.rows.entropy.exp(), seen.rows.seeing)


def even(seen: Seen) -> PerHead:
    """Returns the share of a row's weight that overlaps with uniform weights, averaged over rows with several visible keys.

    One minus the total variation distance: sum over keys of min(p, 1 / visible keys).
    """
    several = seen.choices > 1
    shares = (seen.mask / seen.choices.clamp(min=1)[:, None])[several]
    found = [torch.minimum(head[several], shares).sum(-1) for head in seen.weights]
    return _mean(torch.stack(found), torch.ones(len(found), len(shares), dtype=torch.bool)) if found else _none(seen)


def effective_rank(seen: Seen) -> PerHead:
    """Returns the effective rank of the weights (Roy & Vetterli 2007): exp of the entropy of the singular values' shares.

    It uses at most `MOST` evenly spaced queries.
    """
    at = torch.linspace(0, seen.weights.shape[1] - 1, min(MOST, seen.weights.shape[1])).round().long()
    found = [_rank(head[at].double()) for head in seen.weights]
    return torch.stack(found).to(seen.rows.entropy.dtype) if found else _none(seen)


def _rank(rows: Float[Tensor, "q k"]) -> Float[Tensor, ""]:
    """Returns the effective rank of one head, from the eigenvalues of W Wᵀ, which is smaller than W.

    Their square roots are the singular values.
    """
    values = torch.linalg.eigvalsh(rows @ rows.T).clamp(min=0).sqrt()
    shares = values / values.sum().clamp(min=torch.finfo(values.dtype).tiny)
    return torch.special.entr(shares).sum().exp() if values.any() else values.new_zeros(())


def following(tokens: Sequence[str]) -> Pairs:
    """Returns the pairs of each token and the next one."""
    query = torch.arange(len(tokens) - 1)
    return query, query + 1


def earlier_copies(tokens: Sequence[str]) -> Pairs:
    """Returns the pairs of each token and its earlier copies, ignoring case."""
    query, key = heads.same_token_pairs(tokens)
    return query[key < query], key[key < query]


def before_copies(tokens: Sequence[str]) -> Pairs:
    """Returns queries, and keys right before an earlier copy of them: the next token, of a text that is read backwards.

    The first token is excluded, as it may be an attention sink.
    """
    query, copy = earlier_copies(tokens)
    return query[copy > 1], copy[copy > 1] - 1


def separators(tokens: Sequence[str]) -> Pairs:
    """Returns the pairs of each token and every separator. The first token is excluded, as it may be an attention sink."""
    keys = torch.tensor([at for at, text in enumerate(tokens) if at and separates(text)], dtype=torch.long)
    query = torch.arange(len(tokens))
    return query.repeat_interleave(len(keys)), keys.repeat(len(query))


def separates(text: str) -> bool:
    """Whether a text is a special token such as [SEP] or </s>, a line end, or a mark that ends a sentence or a part of one."""
    bare = text.strip()
    if not bare:
        return "\n" in text
    return is_special(bare) or all(sign in MARKS for sign in bare)


def is_special(text: str) -> bool:
    """Whether a text is the name of a special token such as [SEP] or </s>."""
    bare = text.strip()
    return any(len(bare) > 2 and bare[0] == first and bare[-1] == last for first, last in SPECIAL) and _has_name(bare)


def _has_name(text: str) -> bool:
    """Whether the text between brackets is a name (it has a letter and no whitespace), not code or another bracket."""
    return any(unicodedata.category(sign)[0] == "L" for sign in text) and not any(sign.isspace() for sign in text)


def _mean(rows: Float[Tensor, "h q"], counted: Bool[Tensor, "h q"]) -> PerHead:
    """Returns the mean over the rows that count; 0 if none does."""
    return torch.where(counted, rows, 0).sum(-1) / counted.sum(-1).clamp(min=1)


def _none(seen: Seen) -> PerHead:
    return seen.weights.new_zeros(len(seen.weights))


FURTHER: dict[str, OfWeights] = {
    "effective_keys": OfWeights(
        effective_keys,
        "Effective keys",
        "keys",
        "mean over queries of exp(entropy), not exp of the mean entropy: the keys of a uniform row with that entropy",
        "Hill 1973, order 1 (perplexity)",
    ),
    "even": OfWeights(
        even,
        "Uniformity",
        "",
        "mean of sum min(p, 1 / visible keys), p the weights, over queries with several: the overlap with uniform weights",
        "1 - total variation distance (Levin & Peres 2017, section 4.1)",
    ),
    "effective_rank": OfWeights(
        effective_rank,
        "Effective rank",
        "dimensions",
        f"exp(-sum s ln s), s the shares of the singular values of the weights, of {MOST} queries at most",
        "Roy & Vetterli 2007",
    ),
}
PAIRS: dict[str, OfPairs] = {
    "next": OfPairs(
        following,
        "Next token",
        "",
        "mean weight on key q + 1, over queries for which it is visible",
        "Clark et al. 2019, section 3.1",
    ),
    "duplicate": OfPairs(
        earlier_copies,
        "Duplicate token",
        "",
        "mean weight on earlier copies of the query's token, over queries that have one",
        "Wang et al. 2022: duplicate-token head",
    ),
    "preceding": OfPairs(
        before_copies,
        "Token before a copy",
        "",
        "mean weight on keys right before an earlier copy of the query's token (not the first key), over queries that have one",
        "this app: induction in the other direction",
    ),
    "separators": OfPairs(
        separators,
        "Separators",
        "",
        "mean weight on special tokens (not the first), line ends, . , ; : ! ? … and CJK forms, over queries with one visible",
        "Clark et al. 2019, section 3.2",
    ),
}
ORDER = (
    "entropy", "entropy_share", "effective_keys", "greatest", "even", "effective_rank", "distance", "first", "previous",
    "next", "same", "duplicate", "induction", "preceding", "separators",
)  # fmt: skip


OF_DISTRIBUTIONS = frozenset(
    {"entropy", "entropy_share", "effective_keys", "even", "distance"}
)  # rows sum to one at most


def in_order(numbers: dict[str, Described]) -> dict[str, Described]:
    """Returns the statistics in the order of ORDER; raises KeyError if the two do not have the same names."""
    if odd := numbers.keys() ^ set(ORDER):
        raise KeyError(f"{', '.join(sorted(odd))}: every head statistic needs exactly one place in head_numbers.ORDER.")
    return {name: numbers[name] for name in ORDER}


EVERY: dict[str, Described] = in_order(heads.ALL_METRICS | FURTHER | PAIRS)
