"""Kinds of keys that a head may attend to, with the mean weight of every head on them, and the role that they give a head.

To add a kind, add a `Kind` in `kinds_of`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention.heads import token_numbers
from attention.number_format import format_percent

FARTHEST = 12  # maximum number of tokens back that names a head
PART = 1 / 2  # minimum share of the queries with a choice that must see the first token, or have another at a distance
SEVERAL = 2  # minimum number of queries that a share of the weight is a mean of: a single one gives no role
AT_DISTANCE = 3  # minimum number of such queries
NEAR = 5  # tokens on either side that count as nearby
BEYOND = 1.4  # minimum ratio to the share of uniform weights: in a short text each kind of keys has much of it
MOST = 0.5  # share of the weight from which a kind of keys names the head
TOGETHER = 0.7  # minimum sum of the shares of two kinds that a head splits its weight between
ALMOST = 1 - 2**-24  # the largest float32 below 1
EACH = 0.25  # minimum share of each of two kinds that a head splits its weight between
SINK, IF_ANY = "(attention sink)", ", where there is one"  # the mean is over the queries with such a key
COUNTS = "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"


class Kind(NamedTuple):
    """A kind of keys: its short name, what a head that attends to them does, and each head's mean weight on them.

    `share` is the mean over queries with a choice and decides the role; `shown` is the mean over all queries with such a
    visible key, as in `heads.py`. The last number of each is for uniform weights. `seeing` of the `having` queries with such
    a key see it; the mask hides it from the others. `keys`: what the keys are called.
    """

    name: str
    does: str
    share: list[float]
    shown: list[float]
    seeing: int
    having: int
    keys: str

    def stands_out(self, head: int) -> bool:
        """Whether the share is well above that of uniform weights."""
        return self.share[head] >= BEYOND * self.share[-1]

    def mean_text(self, head: int, about: str, of: str = "") -> str:
        """Returns the mean weight of a head in words, `of` what, and over how many rows if the mask hides the keys in others.

        `about` precedes numbers that are estimated from some of the queries.
        """
        rows = "" if about else f"{self.seeing:,} of {self.having:,} "
        over = f" over the {rows}rows that see {self.keys}" if self.seeing < self.having else ""
        return f"{about}{format_percent(self.shown[head])}{of}{over}"


@dataclass(frozen=True)
class Role:
    """The role of a head: a short name, and a sentence without its subject ("attends one token back: 91.0% of its weight …").

    `shows`: whether its weights show the role; those of a hand-built head may not.
    """

    name: str
    says: str
    shows: bool = True

    @property
    def is_sink(self) -> bool:
        """Whether it is an attention sink, alone or beside another kind of keys."""
        return SINK in self.says


def single_role(kind: Kind, head: int, about: str) -> Role:
    """Returns the role of a head with a single kind of keys."""
    return Role(kind.name, f"{kind.does}: {kind.mean_text(head, about, ' of its weight on average')}.")


def double_role(first: Kind, second: Kind, head: int, about: str) -> Role:
    """Returns the role of a head with two kinds.

    The means of both are over different queries, those with such a key. Together they may be more than 100%: then none is
    given, as they would be read as parts of a whole.
    """
    name, one, two = f"{first.name}, {second.name}", first.does, second.does.removeprefix("attends ")
    one += "," * ("," in one)  # the end of an insertion
    if first.shown[head] + second.shown[head] > 1:
        return Role(name, f"{one} and {two}, with most of its weight.")
    shares = [f"({kind.mean_text(head, about)})" for kind in (first, second)]
    return Role(name, f"{first.does} {shares[0]} and {two} {shares[1]} on average.")


@dataclass(frozen=True, eq=False)
class Seen:
    """Some queries of all heads, the last with uniform weights: their weights, mask, positions, and numbers of visible keys."""

    weights: Float[Tensor, "h q k"]
    mask: Bool[Tensor, "q k"]
    at: Int[Tensor, " q"]
    choices: Int[Tensor, " q"]

    @cached_property
    def positive(self) -> Float[Tensor, "h q"]:
        """The number of keys with weight."""
        return self._count_positive(self.weights)

    @cached_property
    def scratch(self) -> Float[Tensor, "h q k"]:
        """Memory for a result with as many numbers as there are weights: new memory takes longer than the arithmetic."""
        return torch.empty_like(self.weights)

    def _count_positive(self, weights: Float[Tensor, "*q k"]) -> Float[Tensor, "*q"]:
        """Returns how many weights of each row are positive; as floats, which are summed several times as fast as booleans."""
        found = self.scratch if weights.shape == self.scratch.shape else torch.empty_like(weights)
        return torch.gt(weights, 0, out=found).sum(-1)

    def share(
        self, rows: Float[Tensor, "h *p q"], counted: Bool[Tensor, "*p q"], least: float = 1
    ) -> Float[Tensor, " h *p"]:
        """Returns the mean over the queries that count; 0 if there are fewer than `least`, or none."""
        many = counted.sum(-1)
        return torch.where(counted, rows, 0).sum(-1) / many.clamp(min=1) * (many >= least)

    def mean_weight(
        self, kept: Float[Tensor, "h q *p k"], counted: Bool[Tensor, "*p q"], least: float = 1
    ) -> Float[Tensor, " h *p"]:
        """Returns the mean of the weight on some keys, below 1 also where other keys get too little to change it."""
        mean = self.share(kept.sum(-1).movedim(1, -1), counted, least)
        some = self.positive.view(*kept.shape[:2], *[1] * (kept.ndim - 3))
        others = ((some > self._count_positive(kept)).movedim(1, -1) & counted).any(-1)
        return torch.where(others, mean.clamp(max=ALMOST), mean)

    def back(self, places: range) -> tuple[Float[Tensor, "h q p"], Bool[Tensor, "q p"]]:
        """Returns the weight on the keys so many tokens back (negative: ahead), and whether they exist and are visible."""
        apart = self.at[:, None] - torch.tensor(places)
        there = apart.clamp(0, self.mask.shape[1] - 1)
        return self.weights.gather(-1, there.expand(len(self.weights), -1, -1)), (apart == there) & self.mask.gather(
            -1, there
        )


def kinds_of(seen: Seen, tokens: Sequence[str], unit: str, line: bool) -> list[Kind]:
    """Returns all kinds except nearby tokens, which only name heads without another kind."""
    found = _back(seen, range(-1, min(FARTHEST, seen.mask.shape[1] - 1) + 1) if line else range(1), unit)
    choosing, sees = seen.choices > 2, seen.mask[:, 0]  # a mask may hide the first token from most queries
    first = seen.share(seen.weights[..., 0], sees & choosing, max(SEVERAL, PART * int(choosing.sum())))
    shown = seen.mean_weight(seen.weights[..., :1], sees, max(1, PART * int((seen.choices > 0).sum())))
    does, seeing = f"attends to the first {unit} {SINK}", int(sees.sum())
    found.append(Kind(f"first {unit}", does, first.tolist(), shown.tolist(), seeing, len(sees), "it"))
    return found + _words(seen, tokens, unit) if tokens and line else found


def _words(seen: Seen, tokens: Sequence[str], unit: str) -> list[Kind]:
    """Returns two kinds: the same token (if copies other than the query have weight), and what followed an earlier copy."""
    words = token_numbers(tokens)
    here, there = seen.at[:, None], torch.arange(len(words))
    alike = words[seen.at][:, None] == words
    again, visible = (alike & (here != there) & seen.mask).any(-1), (alike & seen.mask).any(-1)
    on_alike = seen.weights * alike
    copies = seen.share(on_alike.sum(-1), again, SEVERAL)
    itself = seen.share(seen.weights[:, torch.arange(len(seen.at)), seen.at], again, SEVERAL)
    whole = seen.mean_weight(on_alike, visible)  # as the statistic "same" in heads.py
    after = torch.zeros_like(alike)
    after[:, 1:] = (alike & (there < here))[:, :-1]
    having = int(after.any(-1).sum())
    after &= seen.mask
    followed = seen.mean_weight(torch.mul(seen.weights, after, out=on_alike), after.any(-1), SEVERAL)
    return [
        Kind(
            f"same {unit}",
            f"attends to the same {unit}, itself included",
            [*torch.where(copies - itself > EACH / 2, whole, 0)[:-1].tolist(), float(whole[-1])],
            whole.tolist(),
            int(visible.sum()),
            len(visible),
            "it",
        ),
        Kind(
            "induction",
            f"attends to what followed an earlier copy of the {unit}, where there is one (induction)",
            followed.tolist(),
            followed.tolist(),
            int(after.any(-1).sum()),
            having,
            "it",
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
    shown = seen.mean_weight(held[..., None], sees.mT) * (sees.sum(0) >= PART * exists)
    columns = shares.mT.tolist(), shown.mT.tolist(), sees.sum(0).tolist(), exists.tolist()
    return [
        Kind(*name_place(by, unit), share, whole, seeing, having, f"that {unit}")
        for by, share, whole, seeing, having in zip(places, *columns, strict=True)
    ]


def name_place(by: int, unit: str) -> tuple[str, str]:
    """Returns the name of the kind `by` tokens back, and what a head that attends to it does."""
    if by == 0:
        return "itself", f"attends from each {unit} to itself"
    if by < 0:
        return "next", f"attends to the next {unit}{IF_ANY}"
    return f"{COUNTS[by]} back", f"attends {COUNTS[by]} {unit}{'s' * (by > 1)} back{IF_ANY}"


def near_kind(seen: Seen, unit: str) -> Kind:
    """Returns the kind of nearby tokens, whose share is over queries with more than 2 `NEAR` visible keys."""
    held, sees = seen.back(range(-NEAR, NEAR + 1))
    near = held * sees
    share = seen.share(near.sum(-1), seen.choices > 2 * NEAR, SEVERAL)
    shown = seen.mean_weight(near, sees.any(-1))
    does, counts = f"attends to nearby {unit}s, within {COUNTS[NEAR]} positions", (int(sees.any(-1).sum()), len(sees))
    return Kind("nearby", does, share.tolist(), shown.tolist(), *counts, f"those {unit}s")
