"""From the arrays of a file to a stack: what each is, how its axes were read, and what was found on the way.

What is guessed is said, and somebody who knows better says otherwise by a `Reading`, whose knobs are those of the page.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from attention.brought import axes, checks, naming
from attention.brought.arrays import Array, Arrays
from attention.brought.axes import AUTO
from attention.brought.fitting import BroughtError, check, fit, parts_of
from attention.brought.naming import Part
from attention.brought.stack import Stack
from attention.brought.token_file import decoded, in_words
from attention.masks import MASKS
from attention.recorded.file import RANGES
from attention.scores import SCALES
from attention.settings import Settings, choice, whole

ORDER = {"q": "l h n d", "k": "l h n d", "v": "l h n d", "weights": "l h q k"}
HIDES = -1e4  # what a mask adds where it hides, or less
SCALE = "1/sqrt(d_head)"
SAME = 1e-6  # relative: is a scale one of those that have a name?


# fmt: off
@dataclass(frozen=True, kw_only=True)
class Reading:
    """How the arrays of a file are read, where somebody says otherwise than was guessed."""

    part: int = whole(0, 0, 63, "Part of the file", "A file may have several, as the encoder and the decoder of a model: the page names them, counted from 0.")
    weights: str = choice(AUTO, (AUTO, *axes.WEIGHTS), "Axes of the weights", "l layers, b sequences of a batch, h heads, q queries, k keys, the last one changing fastest. Auto: by their number, and by where rows sum to 1.")
    vectors: str = choice(AUTO, (AUTO, *axes.VECTORS), "Axes of queries, keys and values", "l layers, b sequences of a batch, h heads, n tokens, d channels of a head. Auto: by their number, and by how many tokens there are.")
    item: int = whole(0, 0, 4095, "Sequence of the batch", "Which one is shown, counted from 0.")
    mask: str = choice(AUTO, (AUTO, *MASKS), "Mask", "Which keys a query could look at when it was recorded. Auto: as the file says, else all.")
    scale: str = choice(AUTO, (AUTO, *SCALES), "Scale", "What dot products of queries and keys were multiplied by. Auto: as the file says, else 1/sqrt(d_head).")

    def __post_init__(self) -> None:
        for name in READINGS.knobs:
            READINGS.check(name, getattr(self, name))
# fmt: on


READINGS = Settings(Reading, "how a file is read", prefix="read ")


@dataclass(frozen=True, eq=False)
class Read:
    """A stack, how it was read in sentences, what was found that a reader should know, and the names of all that there are."""

    stack: Stack
    said: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)


def read(arrays: Arrays, texts: Mapping[str, tuple[str, ...]], how: Reading) -> Read:
    """The stack of a file; `texts`: tokens and keys from a file of their own. Raises BroughtError."""
    there = naming.parts(arrays.arrays)
    part = there[min(how.part, len(there) - 1)]
    texts = {**in_words(arrays.said), **_texts(arrays), **texts}
    out = Read(Stack(_title(arrays), _what(arrays)), parts=[each.name or "attention" for each in there])
    roles, layers = _of_layers(part)
    tokens = len(texts.get("tokens", ()))
    made: dict[str, Tensor] = {}
    for role in ("weights", "q", "k", "v"):
        if role in roles and (role != "weights" or "q" not in roles or "k" not in roles):
            order, note = _axes(role, roles, how, tokens)
            made[role] = _together(role, roles[role], order, how.item)
            out.said.append(f"{role}: {axes.told(order, _one(roles[role]).shape)}{_each(roles[role])}.")
            out.found.extend([note] if note else [])
    fit(made)
    numbers = layers if layers != (-1,) else ()
    stack = replace(out.stack, **made, numbers=_numbers(numbers, made))
    stack = _worded(_masked(stack, part, arrays, how, out), texts, out)
    check(stack)
    _checked(stack, out)
    return replace(out, stack=stack)


def _texts(arrays: Arrays) -> dict[str, tuple[str, ...]]:
    """Lists of texts among the arrays, by what they are of."""
    return {"keys" if "key" in name.casefold() else "tokens": texts for name, texts in arrays.texts.items()}


def _title(arrays: Arrays) -> str:
    said = decoded(arrays.said.get("title", ""))
    return said if isinstance(said, str) and said.strip() else arrays.called


def _what(arrays: Arrays) -> str:
    said = decoded(arrays.said.get("what", ""))
    return said if isinstance(said, str) and said.strip() else f"From the file {arrays.called}."


def _of_layers(part: Part) -> tuple[dict[str, list[tuple[int, Array]]], tuple[int, ...]]:
    """The arrays of each role by their layers, in order, and these; raises BroughtError where roles have others."""
    roles = {role: sorted(found.items()) for role, found in part.roles.items() if role != "mask"}
    layers = {role: tuple(number for number, _ in found) for role, found in roles.items()}
    first = next(iter(layers))
    for role, numbers in layers.items():
        if numbers != layers[first]:
            raise BroughtError(f"There is {first} of layers {_list(layers[first])}, and {role} of {_list(numbers)}.")
    for role, found in roles.items():
        for number, array in found:
            if array.shape != found[0][1].shape:
                raise BroughtError(
                    f"{role} of layer {number} is of shape {array.shape}; that of layer {found[0][0]} is {found[0][1].shape}. "
                    "Layers are alike in their sizes here."
                )
    return roles, layers[first]


def _axes(role: str, roles: Mapping[str, list[tuple[int, Array]]], how: Reading, tokens: int) -> tuple[str, str]:
    """The axes of the arrays of a role, and a sentence where they can't be those that were asked for."""
    array, named = _one(roles[role]), len(roles[role]) > 1
    if role == "weights":
        return axes.chosen(how.weights, axes.weights(array.tensor(), named), len(array.shape))
    pair = tuple(_one(roles[name]).shape for name in ("q", "k") if name in roles)
    guessed = axes.vectors(array.shape, pair, named, tokens)
    return axes.chosen(how.vectors, guessed, len(array.shape))


def _together(role: str, found: list[tuple[int, Array]], order: str, item: int) -> Tensor:
    """All layers of a role in memory of their own, in floating numbers of at most 32 bits."""
    whole: Tensor | None = None
    for at, (_, array) in enumerate(found):
        part = array.tensor()
        if not part.is_floating_point():
            raise BroughtError(f"{role} has numbers of type {array.type}; floating ones are shown.")
        part = axes.arranged(part, order, item, ORDER[role])
        if whole is None:
            dtype = torch.float32 if part.dtype == torch.float64 else part.dtype
            whole = torch.empty((len(found) * part.shape[0], *part.shape[1:]), dtype=dtype)
        whole[at * part.shape[0] : (at + 1) * part.shape[0]] = part
    assert whole is not None
    return whole


def _numbers(layers: tuple[int, ...], made: Mapping[str, Tensor]) -> tuple[int, ...]:
    """The layers of the model, where each has an array of its own."""
    return layers if layers and len(layers) == len(next(iter(made.values()))) else ()


def _masked(stack: Stack, part: Part, arrays: Arrays, how: Reading, out: Read) -> Stack:
    """With the mask and the scale that the file says, that somebody chose, or that the numbers show."""
    if stack.q is None:
        return _hidden(stack, part, how, out)
    own: dict[str, Any] = {"scale": SCALE, "mask": "full"} | _numbered(arrays)
    stack, own["scale"] = _scaled(stack, arrays, how, out)
    named = decoded(arrays.said.get("mask", "")) if how.mask == AUTO else how.mask
    if isinstance(named, str) and named in MASKS:
        own["mask"] = named
        out.said.append(f"Mask: {named}, as {'the file says' if how.mask == AUTO else 'was chosen'}.")
    elif "mask" in part.roles:
        square = _square(next(iter(part.roles["mask"].values())), how.item)
        fit(parts_of(stack), square)
        return replace(_ruled(stack, square, own, out), own=own)
    else:
        out.said.append("Mask: none is named, so every query sees every key.")
    return replace(stack, own=own)


def _numbered(arrays: Arrays) -> dict[str, float]:
    """The reach of a mask, and the cap of the scores, where the file says them."""
    found = {name: decoded(arrays.said.get(name, "")) for name in RANGES}
    return {
        name: value if name == "softcap" else int(value)
        for name, value in found.items()
        if isinstance(value, (int, float))
        and not isinstance(value, bool)
        and RANGES[name][0] <= value <= RANGES[name][1]
    }


def _hidden(stack: Stack, part: Part, how: Reading, out: Read) -> Stack:
    """Weights alone with a mask that is in the file, or that must have been there."""
    if "mask" not in part.roles:
        return _causal(stack, out)
    square = _square(next(iter(part.roles["mask"].values())), how.item)
    fit(parts_of(stack), square)
    out.said.append(f"Mask: from the file; {int(square.sum()):,} pairs take part.")
    return replace(stack, square=square)


def _ruled(stack: Stack, square: Tensor, own: dict[str, Any], out: Read) -> Stack:
    """With a mask as a rule where it is one, else as a square."""
    if square.shape[0] == square.shape[1] and torch.equal(square, torch.ones_like(square).tril()):
        own["mask"] = "causal"
        out.said.append("Mask: causal, as the array in the file is.")
        return stack
    out.said.append(
        f"Mask: of {square.shape[0]:,} queries x {square.shape[1]:,} keys, from the file; {int(square.sum()):,} pairs take part."
    )
    return replace(stack, square=square)


def _causal(stack: Stack, out: Read) -> Stack:
    """Weights alone, of which none looks ahead, with the mask that must have been there."""
    if stack.weights is None or not checks.ahead(stack.weights):
        return stack
    out.said.append("No query has weight on a key behind it: read as under a causal mask.")
    side = stack.weights.shape[-1]
    return replace(stack, square=torch.ones(side, side, dtype=torch.bool).tril())


def _scaled(stack: Stack, arrays: Arrays, how: Reading, out: Read) -> tuple[Stack, str]:
    """The scale by its name; one that has none goes into the queries."""
    assert stack.q is not None
    if how.scale != AUTO:
        return stack, how.scale
    said, d = decoded(arrays.said.get("scale", "")), stack.q.shape[-1]
    if isinstance(said, str) and said in SCALES:
        out.said.append(f"Scale: {said}, as the file says.")
        return stack, said
    if isinstance(said, bool) or not isinstance(said, (int, float)) or not math.isfinite(said) or not said:
        out.said.append(f"Scale: none is named, so {SCALE}.")
        return stack, SCALE
    for name, scale in SCALES.items():
        if abs(scale(d) - said) <= SAME * abs(said):
            out.said.append(f"Scale: {name}, as the file says.")
            return stack, name
    out.said.append(f"Scale: {said:g}, as the file says; it was multiplied into the queries.")
    return replace(stack, q=stack.q.float() * said), "none"


def _square(array: Array, item: int) -> Tensor:
    """A mask as a square, True where a pair takes part: of booleans, or of what is added to scores."""
    part = array.tensor()
    while part.ndim > 2:
        part = part[min(item, len(part) - 1)] if part.ndim == len(array.shape) else part[0]
    if part.ndim != 2:
        raise BroughtError(f"mask is of shape {array.shape}; queries x keys are two axes.")
    if part.is_floating_point():
        if bool(((part != 0) & (part > HIDES)).any()) or bool(part.isnan().any()):
            raise BroughtError("mask adds numbers other than 0 and minus infinity to scores: only what hides is shown.")
        return part == 0
    return part != 0


def _worded(stack: Stack, texts: Mapping[str, tuple[str, ...]], out: Read) -> Stack:
    """With the texts of tokens that fit."""
    many = (stack.q if stack.q is not None else stack.weights, stack.k if stack.q is not None else stack.weights)
    queries, keys = many[0].shape[2], many[1].shape[2 if stack.q is not None else 3]  # pyright: ignore[reportOptionalMemberAccess]  either is there
    tokens, words = texts.get("tokens", ()), texts.get("words", ())
    tokens = words if len(words) == queries != len(tokens) else tokens
    others = texts.get("keys", tokens if queries == keys else ())
    fits = {"queries": len(tokens) == queries, "keys": len(others) == keys}
    for what, given, count in (("tokens", tokens, queries), ("keys", texts.get("keys", ()), keys)):
        if given and len(given) != count:
            out.found.append(f"{len(given):,} texts of {what} don't fit {count:,}: positions are shown instead.")
    if not tokens:
        out.said.append(
            "Tokens: no texts came along, so positions are shown. A list of texts, .json or .txt, may be opened beside it."
        )
    return replace(stack, queries=tokens if fits["queries"] else (), keys=others if fits["keys"] else ())


def _checked(stack: Stack, out: Read) -> None:
    """Raises BroughtError on numbers that can't be; notes what is odd."""
    layers = stack.numbers or tuple(range(128))
    for name in ("q", "k", "v", "weights"):
        part = getattr(stack, name)
        if part is not None:
            checks.numbers(name, part, layers)
    if stack.weights is not None and (odd := checks.rows(stack.weights, layers)):
        out.found.append(odd)


def _one(found: list[tuple[int, Array]]) -> Array:
    return found[0][1]


def _each(found: list[tuple[int, Array]]) -> str:
    return f", each of {len(found)} layers" if len(found) > 1 else ""


def _list(numbers: tuple[int, ...]) -> str:
    return "no number" if numbers == (-1,) else ", ".join(map(str, numbers[:8])) + (" …" if len(numbers) > 8 else "")
