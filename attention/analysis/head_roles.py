"""The role of a head as a name and a sentence, from its weights alone; None if no kind of keys dominates.

A head is named by the kind of keys that have most of its weight, and well more than uniform weights give them: the token
some positions back, the first one, the same token, what followed an earlier copy, nearby tokens, or all keys uniformly.
Definitions are as in `heads.py`. To add a kind, add a `Kind` in `_kinds`. A head that was built by a rule is called by it as
long as its weights follow it: a short text has too few queries to tell one kind from another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention.analysis.parity import evenly
from attention.heads import token_numbers
from attention.maps import zoom
from attention.maps.picture import HeadMaps, split
from attention.number_format import format_percent

MOST = 0.5  # share of the weight from which a kind of keys names the head
TOGETHER, EACH = 0.7, 0.25  # minimum shares of two kinds that a head splits its weight between: sum, and each
WHOLE = 1.05  # a larger sum of two shares means that the kinds have keys in common, which are counted twice
FARTHEST = 12  # maximum number of tokens back that names a head
PART = 1 / 2  # minimum share of the queries with a choice that must see the first token, or have another at a distance
SEVERAL = 2  # minimum number of queries that a share of the weight is a mean of: a single one gives no role
AT_DISTANCE = 3  # minimum number of such queries
NEAR = 5  # tokens on either side that count as nearby
BEYOND = 1.4  # minimum ratio to the share of uniform weights: in a short text each kind of keys has much of it
EVEN = 0.1  # maximum total variation distance of a row from uniform weights
OVER = 1.01  # a larger sum of a row means that it is no distribution, so that its head has no role
QUERIES, ROWS = 256, 32  # maximum number that is used of a trace, and of maps
CLOSE = 0.03  # by how much more weight than on another kind of keys a far distance names a head
SINK = "(attention sink)"
COUNTS = "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"
FAR = {f"{count} back" for count in COUNTS[2:]}


class Kind(NamedTuple):
    """A kind of keys: its short name, what a head that attends to them does, and each head's mean weight on them.

    `share` is the mean over queries with a choice and decides the role; `shown` is the mean over all queries with such a
    visible key, as in `heads.py`. The last number of each is for uniform weights.
    """

    name: str
    does: str
    share: list[float]
    shown: list[float]

    def stands_out(self, head: int) -> bool:
        """Whether the share is well above that of uniform weights."""
        return self.share[head] >= BEYOND * self.share[-1]


class Seen(NamedTuple):
    """Some queries of all heads, the last with uniform weights: their weights, mask, positions, and numbers of visible keys."""

    weights: Float[Tensor, "h q k"]
    mask: Bool[Tensor, "q k"]
    at: Int[Tensor, " q"]
    choices: Int[Tensor, " q"]

    def share(
        self, rows: Float[Tensor, "h *p q"], counted: Bool[Tensor, "*p q"], least: float = 1
    ) -> Float[Tensor, " h *p"]:
        """Returns the mean over the queries that count; 0 if there are fewer than `least`, or none."""
        many = counted.sum(-1)
        return torch.where(counted, rows, 0).sum(-1) / many.clamp(min=1) * (many >= least)

    def back(self, places: range) -> tuple[Float[Tensor, "h q p"], Bool[Tensor, "q p"]]:
        """Returns the weight on the keys so many tokens back (negative: ahead), and whether they exist and are visible."""
        apart = self.at[:, None] - torch.tensor(places)
        there = apart.clamp(0, self.mask.shape[1] - 1)
        return self.weights.gather(-1, there.expand(len(self.weights), -1, -1)), (apart == there) & self.mask.gather(
            -1, there
        )


@dataclass(frozen=True)
class Role:
    """The role of a head: a short name, and a sentence without its subject ("attends one token back: 91.0% of its weight …")."""

    name: str
    says: str

    @property
    def is_sink(self) -> bool:
        """Whether it is an attention sink, alone or beside another kind of keys."""
        return SINK in self.says


EVENLY = Role("uniform", "attends to all visible keys about equally.")


def roles(
    weights: Float[Tensor, "h q k"],
    mask: Bool[Tensor, "q k"],
    tokens: Sequence[str] = (),
    unit: str = "token",
    at: Int[Tensor, " q"] | None = None,
    line: bool = True,
    rules: Sequence[str | int] = (),
) -> list[Role | None]:
    """Returns the role of each head, None if no kind of keys dominates, or if a row sums to more than one.

    `tokens`: the token texts, if the queries are also the keys. `at`: the positions of the queries among the keys; without
    it they count from 0, and at most `QUERIES` evenly spaced ones are used. `unit`: what a token is called in sentences,
    for example a word. `line`: whether tokens form a sequence; for patches of an image, roles that need an order (tokens
    back, nearby) are left out. `rules`: by which each head was built (`constructed.rule`).
    """
    queries = mask.shape[1] if at is not None else len(mask)
    if at is None:
        at = torch.arange(len(mask))
        if len(at) > QUERIES:
            at = evenly(len(at), QUERIES)
            weights, mask = weights.index_select(1, at), mask[at]
    choices = mask.sum(-1)
    uniform = (mask / choices.clamp(min=1)[:, None]).to(weights.dtype)
    seen = Seen(torch.cat([weights, uniform[None]]), mask, at, choices)
    kinds, even = _kinds(seen, tokens, unit, line), _even(seen)
    near = [_near(seen, unit)] if line else []
    about = "about " * (len(at) < queries)
    over = (weights.sum(-1) > OVER).any(-1).tolist()
    built = [_built([*kinds, *near], rule, head, unit, about) for head, rule in enumerate(rules)] or [None] * len(over)
    return [
        None if over[head] else EVENLY if even[head] else built[head] or _role(kinds, near, head, about)
        for head in range(len(weights))
    ]


def roles_of_maps(
    maps: HeadMaps,
    query: Float[Tensor, "h n d"],
    key: Float[Tensor, "g n d"],
    tokens: Sequence[str] = (),
    unit: str = "token",
    line: bool = True,
    rules: Sequence[str | int] = (),
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
    second = next(kind for kind in others if not {first.name, kind.name} & {"itself"} or not _copies(first, kind))
    one, two = first.share[head], second.share[head]
    stand_out = first.stands_out(head) and second.stands_out(head)
    if stand_out and one < TOGETHER and two >= EACH and TOGETHER <= one + two <= WHOLE:
        return Role(f"{first.name}, {second.name}", _split(first, second, head, about))
    for kind in (first, *near):
        if kind.share[head] >= MOST and kind.stands_out(head):
            return _single(kind, head, about)
    return None


def _single(kind: Kind, head: int, about: str) -> Role:
    """Returns the role of a head with a single kind of keys."""
    return Role(kind.name, f"{kind.does}: {about}{format_percent(kind.shown[head])} of its weight on average.")


def _built(kinds: list[Kind], rule: str | int, head: int, unit: str, about: str) -> Role | None:
    """Returns the role of a head that was built by a rule, None if its weights don't follow it.

    This is decided by the mean over all queries with such a key, which the sentence states.
    """
    name = _place(rule, unit)[0] if isinstance(rule, int) else rule.format(unit=unit)
    for kind in kinds:
        if kind.name == name and kind.shown[head] >= max(MOST, BEYOND * kind.shown[-1]):
            return _single(kind, head, about)
    return None


def _rank(kind: Kind, head: int) -> float:
    """Returns the share by which kinds are compared.

    In a text that repeats, what followed the earlier copy is always as many tokens back: then induction says more.
    """
    return kind.share[head] - CLOSE * (kind.name in FAR)


def _split(first: Kind, second: Kind, head: int, about: str) -> str:
    """Returns what a head with two kinds does.

    The means of both are over different queries, those with such a key. Together they may be more than 100%: then none is
    given, as they would be read as parts of a whole.
    """
    one, two = first.does, second.does.removeprefix("attends ")
    if first.shown[head] + second.shown[head] > 1:
        return f"{one} and {two}, with most of its weight."
    shares = [f"({about}{format_percent(kind.shown[head])})" for kind in (first, second)]
    return f"{one} {shares[0]} and {two} {shares[1]} on average."


def _copies(one: Kind, two: Kind) -> bool:
    """Whether one of the kinds is the same token, which includes the query itself."""
    return any(kind.name.startswith("same ") for kind in (one, two))


def _kinds(seen: Seen, tokens: Sequence[str], unit: str, line: bool) -> list[Kind]:
    """Returns all kinds except nearby tokens, which only name heads without another kind."""
    found = _back(seen, range(-1, min(FARTHEST, seen.mask.shape[1] - 1) + 1) if line else range(1), unit)
    choosing, sees = seen.choices > 2, seen.mask[:, 0]  # a mask may hide the first token from most queries
    first = seen.share(seen.weights[..., 0], sees & choosing, max(SEVERAL, PART * int(choosing.sum())))
    shown = seen.share(seen.weights[..., 0], sees, max(1, PART * int((seen.choices > 0).sum())))
    found.append(Kind(f"first {unit}", f"attends to the first {unit} {SINK}", first.tolist(), shown.tolist()))
    return found + _words(seen, tokens, unit) if tokens and line else found


def _words(seen: Seen, tokens: Sequence[str], unit: str) -> list[Kind]:
    """Returns two kinds: the same token (if copies other than the query have weight), and what followed an earlier copy."""
    words = token_numbers(tokens)
    here, there = seen.at[:, None], torch.arange(len(words))
    alike = words[seen.at][:, None] == words
    again = (alike & (here != there) & seen.mask).any(-1)
    alike_weight = (seen.weights * alike).sum(-1)
    copies = seen.share(alike_weight, again, SEVERAL)
    itself = seen.share(seen.weights[:, torch.arange(len(seen.at)), seen.at], again, SEVERAL)
    whole = seen.share(alike_weight, (alike & seen.mask).any(-1))  # as the statistic "same" in heads.py
    after = torch.zeros_like(alike)
    after[:, 1:] = (alike & (there < here))[:, :-1]
    after &= seen.mask
    followed = seen.share((seen.weights * after).sum(-1), after.any(-1), SEVERAL)
    return [
        Kind(
            f"same {unit}",
            f"attends to the same {unit}, itself included",
            [*torch.where(copies - itself > EACH / 2, whole, 0)[:-1].tolist(), float(whole[-1])],
            whole.tolist(),
        ),
        Kind(
            "induction",
            f"attends to what followed an earlier copy of the {unit}, where there is one (induction)",
            *[followed.tolist()] * 2,
        ),
    ]


def _back(seen: Seen, places: range, unit: str) -> list[Kind]:
    """Returns one kind per number of tokens back; -1: the next token, 0: the query itself.

    Queries with at most two visible keys have no choice and don't count; nor do those whose key at the distance is the first
    token, as its weight may be that of an attention sink.
    """
    (held, sees), choosing = seen.back(places), seen.choices > 2
    at = seen.at[:, None] - torch.tensor(places)
    exists = ((at >= 0) & (at < seen.mask.shape[1])).sum(0)  # queries with a key at the distance, which a mask may hide
    inside = sees & choosing[:, None] & (seen.at[:, None] != torch.tensor(places))
    shares = seen.share(held.mT, inside.mT, max(AT_DISTANCE, PART * int(choosing.sum())))
    shown = seen.share(held.mT, sees.mT) * (sees.sum(0) >= PART * exists)
    return [
        Kind(*_place(by, unit), *both) for by, *both in zip(places, shares.mT.tolist(), shown.mT.tolist(), strict=True)
    ]


def _place(by: int, unit: str) -> tuple[str, str]:
    """Returns the name of the kind `by` tokens back, and what a head that attends to it does."""
    if by < 1:
        return ("itself", f"attends from each {unit} to itself") if by == 0 else ("next", f"attends to the next {unit}")
    return f"{COUNTS[by]} back", f"attends {COUNTS[by]} {unit}{'s' * (by > 1)} back"


def _near(seen: Seen, unit: str) -> Kind:
    """Returns the kind of nearby tokens, whose share is over queries with more than 2 `NEAR` visible keys."""
    held, sees = seen.back(range(-NEAR, NEAR + 1))
    near = (held * sees).sum(-1)
    share = seen.share(near, seen.choices > 2 * NEAR, SEVERAL)
    shown = seen.share(near, sees.any(-1))
    return Kind("nearby", f"attends to nearby {unit}s, within {COUNTS[NEAR]} positions", share.tolist(), shown.tolist())


def _even(seen: Seen) -> Bool[Tensor, " h"]:
    """Whether every row with more than two visible keys has nearly uniform weights, for each head."""
    several = seen.choices > 2
    shares = seen.mask / seen.choices.clamp(min=1)[:, None]
    apart = torch.where(several, (seen.weights - shares).abs_().sum(-1) / 2, 0)
    return (apart.amax(-1) <= EVEN) & several.any()
