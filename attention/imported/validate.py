"""Checks that a stack can be shown: its sizes fit each other, and are within the limits of the pages.

Pages show every weight of a layer if there are at most CELLS; longer sequences of queries and keys are drawn as maps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

from torch import Tensor

from attention.array_files.limits import LONGEST, TEXT, DataError
from attention.imported.checks import over_one
from attention.imported.stack import Stack
from attention.operations.qk_norm import OFF, ON
from attention.operations.softmax import SOFTMAXES
from attention.recorded.file import CELLS, CHOICES, LAYERS, OWN, RANGES, TOKENS, Shape

HEADS = 128  # of a layer
WIDTH = 32_768  # channels of all heads of a layer
CHANNELS = 2**25  # channels of all tokens of a layer together
PARTS = {"q": "l h q d", "k": "l g k d", "v": "l g k e", "weights": "l h q k"}
LITTLE = 2  # smallest number of tokens
Parts = Mapping[str, Tensor | None]
SET = OWN | {"qk_norm": OFF}  # what a stack may set, more than a recording
ALLOWED = CHOICES | {"softmax": tuple(SOFTMAXES), "qk_norm": (OFF, ON)}


ONE_QUERY = (
    "There is 1 query; at least 2 are needed. With a cache, a model has one query in each step of generate: save all steps, "
    "as in torch.save(out.attentions, 'steps.pt'), or one pass over the whole text."
)


def check(stack: Stack) -> None:
    """Raises DataError unless the parts of a stack fit each other and the limits of the pages."""
    check_parts(parts_of(stack), stack.square)
    layers, heads, _, queries, keys, d_head = sizes(stack)
    if queries == 1:
        raise DataError(ONE_QUERY)
    for what, value, least, most in (
        ("layers", layers, 1, LAYERS),
        ("heads", heads, 1, HEADS),
        ("queries", queries, LITTLE, LONGEST),
        ("keys", keys, LITTLE, LONGEST),
        ("channels of all heads", heads * d_head, 1, WIDTH),
    ):
        if not least <= value <= most:
            raise DataError(f"There are {value:,} {what}; {least} to {most:,} can be shown.")
    _words(stack, layers, queries, keys)
    _sinks(stack, layers, heads)
    _bearable(stack, heads, queries, keys, d_head)


def check_parts(parts: Parts, square: Tensor | None = None) -> None:
    """Raises DataError unless parts, by their names in `PARTS`, form a stack and fit each other and a mask."""
    _whole(parts)
    layers, heads, groups, queries, keys, d_head = _sizes(parts)
    if not groups or heads % groups:
        raise DataError(f"{groups} heads of keys and values don't divide {heads} heads of queries.")
    value = parts.get("v")
    wanted = {
        "q": (layers, heads, queries, d_head),
        "k": (layers, groups, keys, d_head),
        "v": (layers, groups, keys, d_head if value is None else value.shape[-1]),
        "weights": (layers, heads, queries, keys),
    }
    for name, sizes in wanted.items():
        part = parts.get(name)
        if part is not None and tuple(part.shape) != sizes:
            raise DataError(f"{name} is {_describe_part(part)}; with the others it would be {sizes}.")
    if square is not None and tuple(square.shape) not in ((queries, keys), (layers, queries, keys)):
        raise DataError(f"The mask is {_describe_part(square)}; with the others it would be {(queries, keys)}.")


def parts_of(stack: Stack) -> Parts:
    """Returns the parts of a stack by name."""
    return {name: getattr(stack, name) for name in PARTS}


def sizes(stack: Stack) -> tuple[int, int, int, int, int, int]:
    """Returns the number of layers, heads, heads of keys and values, queries, keys, and channels of a head (1 if unknown)."""
    return _sizes(parts_of(stack))


def _sizes(parts: Parts) -> tuple[int, int, int, int, int, int]:
    q, k, v, weights = (parts.get(name) for name in PARTS)
    if q is not None and k is not None:
        layers, heads, queries, d_head = q.shape
        return layers, heads, k.shape[1], queries, k.shape[2], d_head
    assert weights is not None
    layers, heads, queries, keys = weights.shape
    return layers, heads, heads if v is None else v.shape[1], queries, keys, 1 if v is None else v.shape[3]


def shape_of(stack: Stack) -> Shape:
    """Returns the sizes of a stack as those of a source."""
    layers, heads, groups, queries, keys, d_head = sizes(stack)
    there = ("q", "k", "v") if stack.q is not None else ("weights", "v")
    has = frozenset(name for name in there if getattr(stack, name) is not None)
    own, alone = SET | dict(stack.own), stack.square is not None
    other, d_v = 0 if itself(stack) else keys, 0 if stack.v is None or stack.v.shape[3] == d_head else stack.v.shape[3]
    sinks = () if stack.sinks is None else tuple(map(tuple, stack.sinks.double().tolist()))
    numbers = layer_numbers(stack)
    over = "weights" in has and stack.weights is not None and over_one(stack.weights)
    return Shape(layers, heads, groups, queries, d_head, has, own, numbers, other, alone, d_v, stack.rules, sinks, over)


def itself(stack: Stack) -> bool:
    """Whether a sequence attends to itself: there are as many keys as queries, and they have the same texts."""
    _, _, _, queries, keys, _ = sizes(stack)
    return queries == keys and stack.queries == stack.keys


def layer_numbers(stack: Stack) -> tuple[int, ...]:
    """Returns which layers of their model these are; () if they are all from 0 on."""
    usual = tuple(range(sizes(stack)[0]))
    return () if stack.numbers in ((), usual) else stack.numbers


def _whole(parts: Parts) -> None:
    """Raises DataError unless there are weights, or queries and keys, and each part has four axes of floating numbers."""
    q, k, _, weights = (parts.get(name) for name in PARTS)
    if (q is None) != (k is None):
        there, lacks = ("q", "k") if k is None else ("k", "q")
        raise DataError(f"There is {there} without {lacks}. Queries and keys belong together.")
    if q is None and weights is None:
        raise DataError("There are neither weights nor queries and keys, so no attention can be shown.")
    for name, axes in PARTS.items():
        part = parts.get(name)
        if part is not None and (part.ndim != 4 or not part.is_floating_point()):
            raise DataError(f"{name} is {_describe_part(part)}; {axes} are four axes of floating numbers.")


def _sinks(stack: Stack, layers: int, heads: int) -> None:
    """Raises DataError unless there is a sink for each head exactly if the softmax has learned ones."""
    found = () if stack.sinks is None else tuple(stack.sinks.shape)
    wanted = (layers, heads) if SOFTMAXES[stack.own.get("softmax", OWN["softmax"])].learned else ()
    if found != wanted:
        raise DataError(
            f"The sinks have the shape {found}; with the softmax and the heads of this stack it is {wanted}."
        )


def _words(stack: Stack, layers: int, queries: int, keys: int) -> None:
    """Raises DataError unless texts, layer numbers, rules and knobs fit the sizes."""
    for what, texts, count in (("queries", stack.queries, queries), ("keys", stack.keys, keys)):
        if texts and len(texts) != count:
            raise DataError(f"{len(texts):,} texts of tokens don't fit {count:,} {what}.")
        if any(len(text) > TEXT for text in texts):
            raise DataError(f"A token has {max(map(len, texts)):,} characters; {TEXT:,} are allowed.")
    rising = all(one < next for one, next in pairwise(stack.numbers))
    if stack.numbers and (
        len(stack.numbers) != layers or not rising or not 0 <= stack.numbers[0] <= stack.numbers[-1] < LAYERS
    ):
        raise DataError(f"The {layers} layers are numbered {stack.numbers}: each from 0 to {LAYERS - 1}, rising.")
    if stack.rules and (len(stack.rules) != layers or stack.square is not None or stack.q is None):
        raise DataError(f"There are {len(stack.rules)} rules of masks for {layers} layers of queries and keys.")
    said = [*stack.own.items(), *(pair for rule in stack.rules for pair in zip(("mask", "span"), rule, strict=True))]
    for name, value in said:
        if name not in SET:
            raise DataError(f"{name!r} is nothing that a source sets. These are: {', '.join(SET)}.")
        if name in ALLOWED and value not in ALLOWED[name]:
            raise DataError(f"{name}={value!r} is not one of: {', '.join(ALLOWED[name])}.")
        if name in RANGES and not RANGES[name][0] <= value <= RANGES[name][1]:
            raise DataError(f"{name}={value!r} is not between {RANGES[name][0]} and {RANGES[name][1]:,}.")


def _bearable(stack: Stack, heads: int, queries: int, keys: int, d_head: int) -> None:
    """Raises DataError if a stack is too large both for single weights and for maps."""
    cells, most = heads * queries * keys, math.isqrt(CELLS // heads)
    few = max(queries, keys) <= TOKENS and cells <= CELLS
    if few:
        return
    said = f"{heads} heads of {queries:,} × {keys:,} weights are more than this app can show weight by weight"
    if stack.q is None:
        raise DataError(
            f"{said}: at most {min(most, TOKENS):,} tokens with so many heads. Upload queries and keys instead, which can "
            f"have {LONGEST:,} tokens, or fewer tokens or heads."
        )
    if stack.square is not None or not itself(stack):
        why = "another sequence" if not itself(stack) else "a mask that is not a rule of this app"
        raise DataError(f"{said}, and longer ones can't have {why}: at most {min(most, TOKENS):,} tokens here.")
    if queries * heads * d_head > CHANNELS:
        raise DataError(
            f"{queries:,} tokens of {heads * d_head:,} channels are over the limit of {CHANNELS:,} channels in a layer."
        )


def _describe_part(part: Tensor) -> str:
    return f"of shape {tuple(part.shape)} and {str(part.dtype).removeprefix('torch.')}"
