"""Makes a stack of the arrays of a file, and notes how roles, axes, mask and scale were read, and what is odd.

The notes state every guess, and the user can override it by a `Reading`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attention.array_files.arrays import TYPES, Array, Arrays, short
from attention.array_files.limits import DataError
from attention.imported import axes, checks, layer_weights, metadata, steps, tensor_roles
from attention.imported import masks as hiding
from attention.imported.axes import AUTO
from attention.imported.nearest_mask import with_span
from attention.imported.reading_knobs import Reading
from attention.imported.stack import Stack
from attention.imported.tensor_roles import Part
from attention.imported.token_file import decode_json, in_words
from attention.imported.validate import check, check_parts, sizes
from attention.masks import MASKS
from attention.operations.scale import SCALES
from attention.recorded.file import OWN

ORDER = {"q": "l h n d", "k": "l h n d", "v": "l h n d", "weights": "l h q k"}
SCALE = "1/sqrt(d_head)"
Roles = Mapping[str, list[tuple[int, Array]]]  # the arrays of each role by layer
LAYER = re.compile(r"(?:^|[^a-z])(?:layers?|blocks?|h)[._]?\d", re.IGNORECASE)
COUNTED = (
    "Layers are numbered by their order in the file, which may not have all layers of the model. Name the arrays by layer, "
    "as in layers.3.weights."
)
SAME = 1e-6  # relative difference up to which a number is one of the named scales


@dataclass(frozen=True, eq=False)
class Read:
    """A stack, sentences on how it was read (`said`), warnings (`found`), and the names of all stacks of the file (`parts`)."""

    stack: Stack
    said: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)


def read_stack(arrays: Arrays, texts: Mapping[str, tuple[str, ...]], how: Reading) -> Read:
    """Returns the stack of a file; `texts`: tokens and keys from a file of their own. Raises DataError."""
    arrays, joined = steps.join(metadata.merge_header(arrays), how.item)
    there = tensor_roles.parts(arrays.arrays)
    part = there[min(how.part, len(there) - 1)]
    texts = {**in_words(arrays.said), **metadata.texts(arrays), **texts}
    out = Read(
        Stack(metadata.title(arrays), metadata.what(arrays)), joined, parts=[each.name or "attention" for each in there]
    )
    roles, layers = _of_layers(part)
    orders, batch = _orders(roles, how, _Sizes.of(part, texts), out)
    planned = {role: _plan_role(role, roles[role], order, how.item) for role, order in orders.items()}
    check_parts(planned)
    check(replace(out.stack, **planned))
    made = {role: _together(role, roles[role], order, how.item) for role, order in orders.items()}
    numbers = layers if layers != (-1,) else ()
    stack = replace(out.stack, **made, numbers=_numbers(numbers, made))
    stack = _add_token_texts(_apply_mask(stack, part.roles.get("mask", {}), batch, arrays, how, out), texts, out)
    check(stack)
    out.found.extend(checks.odd_numbers(stack))
    if "weights" in roles and stack.q is not None:
        _left_out(stack, roles["weights"], how, out)
    if "weights" in roles and len(made.get("weights", ())) and not _has_layer_names(arrays):
        out.said.append(COUNTED)
    out.said.extend([said] if (said := metadata.unused_sentence(arrays)) else [])
    return replace(out, stack=stack)


def _has_layer_names(arrays: Arrays) -> bool:
    """Whether names of arrays have the numbers of layers in their model, as `layers.3.weights`."""
    return any(LAYER.search(name) for name in arrays.arrays)


def _orders(roles: Roles, how: Reading, known: _Sizes, out: Read) -> tuple[dict[str, str], int]:
    """Returns the axes of each role, except weights that come with queries and keys, and the number of sequences."""
    orders: dict[str, str] = {}
    batch = 1
    for role in ("weights", "q", "k", "v"):
        if role in roles and (role != "weights" or "q" not in roles or "k" not in roles):
            orders[role], note = _axes(role, roles, how, known)
            shape = _one(roles[role]).shape
            out.said.append(f"{role}: {axes.describe_axes(orders[role], shape)}{_each(roles[role])}.")
            out.found.extend([note] if note else [])
            batch = max(batch, dict(zip(orders[role].split(), shape, strict=True)).get("b", 1))
    return orders, batch


def _left_out(stack: Stack, found: list[tuple[int, Array]], how: Reading, out: Read) -> None:
    """Notes that weights are not used, as there are queries and keys, and warns if those of the first layer differ from these."""
    out.said.append("weights were not used: they follow from queries and keys.")
    try:
        given = _together("weights", found[:1], _axes("weights", {"weights": found}, how, _Sizes())[0], how.item)[0]
    except DataError:
        return
    if note := layer_weights.differing(stack, given, (stack.numbers or (0,))[0]):
        out.found.append(note)


def _of_layers(part: Part) -> tuple[Roles, tuple[int, ...]]:
    """Returns the arrays of each role in the order of layers, and the layer numbers; raises DataError if roles differ."""
    roles = {role: sorted(found.items()) for role, found in part.roles.items() if role != "mask"}
    layers = {role: tuple(number for number, _ in found) for role, found in roles.items()}
    first = next(iter(layers))
    for role, numbers in layers.items():
        if numbers != layers[first]:
            raise DataError(f"There is {first} of layers {_list(layers[first])}, and {role} of {_list(numbers)}.")
    for role, found in roles.items():
        for number, array in found:
            if array.shape != found[0][1].shape:
                raise DataError(
                    f"{role} of layer {number} is of shape {array.shape}; that of layer {found[0][0]} is {found[0][1].shape}. "
                    "All layers need the same sizes."
                )
    return roles, layers[first]


class _Sizes(NamedTuple):
    """What else is known of the axes: the number of tokens, and the shape of a padding mask; 0 and () if unknown."""

    tokens: int = 0
    padding: tuple[int, ...] = ()

    @classmethod
    def of(cls, part: Part, texts: Mapping[str, tuple[str, ...]]) -> _Sizes:
        masks = [array.shape for array in part.roles.get("mask", {}).values()]
        padding = masks[0] if len(masks) == 1 and len(masks[0]) == 2 else ()
        return cls(len(texts.get("tokens", ())), padding)


def _axes(role: str, roles: Roles, how: Reading, known: _Sizes) -> tuple[str, str]:
    """Returns the axes of the arrays of a role, and a sentence if they can't be the requested ones."""
    array = _one(roles[role])
    named = len(roles[role]) > 1 or _has_batch(array.shape, known.padding, roles)
    if role == "weights":
        square = array.square() if len(array.shape) >= 2 else None
        order = axes.choose_axes(how.weights, axes.weights(array.shape, square, named), len(array.shape))
        if how.item == 0 and order[0].endswith(("q k", "k q")) and square is not None and bool(square.isnan().all()):
            raise DataError("weights is NaN throughout its first head.")
        return order
    pair = tuple(_one(roles[name]).shape for name in ("q", "k") if name in roles)
    guessed = axes.vectors(array.shape, pair, named, known.tokens)
    return axes.choose_axes(how.vectors, guessed, len(array.shape))


def _has_batch(shape: tuple[int, ...], padding: tuple[int, ...], roles: Roles) -> bool:
    """Whether a padding mask `(b k)` shows that the first of four axes is a batch: it has as many rows, and is no `(q k)`."""
    queries = _one(roles["weights" if "weights" in roles else "q"]).shape[-3:]
    return len(shape) == 4 and padding[:1] == shape[:1] and padding[1] in shape[1:] and padding[0] not in queries


def _plan_role(role: str, found: list[tuple[int, Array]], order: str, item: int) -> Tensor:
    """Returns a tensor with the sizes of all layers of a role that takes no memory; raises DataError for integer types."""
    array = _one(found)
    dtype, _ = TYPES[array.type]
    if not dtype.is_floating_point:
        raise DataError(f"{role} has numbers of type {array.type}; floating-point types are supported.")
    one = torch.empty((), dtype=torch.float32 if dtype == torch.float64 else dtype)
    part = axes.arrange_axes(one.expand(array.shape), order, item, ORDER[role])
    return one.expand(len(found) * part.shape[0], *part.shape[1:])


def _together(role: str, found: list[tuple[int, Array]], order: str, item: int) -> Tensor:
    """Returns all layers of a role in newly allocated memory, in floating numbers of at most 32 bits."""
    planned = _plan_role(role, found, order, item)
    whole = planned.new_empty(planned.shape)
    each = len(whole) // len(found)
    for at, (_, array) in enumerate(found):
        whole[at * each : (at + 1) * each] = axes.arrange_axes(array.tensor(), order, item, ORDER[role])
    return whole


def _numbers(layers: tuple[int, ...], made: Mapping[str, Tensor]) -> tuple[int, ...]:
    """Returns the layer numbers, if each layer has an array of its own."""
    return layers if layers and len(layers) == len(next(iter(made.values()))) else ()


def _apply_mask(stack: Stack, masks: Mapping[int, Array], batch: int, arrays: Arrays, how: Reading, out: Read) -> Stack:
    """Returns the stack with the mask and the scale that the file states, that the user chose, or that the numbers show."""
    own: dict[str, Any] = {}
    padding = hiding.padding(stack, masks, how.item, batch) if masks else None
    masks = masks if padding is None else {}
    if stack.q is not None:
        own = {"scale": SCALE, "mask": "full"} | metadata.mask_numbers(arrays)
        stack, own["scale"] = _apply_scale(stack, arrays, how, out)
    if how.mask == AUTO and (rules := metadata.rules(arrays, sizes(stack)[0])):
        names = ", ".join(mask if mask in ("causal", "full") else f"{mask} ({span})" for mask, span in rules)
        out.said.append(f"Masks of the layers: {names}, from the file.")
        ruled = stack.q is not None and padding is None
        stack = replace(stack, rules=rules) if ruled else hiding.by_layer(stack, rules)
    elif rule := _rule(arrays, how, out):
        own["mask"] = rule if stack.q is not None else "full"
        span = int(metadata.mask_numbers(arrays).get("span") or OWN["span"])
        stack = stack if stack.q is not None else hiding.apply_rule(stack, rule, span)
    elif masks:
        stack, rule, told = hiding.apply_file_masks(stack, masks, how.item, batch)
        out.said.append(told)
        own |= {"mask": "full"} | rule
    elif stack.q is not None:
        out.said.append("Mask: none is given, so every query attends to every key.")
    else:
        stack, told = hiding.from_zeros(stack)
        out.said.extend([told] if told else [])
    if padding is not None:
        stack = hiding.without_padding(stack, padding, own)
        out.said.append(f"Mask of keys, from the file: {int((~padding).sum()):,} of {len(padding):,} are padding.")
    stack, told = hiding.show_uniform_rows(stack)
    out.said.extend([told] if told else [])
    return replace(stack, own=own if stack.q is not None else {})


def _rule(arrays: Arrays, how: Reading, out: Read) -> str:
    """Returns the name of the mask rule that the user chose or the file states; "" if there is none."""
    named = decode_json(arrays.said.get("mask", "")) if how.mask == AUTO else how.mask
    if isinstance(named, str) and named in MASKS:
        span = int(metadata.mask_numbers(arrays).get("span") or OWN["span"])
        out.said.append(f"Mask: {with_span(named, span)}, as {'the file says' if how.mask == AUTO else 'was chosen'}.")
        return named
    if named != "":
        out.found.append(f"The mask {short(str(named))} in the file is not one of: {', '.join(MASKS)}.")
    return ""


def _apply_scale(stack: Stack, arrays: Arrays, how: Reading, out: Read) -> tuple[Stack, str]:
    """Returns the name of the scale; a scale without a name is multiplied into the queries."""
    assert stack.q is not None
    if how.scale != AUTO:
        return stack, how.scale
    name, said, d = decode_json(arrays.said.get("scale", "")), metadata.number(arrays, "scale"), stack.q.shape[-1]
    if isinstance(name, str) and name in SCALES:
        out.said.append(f"Scale: {name}, from the file.")
        return stack, name
    if not said:
        if "scale" in arrays.said:
            out.found.append(f"The scale {short(arrays.said['scale'])} in the file is not a usable number.")
        out.said.append(f"Scale: none is given, so {SCALE} is used.")
        return stack, SCALE
    for name, scale in SCALES.items():
        if abs(scale(d) - said) <= SAME * abs(said):
            out.said.append(f"Scale: {name}, from the file.")
            return stack, name
    out.said.append(f"Scale: {said:g}, from the file; the queries were multiplied by it.")
    return replace(stack, q=stack.q.float() * said), "none"


def _add_token_texts(stack: Stack, texts: Mapping[str, tuple[str, ...]], out: Read) -> Stack:
    """Returns the stack with those token texts that fit."""
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
            "Tokens: the file has no texts, so positions are shown. You can open a list of texts (.json or .txt) with it."
        )
    return replace(stack, queries=tokens if fits["queries"] else (), keys=others if fits["keys"] else ())


def _one(found: list[tuple[int, Array]]) -> Array:
    return found[0][1]


def _each(found: list[tuple[int, Array]]) -> str:
    return f", in each of {len(found)} layers" if len(found) > 1 else ""


def _list(numbers: tuple[int, ...]) -> str:
    return "no number" if numbers == (-1,) else ", ".join(map(str, numbers[:8])) + (" …" if len(numbers) > 8 else "")
