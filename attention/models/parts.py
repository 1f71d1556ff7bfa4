"""The parts of a model's pass: layers of one kind of attention as a stack, with the tokens of both sides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from attention.attend import scaled_dot_product_attention
from attention.imported.stack import Stack
from attention.masks import MASKS
from attention.models.labels import Labels
from attention.models.linear_hooks import Following, norms
from attention.models.packages import ModelError
from attention.operations.scale import SCALES
from attention.recorded.file import OWN
from attention.tracing.parts import Group, make_stack


@dataclass(frozen=True)
class Part:
    """The layers of one kind of attention as a `stack`, with the tokens of both sides.

    `norms (l h k)`: the length of v W_O of each value, by head; None if the output projection was not found.
    """

    stack: Stack
    queries: Labels
    keys: Labels
    norms: Float[Tensor, "l h k"] | None = None
    whole: bool = True  # whether all layers of this kind are in it


def of_group(
    found: Following, group: Group, title: str, what: str, queries: Labels, keys: Labels, whole: bool = True
) -> Part:
    """Returns a part of some layers that are alike."""
    names = [name for name, call in found.calls.items() if any(call is one for one in group.calls)]
    lengths = [norms(found.calls[name], found.outputs[name]) for name in names if name in found.outputs]
    stack = replace(make_stack(group, title, queries.texts, keys.texts), what=what)
    return Part(stack, queries, keys, torch.stack(lengths) if len(lengths) == len(names) else None, whole)


def of_weights(told: Sequence[Tensor], title: str, what: str, queries: Labels, keys: Labels) -> Part:
    """Returns a part of weights alone, `(1 h q k)` per layer, as the model returns them; raises ModelError if shapes differ."""
    if len({tuple(each.shape) for each in told}) != 1 or any(each.dim() != 4 or len(each) != 1 for each in told):
        raise ModelError("Its layers have different numbers of heads or tokens, so one map can't show them all.")
    return Part(Stack(title, what, queries.texts, keys.texts, weights=torch.cat(list(told)).float()), queries, keys)


def every(stack: Stack) -> Iterable[Float[Tensor, "h q k"]]:
    """Yields the weights of each layer, stored or computed."""
    return (weights(stack, at) for at in range(layers(stack)))


def layers(stack: Stack) -> int:
    """Returns the number of layers."""
    tensor = stack.q if stack.weights is None else stack.weights
    return 0 if tensor is None else len(tensor)


def weights(stack: Stack, at: int) -> Float[Tensor, "h q k"]:
    """Returns the weights of one layer of a stack."""
    if stack.weights is not None:
        return stack.weights[at].float()
    assert stack.q is not None and stack.k is not None
    q, k, own = stack.q[at].float(), stack.k[at].float(), OWN | stack.own_of(at)
    named = {"scale": SCALES[own["scale"]](q.shape[-1]), "enable_gqa": True, "softcap": own["softcap"] or None}
    return scaled_dot_product_attention(q, k, k, square(stack, at), **named).weights  # pyright: ignore[reportArgumentType]  by name


def square(stack: Stack, at: int) -> Tensor:
    """Returns which pairs take part in a layer, given by its index, for a stack with queries and keys."""
    assert stack.q is not None and stack.k is not None
    if (found := stack.square_of(at)) is not None:
        return found
    own = OWN | stack.own_of(at)
    return MASKS[str(own["mask"])].square(stack.q.shape[2], stack.k.shape[2], int(str(own["span"])))
