"""Calls of a model's layers as stacks: layers that are alike together, each stack with the names of its tokens."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.brought.nearest_mask import knobs
from attention.brought.stack import Stack
from attention.recorded.file import OWN
from attention.scores import SCALES
from attention.watching.call import Call

ENCODER, DECODER, CROSS = "Encoder", "Decoder", "Decoder to encoder"
CROSSING = re.compile(r"cross|encdec|encoder_attn|multihead_attn$", re.IGNORECASE)  # in the names of such layers
SIDES = re.compile(r"(en|de)coder", re.IGNORECASE)
NUMBER = re.compile(r"\d+")


@dataclass(eq=False)
class Group:
    """Layers that are alike: their names but for numbers, which of these layers each is, their calls."""

    pattern: str
    numbers: list[int] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """Which sequence looks at which, where the names of the layers say so."""
        side = SIDES.search(self.pattern)
        if CROSSING.search(self.pattern):
            return CROSS
        return "" if side is None else ENCODER if side[0].lower() == "encoder" else DECODER

    @property
    def pairs(self) -> tuple[int, int]:
        """Queries and keys."""
        return self.calls[0].q.shape[1], self.calls[0].k.shape[1]


@dataclass
class Texts:
    """The texts of tokens, and those of the tokens that they look at where these are others; which of both were used."""

    tokens: Sequence[str] = ()
    others: Sequence[str] = ()
    used: set[str] = field(default_factory=set)

    def of(self, kind: str, queries: int, keys: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Those of the queries and of the keys of one stack; () where there are none of that number."""
        if kind == CROSS:
            return self._fitting(queries, "tokens"), self._fitting(keys, "keys")
        names = ("keys", "tokens") if kind == ENCODER else ("tokens",)
        first = self._fitting(queries, *names)
        if queries == keys and not (self.others and not kind):
            return first, first
        return first, self._fitting(keys, "keys", "tokens")

    def check(self, sizes: Sequence[int]) -> None:
        """Raises ValueError for texts that are of no stack, which has these numbers of tokens."""
        for name, texts in (("tokens", self.tokens), ("keys", self.others)):
            if texts and name not in self.used:
                found = ", ".join(f"{size}" for size in sorted(set(sizes)))
                raise ValueError(f"{name} has {len(texts)} texts; there are {found} tokens. Give one text for each.")

    def _fitting(self, count: int, *names: str) -> tuple[str, ...]:
        for name in names:
            texts = self.tokens if name == "tokens" else self.others
            if len(texts) == count:
                self.used.add(name)
                return tuple(f"{text}" for text in texts)
        return ()


def stacks(calls: Mapping[str, Call], title: str, texts: Texts) -> dict[str, Stack]:
    """The stacks of calls by the names of their layers: one under "", several under what tells them apart."""
    groups = grouped(calls)
    found = {}
    for group, name in zip(groups, labels(groups), strict=True):
        queries, keys = texts.of(group.kind if len(groups) > 1 else "", *group.pairs)
        found[name] = stacked(group, title if not name else f"{title}: {name}", queries, keys)
    texts.check([size for group in groups for size in group.pairs])
    return found


def grouped(calls: Mapping[str, Call]) -> list[Group]:
    """Layers of the same place in the model, of the same sizes, and with the same mask and scale, in the order they ran."""
    groups: list[Group] = []
    counts: Counter[str] = Counter()
    for name, call in calls.items():
        pattern = NUMBER.sub("*", name.partition(" (")[0])  # of a layer that ran several times, the same
        group = next((one for one in groups if one.pattern == pattern and _alike(one.calls[0], call)), None)
        if group is None:
            groups.append(group := Group(pattern))
        group.numbers.append(counts[pattern])
        group.calls.append(call)
        counts[pattern] += 1
    return groups


def labels(groups: Sequence[Group]) -> list[str]:
    """What tells groups apart: kinds, else the places of their layers, and numbers where that is not enough."""
    if len(groups) == 1:
        return [""]
    kinds = [group.kind or group.pattern for group in groups]
    alone = Counter(kinds)
    numbered = [", ".join(map(str, group.numbers)) for group in groups]
    named = [
        kind if alone[kind] == 1 else f"{kind}, layers {numbers}" for kind, numbers in zip(kinds, numbered, strict=True)
    ]
    again = Counter(named)
    return [name if again[name] == 1 else f"{name} of {g.pattern}" for name, g in zip(named, groups, strict=True)]


def _alike(one: Call, two: Call) -> bool:
    if one.plain != two.plain or one.q.shape != two.q.shape or one.k.shape != two.k.shape:
        return False
    if not one.plain:
        return True
    same = (one.scale, one.softcap) == (two.scale, two.softcap) and (one.mask is None) == (two.mask is None)
    return same and (one.mask is None or two.mask is None or torch.equal(one.mask, two.mask))


def stacked(group: Group, title: str, queries: tuple[str, ...], keys: tuple[str, ...]) -> Stack:
    """One stack: queries and keys where they and a mask say all, else the weights that follow from each call."""
    first, calls = group.calls[0], group.calls
    what = f"{'Queries and keys' if first.plain else 'Weights'} of {group.pattern}, as this model computed them."
    named: dict[str, Any] = {"title": title, "what": what, "queries": queries, "keys": keys}
    named["numbers"] = () if group.numbers == list(range(len(calls))) else tuple(group.numbers)
    if len({call.v.shape for call in calls}) == 1:
        named["v"] = torch.stack([call.v for call in calls])
    if not first.plain:
        weights = torch.stack([call.weights() for call in calls])
        return Stack(**named, weights=weights, square=_seen(calls))
    q, scale = scaled(torch.stack([call.q for call in calls]), first.scale)
    rule = ruled(first.square, *group.pairs)
    own = OWN | scale | {"softcap": first.softcap} | (rule or {})
    named["square"] = None if rule else first.square
    return Stack(**named, q=q, k=torch.stack([call.k for call in calls]), own=own)


def _seen(calls: Sequence[Call]) -> Bool[Tensor, "q k"] | None:
    """Which pairs take part in any of some calls; None for all."""
    squares = [call.square for call in calls]
    found = squares[0]
    for square in squares:
        found = None if found is None or square is None else found | square
    return None if found is None or found.all() else found


def scaled(q: Float[Tensor, "l h q d"], factor: float) -> tuple[Float[Tensor, "l h q d"], dict[str, str]]:
    """Queries, and the name of their scale; of one that has no name, the queries multiplied by it."""
    for name, rule in SCALES.items():
        if math.isclose(rule(q.shape[-1]), factor, rel_tol=1e-6):
            return q, {"scale": name}
    return q.float() * factor, {"scale": "none"}


def ruled(square: Bool[Tensor, "q k"] | None, queries: int, keys: int) -> dict[str, Any] | None:
    """The rule that a square is, with its span; None if it is no rule of `masks.MASKS`."""
    return {"mask": "full"} if square is None else knobs(square.expand(queries, keys)) or None
