"""Texts in which tokens occur again: where a text repeats, and whether a head finds what followed an earlier copy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import nextafter
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention import heads
from attention.analysis.head_numbers import example_pairs
from attention.heads import Pairs

LETTERS = 7  # of words that are short, as an example
NEARLY = 0.9  # of the largest weight: from this share on a pair of short words is preferred


class Copy(NamedTuple):
    """A token that occurred before, a token that followed an earlier copy of it, and the weight between them."""

    query: int
    key: int
    weight: float


class Largest(NamedTuple):
    """The two tokens between which a head has its largest weight, and the weight; `of_row`: the largest of one row.

    `is_next`: the key has the token that comes next.
    """

    query: int
    key: int
    weight: float
    of_row: bool = False
    is_next: bool = False


def repeat_starts(texts: Sequence[str]) -> list[int]:
    """Returns where each repeat starts if a text is one passage several times, apart from its first token; otherwise [].

    >>> repeat_starts(["[start]", "a", "b", "a", "b", "a", "b"])
    [1, 3, 5]
    """
    words, count = list(texts[1:]), len(texts) - 1
    for size in range(2, count // 2 + 1):
        if count % size == 0 and words == words[:size] * (count // size):
            return list(range(1, len(texts), size))
    return []


def count_after_copies(
    weights: Float[Tensor, "q k"], mask: Bool[Tensor, "q k"], texts: Sequence[str]
) -> tuple[int, int]:
    """Returns of how many queries the largest weight is on what followed an earlier copy, and how many see such a key."""
    after = torch.zeros_like(mask)
    after[heads.induction_pairs(*heads.same_token_pairs(texts))] = True
    after &= mask
    right = after.gather(-1, weights.argmax(-1, keepdim=True))
    return int(right.sum()), int(after.any(-1).sum())


def next_places(texts: Sequence[str], sign: str) -> Pairs:
    """Returns the queries from a sign on, and the places before the sign of the token that comes next.

    After the last token, that is the one which occurs less often behind the sign than before it, if there is only one.

    >>> next_places(["a", "b", "→", "b", "a"], "→")
    (tensor([2, 3]), tensor([1, 0]))
    >>> next_places(["a", "b", "→", "b"], "→")
    (tensor([2, 3]), tensor([1, 0]))
    >>> next_places(["a"], "→")
    (tensor([], dtype=torch.int64), tensor([], dtype=torch.int64))
    """
    start = texts.index(sign) if sign in texts else 0
    answer = texts[start + 1 :]
    left = [*(Counter(texts[:start]) - Counter(answer)).elements()]
    found = [
        (query, key)
        for query, token in enumerate([*answer, *(left if len(left) == 1 else ())], start)
        for key in range(start)
        if texts[key] == token
    ]
    query, key = torch.tensor(found, dtype=torch.long).reshape(-1, 2).T
    return query, key


def largest_weight(
    weights: Float[Tensor, "q k"],
    mask: Bool[Tensor, "q k"],
    query: int | None = None,
    counted: Bool[Tensor, "q k"] | None = None,
) -> Largest | None:
    """Returns the largest weight of one row or of all, of rows with several visible keys; None if there are none.

    `counted`: the pairs of which it is, of all rows; otherwise all.
    """
    several = mask.sum(-1) > 1
    if counted is not None:
        mask = mask & counted
        several = several & mask.any(-1)
    if query is not None:
        several = several & (torch.arange(len(mask)) == query)
    if not several.any():
        return None
    at, key = divmod(int(torch.where(mask & several[:, None], weights, -1).argmax()), weights.shape[1])
    return Largest(at, key, _exact_weight(weights, at, key), query is not None)


def strongest_copy(weights: Float[Tensor, "q k"], texts: Sequence[str], query: int | None = None) -> Copy | None:
    """Returns the pair with the largest weight on what followed an earlier copy of a token, of one query or of all.

    If no query is given, it is an example: it fits no other pattern, its token occurred before in the same case if any did, and
    pairs of short words are preferred if their weight is nearly as large. None if no such token occurred before.
    """
    queries, keys = heads.induction_pairs(*heads.same_token_pairs(texts))
    if query is not None:
        queries, keys = queries[queries == query], keys[queries == query]
    else:
        queries, keys = example_pairs("induction", texts) or (queries, keys)
        numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        exact = torch.tensor([numbers[text] for text in texts])
        same = exact[queries] == exact[keys - 1]
        queries, keys = (queries[same], keys[same]) if same.any() else (queries, keys)
        short = torch.tensor([len(text) <= LETTERS for text in texts])
        both, found = short[queries] & short[keys], weights[queries, keys]
        is_large = both.any() and found[both].max() >= NEARLY * found.max()
        queries, keys = (queries[both], keys[both]) if is_large else (queries, keys)
    if not len(queries):
        return None
    at = int(weights[queries, keys].argmax())
    query, key = int(queries[at]), int(keys[at])
    return Copy(query, key, _exact_weight(weights, query, key))


def _exact_weight(weights: Float[Tensor, "q k"], query: int, key: int) -> float:
    """Returns a weight; one that was rounded to one although other keys of its row have some is just below one."""
    weight = float(weights[query, key])
    return min(weight, nextafter(1, 0)) if (weights[query] > 0).sum() > 1 else weight
