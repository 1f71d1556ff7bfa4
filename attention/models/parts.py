"""From what was seen of a pass to stacks: which layers belong together, and whether queries and keys say all of their weights.

They do where softmax(q kᵀ scale) under one mask gives what the model itself has computed; that is tried for every layer. Where
a model adds something (a learned bias by distance, say) or has masks that differ by layer, its weights are what there is.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.attend import scaled_dot_product_attention
from attention.brought.stack import Stack
from attention.masks import MASKS
from attention.models.labels import Labels
from attention.models.packages import ModelError
from attention.models.seen import Seen
from attention.recorded.file import OWN
from attention.scores import SCALES

NEAR = 1e-5  # of the model's own weights
HIDDEN = -1e4  # what a mask adds at the most to a score that shall not count
ENCODER, DECODER, CROSS = "encoder", "decoder", "cross"
OTHERS = re.compile(r"(cross|enc_?dec|encoder_?att)[^.]*$|(cross|enc_?dec|encoder_?att)[^.]*\.", re.IGNORECASE)


@dataclass(frozen=True)
class Part:
    """The layers of one kind of attention: `stack`, the tokens of both sides, and of each value its length after the output map.

    `norms (l h k)`: of v W_O, by head, None where the map to the output was not seen.
    """

    stack: Stack
    queries: Labels
    keys: Labels
    norms: Float[Tensor, "l h k"] | None = None


@dataclass(frozen=True, eq=False)
class Way:
    """How scores became weights: the factor, the softcap (0: none), and which pairs took part."""

    scale: float
    softcap: float
    square: Bool[Tensor, "q k"]

    def alike(self, other: Way) -> bool:
        """Is it the same way?"""
        return (self.scale, self.softcap) == (other.scale, other.softcap) and torch.equal(self.square, other.square)

    def weights(self, q: Float[Tensor, "h q d"], k: Float[Tensor, "g k d"]) -> Float[Tensor, "h q k"]:
        """What it makes of queries and keys."""
        named = {"scale": self.scale, "enable_gqa": True, "softcap": self.softcap or None}
        return scaled_dot_product_attention(q, k, k, self.square, **named).weights  # pyright: ignore[reportArgumentType]  by name


def which(where: str, both: bool) -> str:
    """The part that a module of a model with an encoder and a decoder belongs to, by its name; "" where there is one part."""
    if not both:
        return ""
    if not re.search(r"(^|\.)decoder\.", where):
        return ENCODER
    return CROSS if OTHERS.search(where) else DECODER


def explained(seen: Seen) -> Way | None:
    """How the weights of a call came from its queries and keys; None where there is more to it."""
    square = torch.ones(seen.weights.shape[-2:], dtype=torch.bool) if seen.added is None else _square(seen.added)
    if square is None:
        return None
    way = Way(seen.scale, seen.softcap, square)
    return way if bool((way.weights(seen.q, seen.k) - seen.weights).abs().max() <= NEAR) else None


def _square(added: Tensor) -> Bool[Tensor, "q k"] | None:
    """The pairs to which a mask adds nothing; None where it adds something else to some, or differs by head."""
    shown = added > HIDDEN
    if not torch.equal(shown.all(0), shown.any(0)) or bool(added[shown].any()):
        return None
    return shown[0]


def norms(seen: Seen) -> Float[Tensor, "h k"] | None:
    """The length of v W_O of each head and key: what its weight is worth (Kobayashi et al. 2020, section 2.2)."""
    if seen.output is None or seen.output.shape[1] != seen.v.shape[-1]:
        return None
    v = seen.v.repeat_interleave(len(seen.q) // len(seen.v), 0)
    gram = torch.einsum(
        "hec,hfc->hef", seen.output, seen.output
    )  # |v W|² is v W Wᵀ vᵀ: no product as wide as the model
    return torch.einsum("hke,hef,hkf->hk", v, gram, v).clamp(min=0).sqrt()


class Layers:
    """The layers of one part, as they come; weights are let go of where queries and keys say them."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.ways: list[Way | None] = []

    def add(self, seen: Seen) -> None:
        """One more; raises ModelError where it is of another size than the ones before, as no map holds both."""
        if self.seen and (seen.q.shape, seen.k.shape) != (self.seen[0].q.shape, self.seen[0].k.shape):
            raise ModelError("Its layers differ in their heads or tokens, so that no one map holds them all.")
        way = explained(seen)
        if way is not None:
            seen.weights = seen.weights[:, :0]
        self.seen.append(seen)
        self.ways.append(way)

    def part(self, title: str, what: str, queries: Labels, keys: Labels) -> Part:
        """All of them."""
        found = [norms(each) for each in self.seen]
        lengths = torch.stack([each for each in found if each is not None]) if all_there(found) else None
        first, more = self.ways[0], {"title": title, "what": what, "queries": queries.texts, "keys": keys.texts}
        if first is not None and all(way is not None and first.alike(way) for way in self.ways):
            return Part(self._scored(first, more), queries, keys, lengths)
        weights = [
            each.weights if way is None else way.weights(each.q, each.k)
            for each, way in zip(self.seen, self.ways, strict=True)
        ]
        return Part(Stack(weights=torch.stack(weights), **more), queries, keys, lengths)

    def _scored(self, way: Way, more: Mapping[str, Any]) -> Stack:
        q, k, v = (torch.stack([getattr(each, name) for each in self.seen]) for name in "qkv")
        scale = next(
            (name for name, of in SCALES.items() if math.isclose(of(q.shape[-1]), way.scale, rel_tol=1e-6)), ""
        )
        mask = rule(way.square)
        own = OWN | mask | {"scale": scale or "none", "softcap": way.softcap}
        square = None if mask else way.square
        return Stack(q=q if scale else q * way.scale, k=k, v=v, own=own, square=square, **more)


def all_there(found: Sequence[object]) -> bool:
    """Is none of them missing?"""
    return all(each is not None for each in found)


def rule(square: Bool[Tensor, "q k"]) -> dict[str, Any]:
    """The mask of masks.MASKS that shows these pairs, and its span; nothing where none does."""
    queries, keys = square.shape
    for name in ("full", "causal"):
        if torch.equal(MASKS[name].square(queries, keys, 1), square):
            return {"mask": name}
    span = int(square[-1].sum())
    for name in ("window", "local") if span else ():
        if torch.equal(MASKS[name].square(queries, keys, span), square):
            return {"mask": name, "span": span}
    return {}


def weights(stack: Stack, at: int) -> Float[Tensor, "h q k"]:
    """Those of one layer of a stack, be they there or to be computed."""
    if stack.weights is not None:
        return stack.weights[at].float()
    assert stack.q is not None and stack.k is not None
    q, k, own = stack.q[at].float(), stack.k[at].float(), OWN | dict(stack.own)
    square = MASKS[own["mask"]].square(q.shape[1], k.shape[1], own["span"]) if stack.square is None else stack.square
    return Way(SCALES[own["scale"]](q.shape[-1]), own["softcap"], square).weights(q, k)


def every(stack: Stack) -> Iterable[Float[Tensor, "h q k"]]:
    """The weights of layer after layer."""
    return (weights(stack, at) for at in range(layers(stack)))


def layers(stack: Stack) -> int:
    """How many there are."""
    return len(stack.weights if stack.weights is not None else stack.q)  # type: ignore[arg-type]  one of them is there


def outputs(tensors: Sequence[Float[Tensor, "1 h q k"]], title: str, what: str, q: Labels, k: Labels) -> Part:
    """A part of weights alone, as a model itself has told them."""
    if len({tuple(each.shape) for each in tensors}) != 1 or any(each.dim() != 4 or len(each) != 1 for each in tensors):
        raise ModelError("Its layers differ in their heads or tokens, so that no one map holds them all.")
    return Part(Stack(title, what, q.texts, k.texts, weights=torch.cat(list(tensors)).float()), q, k)


def many(parts: Iterable[Part]) -> Counter[str]:
    """How many layers and heads there are in all parts together."""
    found = Counter[str]()
    for part in parts:
        tensor = part.stack.weights if part.stack.weights is not None else part.stack.q
        assert tensor is not None
        found += Counter(layers=len(tensor), heads=tensor.shape[1])
    return found


def changed(part: Part, **stack: Any) -> Part:
    """The part with another stack's fields."""
    return replace(part, stack=replace(part.stack, **stack))
