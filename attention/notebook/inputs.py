"""Converts the input of users to stacks: tensors of any library, outputs of transformers, watched models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.imported import checks
from attention.imported.generated import join_steps
from attention.imported.stack import Stack
from attention.masks import MASKS
from attention.notebook.outputs import EAGER, Part, find_parts
from attention.notebook.tensors import is_list_of_tensors, order_axes, stack_layers, to_tensor
from attention.notebook.weight_checks import check_finite, check_weights, describe_sums
from attention.recorded.file import OWN
from attention.tracing.parts import CROSS, Texts, apply_scale, find_rule
from attention.tracing.watched import Watched

AXES = {2: "q k", 3: "h q k", 4: "l h q k", 5: "l b h q k"}  # default axes of weights
OF_A_LAYER = {2: "q k", 3: "h q k", 4: "b h q k"}  # default axes if there is one tensor per layer
SPAN = 4  # default span of a mask
COUNTED = (
    " Layers are numbered by their place in what was given, which may leave out layers of the model: layers= takes their "
    "numbers, and attention.watch(model) knows them."
)


@dataclass
class Told:
    """The arguments that describe an input: see `notebook.display.show`."""

    tokens: Sequence[str] = ()
    keys: Sequence[str] = ()
    mask: str | Any = None
    span: int = SPAN
    scale: float | None = None
    softcap: float = 0.0
    batch: int = 0
    axes: str = ""
    title: str = ""
    layers: Sequence[int] | None = None
    texts: Texts = field(init=False)

    def __post_init__(self) -> None:
        self.tokens, self.keys = (x.split() if isinstance(x, str) else list(x) for x in (self.tokens, self.keys))
        self.texts = Texts(self.tokens, self.keys)


def stacks_of(given: Any, key: Any, value: Any, told: Told) -> dict[str, Stack]:
    """The stacks of an input, by the names of its parts; raises ValueError that names what can't be shown, and where."""
    if isinstance(given, Watched):
        _as_seen(key, value, told)
        return given.parts(told.tokens, told.keys, told.title)
    if isinstance(given, Stack):
        return {"": given}
    given = _list_layers(given)
    if key is not None:
        return {"": _of_queries(given, key, value, told)}
    parts = find_parts(given, told.batch) or {"": _bare(given, told.batch)}
    found = {name: _of_weights(part, name, len(parts), told) for name, part in parts.items()}
    told.texts.check(
        [size for stack in found.values() if stack.weights is not None for size in stack.weights.shape[2:]]
    )
    return found


def _list_layers(given: Any) -> Any:
    """An array of arrays, as NumPy makes one of layers with different sizes, as a list."""
    return list(given) if isinstance(given, np.ndarray) and given.dtype == object and given.ndim else given


def _as_seen(key: Any, value: Any, told: Told) -> None:
    """Raises ValueError for arguments that have no effect on a watched model."""
    given = {"key": key, "value": value, "mask": told.mask, "scale": told.scale, "axes": told.axes or None}
    given["layers"] = told.layers
    given |= {
        "span": told.span if told.span != SPAN else None,
        "softcap": told.softcap or None,
        "batch": told.batch or None,
    }
    if named := [name for name, said in given.items() if said is not None]:
        more = " attention.watch(model, batch=…) says which sequence is seen." if told.batch else ""
        raise ValueError(
            f"{', '.join(named)}: nothing of the kind is said of a model that was watched. Its queries and keys, mask, scale and "
            f"softcap are those that it computed with.{more}"
        )


def _bare(given: Any, batch: int) -> Part:
    """Weights that come alone, without the output of a model."""
    steps = is_list_of_tensors(given) and is_list_of_tensors(next(iter(given)))
    return Part(given, [batch] * (len(given) if steps else 1), steps)


def _of_weights(part: Part, name: str, parts: int, told: Told) -> Stack:
    weights, mask, how, numbers = _layers(part, name, told)
    weights = check_weights(weights)
    if name == "" and checks.has_relative_columns(weights):
        raise ValueError(f"weights are {(*weights.shape,)} (layers, heads, queries, columns). {checks.RELATIVE}")
    square, says = _square(weights, mask, told)
    kind = name if parts > 1 else ""
    queries, keys = told.texts.of(kind, *weights.shape[2:])
    title = told.title or "Attention weights"
    numbers, counted = _layer_numbers(len(weights), numbers, told)
    counted *= part.steps or is_list_of_tensors(part.weights)
    what = f"{len(weights)} layers of {weights.shape[1]} heads, given as weights{how}{says}{describe_sums(weights)}.{counted}"
    what += _other_keys(weights, name, told)
    title = f"{title}: {kind}" if kind else title
    return Stack(title, what, queries, keys, weights=weights, square=square, numbers=numbers)


def _layer_numbers(count: int, found: tuple[int, ...], told: Told) -> tuple[tuple[int, ...], str]:
    """The numbers of the layers, () if they are counted from 0, and a sentence on where they come from."""
    if told.layers is None:
        return found, COUNTED
    numbers = tuple(int(number) for number in told.layers)
    if len(numbers) != count or len(set(numbers)) != count or min(numbers) < 0:
        raise ValueError(f"layers={list(numbers)}: give {count} different numbers from 0 on, one for each layer.")
    return () if numbers == tuple(range(count)) else numbers, ""


def _other_keys(weights: Tensor, name: str, told: Told) -> str:
    """The remark about columns that can't be the keys of the queries' own sequence."""
    queries, keys = weights.shape[2:]
    if name or told.keys or queries <= keys:
        return ""
    return f" The {keys} columns are read as the keys of another sequence, as in cross-attention."


class Layers(NamedTuple):
    """All layers of one sequence; visible pairs if steps determine them; how they were read; numbers, () for all."""

    weights: Float[Tensor, "l h q k"]
    mask: Bool[Tensor, "q k"] | None = None
    how: str = ""
    numbers: tuple[int, ...] = ()


def _layers(part: Part, name: str, told: Told) -> Layers:
    given, rows = part.weights, part.rows
    if part.steps:
        steps = [
            [_layer(each, f"weights of step {step}", told, row) for each in layers if each is not None]
            for step, (layers, row) in enumerate(zip(given, rows, strict=True))
        ]
        known = None if part.read is None and name == "" else name == CROSS
        weights, mask, how = join_steps(steps, part.read or 0, known)
        return Layers(weights, mask, how + _row(part), _numbers(given[0]))
    if not is_list_of_tensors(given):
        return Layers(order_axes(to_tensor(given, "weights"), told.axes or AXES, rows[0], "weights"))
    layers = {
        at: _layer(each, f"weights of layer {at}", told, rows[0]) for at, each in enumerate(given) if each is not None
    }
    if not layers:
        raise ValueError(f"weights of layer 0: None. {EAGER}")
    _alike(layers)
    return Layers(torch.cat(list(layers.values())), None, _sequence(given, rows[0], told), _numbers(given))


def _layer(given: Any, name: str, told: Told, batch: int) -> Float[Tensor, "1 h q k"]:
    return order_axes(to_tensor(given, name), told.axes or OF_A_LAYER, batch, name)


def _numbers(layers: Sequence[Any]) -> tuple[int, ...]:
    """The layers that have weights, () for all: in a model that mixes both, layers of linear attention have none."""
    found = tuple(at for at, layer in enumerate(layers) if layer is not None)
    return () if len(found) == len(layers) else found


def _row(part: Part) -> str:
    """The remark about steps that come alone: it is unknown whether a batch row is one sequence in all of them."""
    batch = len(part.weights[0][0])
    if part.read is not None or batch == 1 or getattr(part.weights[0][0], "ndim", 0) < 4:
        return ""
    return (
        f"; row {part.rows[0]} of {batch} in every step, which is not one sequence if these are beams (what generate returned "
        "says which rows are)"
    )


def _sequence(given: Sequence[Any], row: int, told: Told) -> str:
    """The remark about which sequence of several is shown."""
    shape = next((layer.shape for layer in given if layer is not None), ())
    if len(shape) != 4 or shape[0] == 1 or told.axes:
        return ""
    return f", sequence {row % shape[0]} of {shape[0]} (batch= chooses another)"


def _alike(layers: Mapping[int, Tensor]) -> None:
    first, usual = next(iter(layers.items()))
    for at, layer in layers.items():
        if layer.shape != usual.shape:
            shapes = f"layer {first} is {tuple(usual.shape[1:])}, layer {at} is {tuple(layer.shape[1:])} (heads, queries, keys)"
            raise ValueError(f"Layers must be alike in their sizes: {shapes}. Show them one after another.")


def _of_queries(query: Any, key: Any, value: Any, told: Told) -> Stack:
    usual = told.axes or {2: "q d", 3: "h q d", 4: "l h q d", 5: "l b h q d"}
    names = {"query": query, "key": key, "value": value}
    parts = {
        name: order_axes(stack_layers(x, name), usual, told.batch, name) for name, x in names.items() if x is not None
    }
    q, k, v = parts["query"], parts["key"], parts.get("value")
    for name, x in parts.items():
        check_finite(x, name)
    if len(q) != len(k) or q.shape[1] % max(1, k.shape[1]) or q.shape[3] != k.shape[3]:
        raise ValueError(
            f"query {tuple(q.shape)} and key {tuple(k.shape)} (layers, heads, tokens, channels) don't fit: layers and "
            "channels must be the same, and the heads of key divide those of query."
        )
    if v is not None and v.shape[:3] != k.shape[:3]:
        raise ValueError(f"value {tuple(v.shape)} doesn't fit key {tuple(k.shape)}: they differ in channels alone.")
    queries, keys = told.texts.of("", q.shape[2], k.shape[2])
    told.texts.check([q.shape[2], k.shape[2]])
    square = _mask(told, q.shape[2], k.shape[2])
    q, scale = apply_scale(q, q.shape[-1] ** -0.5 if told.scale is None else told.scale)
    rule = find_rule(square, q.shape[2], k.shape[2])
    own = OWN | scale | {"softcap": told.softcap} | (rule or {})
    what = f"{len(q)} layers of {q.shape[1]} heads, given as queries and keys."
    named = {"square": None if rule else square, "own": own, "numbers": _layer_numbers(len(q), (), told)[0]}
    return Stack(told.title or "Attention", what, queries, keys, q=q, k=k, v=v, **named)


def _mask(told: Told, queries: int, keys: int) -> Bool[Tensor, "q k"] | None:
    """The mask that the user passed, None for all pairs; raises ValueError if it is not a mask of this size."""
    if told.mask is None:
        return None
    if isinstance(told.mask, str):
        if told.mask not in MASKS:
            raise ValueError(f"mask={told.mask!r} is not one of: {', '.join(MASKS)}.")
        return MASKS[told.mask].square(queries, keys, told.span)
    square = to_tensor(told.mask, "mask")
    if square.dtype != torch.bool or square.shape != (queries, keys):
        raise ValueError(
            f"mask is {tuple(square.shape)} of {square.dtype}; it is a rule's name, or ({queries}, {keys}) of truths, "
            "True where a query looks."
        )
    return square


def _square(weights: Tensor, mask: Tensor | None, told: Told) -> tuple[Bool[Tensor, "q k"] | None, str]:
    """The visible pairs, and how that is known: weights alone do not distinguish masked pairs from zero weights."""
    queries, keys = weights.shape[2:]
    if told.mask is not None:
        return _mask(told, queries, keys), ""
    if mask is not None or queries != keys or queries < 2:
        return mask, ""
    after = torch.ones(queries, keys, dtype=torch.bool).triu(1)
    even = (
        (weights.amin(-1) == weights.amax(-1)).all(0).all(0)
    )  # eager models return uniform weights for fully masked rows of padding
    after &= ~even[:, None]
    if after.any() and not any(layer.any(0)[after].any() for layer in weights):
        return ~after, ": what comes after a query has no weight anywhere, and is read as masked"
    return None, ""
