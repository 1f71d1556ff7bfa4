"""Converts calls of a model's layers to stacks: similar layers together, each stack with its token texts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.imported.nearest_mask import knobs
from attention.imported.stack import Stack
from attention.operations.scale import SCALES
from attention.recorded.file import OWN
from attention.tracing import layer_names
from attention.tracing.call import Call

ENCODER, DECODER, CROSS = "Encoder", "Decoder", "Decoder to encoder"
CROSSING = re.compile(
    r"cross|encdec|encoder_attn|multihead_attn$", re.IGNORECASE
)  # in the names of layers of cross-attention
SIDES = re.compile(r"(en|de)coder", re.IGNORECASE)


@dataclass(eq=False)
class Group:
    """Similar layers: their name without numbers, the number of each layer, and their calls."""

    pattern: str
    numbers: list[int] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """Which sequence attends to which, if the names of the layers tell."""
        side = SIDES.search(self.pattern)
        if CROSSING.search(self.pattern):
            return CROSS
        return "" if side is None else ENCODER if side[0].lower() == "encoder" else DECODER

    @property
    def pairs(self) -> tuple[int, int]:
        """The numbers of queries and keys."""
        return self.calls[0].q.shape[1], self.calls[0].k.shape[1]

    def token_texts(self, texts: Texts, kind: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The texts of queries and keys: cut from the whole text, or positions if its beginning is missing."""
        call, (queries, keys) = self.calls[0], self.pairs
        found = texts.of(kind, queries, keys, call.first, call.first_key)
        starts = [(call.first, queries), (call.first_key, keys)]
        if not any(start for start, _ in starts):
            return found
        return tuple(
            text or tuple(f"{at}" for at in range(start, start + many))
            for text, (start, many) in zip(found, starts, strict=True)
        )  # pyright: ignore[reportReturnType]  two of them


@dataclass
class Texts:
    """The texts of tokens, and of the `others` that they attend to in cross-attention; `used`: which were used."""

    tokens: Sequence[str] = ()
    others: Sequence[str] = ()
    used: set[str] = field(default_factory=set)

    def of(
        self, kind: str, queries: int, keys: int, first: int = 0, first_key: int = 0
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The texts of the queries and of the keys of one stack; () if no texts have that length.

        `first` and `first_key`: positions of the first query and key in their texts.
        """
        cut = kind != CROSS and (first or queries < keys)
        if cut and len(self.tokens) >= max(first_key + keys, queries + 1):
            self.used.add("tokens")
            texts = tuple(f"{text}" for text in self.tokens)
            return texts[first : first + queries], texts[first_key : first_key + keys]
        if kind == CROSS:
            return self._fitting(queries, "tokens"), self._fitting(keys, "keys")
        names = ("keys", "tokens") if kind == ENCODER else ("tokens",)
        found = self._fitting(queries, *names)
        if queries == keys and not (self.others and not kind):
            return found, found
        return found, self._fitting(keys, "keys", "tokens")

    def check(self, sizes: Sequence[int]) -> None:
        """Raises ValueError for texts that fit no stack; `sizes` are the stacks' numbers of tokens."""
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


def stacks(
    calls: Mapping[str, Call], title: str, texts: Texts, numbers: Mapping[str, int], about: str = ""
) -> dict[str, Stack]:
    """The stacks of calls: a single one under "", several under labels that distinguish them.

    `numbers`: the numbers of the layers in their model; `about` is added to the description of each stack.
    """
    groups = group_calls(calls, numbers)
    found = {}
    for group, name in zip(groups, labels(groups), strict=True):
        queries, keys = group.token_texts(texts, group.kind if len(groups) > 1 else "")
        one = make_stack(group, title if not name else f"{title}: {name}", queries, keys)
        found[name] = replace(one, what=f"{one.what} {about}".strip())
    texts.check([size for group in groups for size in group.pairs])
    return found


def group_calls(calls: Mapping[str, Call], numbers: Mapping[str, int] | None = None) -> list[Group]:
    """Groups layers of the same name pattern and the same sizes, in the order of their numbers."""
    groups: list[Group] = []
    numbers = layer_names.layer_numbers(calls) if numbers is None else numbers
    for name, call in calls.items():
        pattern = layer_names.pattern(name)
        group = next((one for one in groups if one.pattern == pattern and _alike(one.calls[0], call)), None)
        if group is None:
            groups.append(group := Group(pattern))
        group.numbers.append(numbers[name])
        group.calls.append(call)
    for group in groups:
        if len(set(group.numbers)) < len(group.calls):
            group.numbers = list(range(len(group.calls)))
        order = sorted(zip(group.numbers, group.calls, strict=True), key=lambda pair: pair[0])
        group.numbers, group.calls = [number for number, _ in order], [call for _, call in order]
    return groups


def labels(groups: Sequence[Group]) -> list[str]:
    """Labels that distinguish groups: kinds, else name patterns, with layer numbers if that is not enough."""
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
    """Whether two layers have the same sizes, positions and softcap, so that one stack can hold both."""
    sizes = [(call.q.shape, call.k.shape, call.first, call.first_key, call.softcap) for call in (one, two)]
    return sizes[0] == sizes[1]


def make_stack(group: Group, title: str, queries: tuple[str, ...], keys: tuple[str, ...]) -> Stack:
    """One stack: queries and keys if they determine the weights with one mask per layer, else weights."""
    calls, plain = group.calls, all(call.is_standard for call in group.calls)
    what = f"{'Queries and keys' if plain else 'Weights'} of {group.pattern}, as this model computed them."
    named: dict[str, Any] = {"title": title, "what": what, "queries": queries, "keys": keys}
    named["numbers"] = () if group.numbers == list(range(len(calls))) else tuple(group.numbers)
    if len({call.v.shape for call in calls}) == 1 and calls[0].v.shape[-1]:
        named["v"] = torch.stack([call.v for call in calls])
    squares = [call.square for call in calls]
    if not plain:
        weights = torch.stack([call.weights() for call in calls])
        return Stack(**named, weights=weights, square=_squares(squares, *group.pairs))
    q, scale = _scale_queries(calls)
    own = OWN | scale | {"softcap": calls[0].softcap}
    rules = _find_rules(squares, *group.pairs)
    if any(rule is None for rule in rules):
        named["square"] = _squares(squares, *group.pairs)
    elif all(rule == rules[0] for rule in rules):
        own |= rules[0] or {}
    else:
        named["rules"] = tuple((rule["mask"], rule.get("span", OWN["span"])) for rule in rules if rule)
    return Stack(**named, q=q, k=torch.stack([call.k for call in calls]), own=own)


def _find_rules(squares: Sequence[Bool[Tensor, "q k"] | None], queries: int, keys: int) -> list[dict[str, Any] | None]:
    """The rule of each layer's mask, searched once per mask: most models have one or two."""
    found: list[tuple[Bool[Tensor, "q k"] | None, dict[str, Any] | None]] = []
    rules: list[dict[str, Any] | None] = []
    for square in squares:
        before = [rule for other, rule in found if _same_mask(square, other)]
        rules.append(before[0] if before else find_rule(square, queries, keys))
        if not before:
            found.append((square, rules[-1]))
    return rules


def _same_mask(one: Bool[Tensor, "q k"] | None, other: Bool[Tensor, "q k"] | None) -> bool:
    return one is other if one is None or other is None else torch.equal(one, other)


def _squares(squares: Sequence[Bool[Tensor, "q k"] | None], queries: int, keys: int) -> Bool[Tensor, "*l q k"] | None:
    """The mask of each layer, or a single one if all are the same; None for all pairs."""
    whole = torch.ones(queries, keys, dtype=torch.bool)
    found = [whole if square is None else square for square in squares]
    if all(torch.equal(square, found[0]) for square in found):
        return squares[0]
    return torch.stack(found)


def _scale_queries(calls: Sequence[Call]) -> tuple[Float[Tensor, "l h q d"], dict[str, str]]:
    """The queries of all layers, and the name of their scale; if their scales differ, each is multiplied by its own."""
    if len({call.scale for call in calls}) == 1:
        return apply_scale(torch.stack([call.q for call in calls]), calls[0].scale)
    return torch.stack([call.q.float() * call.scale for call in calls]), {"scale": "none"}


def apply_scale(q: Float[Tensor, "l h q d"], factor: float) -> tuple[Float[Tensor, "l h q d"], dict[str, str]]:
    """Queries, and the name of their scale; if the scale has no name, the queries are multiplied by it."""
    for name, rule in SCALES.items():
        if math.isclose(rule(q.shape[-1]), factor, rel_tol=1e-6):
            return q, {"scale": name}
    return q.float() * factor, {"scale": "none"}


def find_rule(square: Bool[Tensor, "q k"] | None, queries: int, keys: int) -> dict[str, Any] | None:
    """The name and span of the rule that a square equals; None if it is no rule of `masks.MASKS`."""
    return {"mask": "full"} if square is None else knobs(square.expand(queries, keys)) or None
