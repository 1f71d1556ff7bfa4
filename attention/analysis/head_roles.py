"""The role of a head as a name and a sentence, from its weights alone; None if no kind of keys dominates.

A head is named by the kind of keys that have most of its weight, and well more than uniform weights give them: the token
some positions back, the first one, the same token, what followed an earlier copy, nearby tokens, or all keys uniformly.
Definitions are as in `heads.py`, the kinds in `head_kinds.py`. A hand-built head is called by its rule (`built_roles.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention.analysis.built_roles import EVENLY, INDUCTION, Rule, built_role
from attention.analysis.head_kinds import (
    COUNTS,
    EACH,
    MOST,
    TOGETHER,
    Kind,
    Role,
    Seen,
    double_role,
    kinds_of,
    near_kind,
    single_role,
)
from attention.analysis.parity import evenly
from attention.maps import zoom
from attention.maps.picture import HeadMaps, split

WHOLE = 1.05  # a larger sum of two shares means that the kinds have keys in common, which are counted twice
EVEN = 0.1  # maximum total variation distance of a row from uniform weights
OVER = 1.01  # a larger sum of a row means that it is no distribution, so that its head has no role
QUERIES, SAMPLED, ROWS = 256, 128, 32  # queries of a trace up to which all are used, and how many of more; rows of maps
CLOSE = 0.03  # by how much more weight than on another kind of keys a far distance names a head
FAR = {f"{count} back" for count in COUNTS[2:]}
ONE_BACK = f"{COUNTS[1]} back"


def roles(
    weights: Float[Tensor, "h q k"],
    mask: Bool[Tensor, "q k"],
    tokens: Sequence[str] = (),
    unit: str = "token",
    at: Int[Tensor, " q"] | None = None,
    line: bool = True,
    rules: Sequence[Rule] = (),
) -> list[Role | None]:
    """Returns the role of each head, None if no kind of keys dominates, or if a row sums to more than one.

    `tokens`: the token texts, if the queries are also the keys. `at`: the positions of the queries among the keys; without
    it they count from 0, and of more than `QUERIES` only `SAMPLED` evenly spaced ones are used. `unit`: what a token is
    called in sentences, for example a word. `line`: whether tokens form a sequence; for patches of an image, roles that need
    an order (tokens back, nearby) are left out. `rules`: by which each head was built (`constructed.rule`), which alone
    decides its name.
    """
    queries = mask.shape[1] if at is not None else len(mask)
    if at is None:
        at = torch.arange(len(mask))
        if len(at) > QUERIES:
            at = evenly(len(at), SAMPLED)
            mask = mask[at]
    choices = mask.sum(-1)
    every = weights.new_empty(len(weights) + 1, *mask.shape)  # the last with uniform weights
    torch.index_select(weights, 1, at if len(mask) < weights.shape[1] else torch.arange(len(mask)), out=every[:-1])
    every[-1] = mask / choices.clamp(min=1)[:, None]
    seen = Seen(every, mask, at, choices)
    kinds = kinds_of(seen, tokens, unit, line)
    near = [near_kind(seen, unit)] if line else []
    about = "about " * (len(at) < queries)
    if rules:
        equal = _equal(seen)
        return [
            built_role(rule, [*kinds, *near], head, unit, about, equal[head])
            for head, rule in enumerate(rules[: len(weights)])
        ]
    over, even = (every[:-1].sum(-1) > OVER).any(-1).tolist(), _even(seen)
    return [
        None if over[head] else EVENLY if even[head] else _role(kinds, near, head, about)
        for head in range(len(weights))
    ]


def roles_of_maps(
    maps: HeadMaps,
    query: Float[Tensor, "h n d"],
    key: Float[Tensor, "g n d"],
    tokens: Sequence[str] = (),
    unit: str = "token",
    line: bool = True,
    rules: Sequence[Rule] = (),
) -> list[Role | None]:
    """Returns the role of each head of maps, from `ROWS` evenly spaced rows of each, which are exact."""
    n, at, scoring = maps.tokens, evenly(maps.tokens, ROWS), maps.scoring
    mask = scoring.rule(at[:, None], torch.arange(n)[None], n, scoring.span).expand(len(at), n)
    found = []
    for head in split(maps):
        weights = mask.new_empty(mask.shape, dtype=torch.float32)
        for place, row in enumerate(at.tolist()):
            weights[place] = zoom.row(head, query, key, row)[0]
        found += roles(weights[None], mask, tokens, unit, at, line, rules[head.first : head.first + 1])
    return found


def _role(kinds: list[Kind], near: list[Kind], head: int, about: str) -> Role | None:
    """Returns the role of one head; `about` precedes numbers that are estimated from some of the queries."""
    first, *others = sorted(kinds, key=lambda kind: _rank(kind, head), reverse=True)
    if first.name == INDUCTION and others[0].name == ONE_BACK and others[0].share[head] > first.share[head] - CLOSE:
        first, others = others[0], [first, *others[1:]]  # which is the simpler rule
    second = next(kind for kind in others if not {first.name, kind.name} & {"itself"} or not _copies(first, kind))
    one, two = first.share[head], second.share[head]
    stand_out = first.stands_out(head) and second.stands_out(head)
    if stand_out and one < TOGETHER and two >= EACH and TOGETHER <= one + two <= WHOLE:
        return double_role(first, second, head, about)
    for kind in (first, *near):
        if kind.share[head] >= MOST and kind.stands_out(head):
            return single_role(kind, head, about)
    return None


def _rank(kind: Kind, head: int) -> float:
    """Returns the share by which kinds are compared.

    In a text that repeats, what followed the earlier copy is always as many tokens back: then induction says more.
    """
    return kind.share[head] - CLOSE * (kind.name in FAR)


def _copies(one: Kind, two: Kind) -> bool:
    """Whether one of the kinds is the same token, which includes the query itself."""
    return any(kind.name.startswith("same ") for kind in (one, two))


def _equal(seen: Seen) -> list[bool]:
    """Whether the visible keys of every row share its weight nearly equally, whatever it sums to, for each head."""
    shares = seen.mask / seen.choices.clamp(min=1)[:, None]
    parts = torch.div(seen.weights, seen.weights.sum(-1, keepdim=True).clamp(min=1e-9), out=seen.scratch)
    apart = torch.where(seen.choices > 1, parts.sub_(shares).abs_().sum(-1) / 2, 0)
    return (apart.amax(-1) <= EVEN).tolist()


def _even(seen: Seen) -> Bool[Tensor, " h"]:
    """Whether every row with more than two visible keys has nearly uniform weights, for each head."""
    several = seen.choices > 2
    shares = seen.mask / seen.choices.clamp(min=1)[:, None]
    apart = torch.where(several, (seen.weights - shares).abs_().sum(-1) / 2, 0)
    return (apart.amax(-1) <= EVEN) & several.any()
