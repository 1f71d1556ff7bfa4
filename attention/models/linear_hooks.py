"""One pass of a model, followed: every call of its attention, and the map that the context of each goes through next."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attention.tracing.call import Call
from attention.tracing.recorder import Recorder
from attention.tracing.sdpa_call import Batched
from attention.tracing.selection import Choice
from attention.tracing.watched import Watched

FAR, NEAR = 1e-3, 1e-4  # relative and absolute: between the context that follows from a call and the one that goes on


class OneSequence(Recorder):
    """Takes calls that have one sequence, as the model was given: more are windows or pieces of it, no rows of its tokens."""

    def on_call(self, tell: Callable[[], Batched]) -> None:
        """A call passes."""
        super().on_call(lambda: _one(tell()))


def _one(call: Batched) -> Batched:
    """The call; raises ValueError if it has several sequences."""
    many = max(math.prod(each.shape[:-3]) for each in (call.q, call.k))
    if many > 1:
        raise ValueError(f"it attends within {many} windows or pieces, not over all tokens")
    return call


class Following:
    """What was `seen`, and `outputs (h e c)` by the names of the layers: the matrix from a context to the model's width.

    That is known by what it is given, which has to be the context that follows from queries, keys and values: so it is a proof
    that these say all. `hear` is told how many calls there were; what it raises ends the pass.
    """

    def __init__(self, model: nn.Module, hear: Callable[[int], object]) -> None:
        self.seen: Watched = Watched(model, OneSequence(model, 0, Choice()))
        self.hear, self.count = hear, 0
        self.outputs: dict[str, Float[Tensor, "h e c"]] = {}
        self.context: Tensor | None = None  # of the last call, (q, h e), until its map is found

    @property
    def calls(self) -> dict[str, Call]:
        """What was seen of each layer."""
        return self.seen.calls

    def on_linear(self, module: nn.Module, given: tuple[Any, ...]) -> None:
        """A map is about to be applied: is it the one to which the last context goes?"""
        if self.seen.count > self.count:
            self.count = self.seen.count
            self.context = context(list(self.calls.values())[-1]) if self.calls else None
            self.hear(self.count)
        x = given[0] if given else None
        if self.context is None or not isinstance(x, Tensor) or x.numel() != self.context.numel():
            return
        if x.shape[-1] == self.context.shape[-1] and torch.allclose(
            x.reshape(self.context.shape), self.context, FAR, NEAR
        ):
            weight = module.weight
            assert isinstance(weight, Tensor)
            matrix = weight.T if isinstance(module, nn.Linear) else weight  # a Conv1D has it transposed
            name, call = list(self.calls.items())[-1]
            self.outputs[name], self.context = matrix.unflatten(0, (len(call.q), -1)), None


@contextmanager
def follow_model(model: nn.Module, hear: Callable[[int], object]) -> Iterator[Following]:
    """While this lasts, what this thread has the model compute is seen."""
    found = Following(model, hear)
    maps = [each for each in model.modules() if isinstance(each, nn.Linear) or type(each).__name__ == "Conv1D"]
    hooks = [each.register_forward_pre_hook(found.on_linear) for each in maps]
    try:
        with found.seen:
            yield found
    finally:
        for hook in hooks:
            hook.remove()


def context(call: Call) -> Float[Tensor, "q w"]:
    """What all heads of a call make of their values, side by side."""
    heads = call.weights() @ each_value(call)
    return heads.transpose(0, 1).flatten(1)


def each_value(call: Call) -> Float[Tensor, "h k e"]:
    """The values of every head, shared ones repeated."""
    return call.v.float().repeat_interleave(len(call.q) // len(call.v), 0)


def norms(call: Call, output: Float[Tensor, "h e c"]) -> Float[Tensor, "h k"]:
    """The length of v W_O of each head and key: what its weight is worth (Kobayashi et al. 2020, section 2.2)."""
    v = each_value(call)
    gram = torch.einsum("hec,hfc->hef", output, output)  # |v W|² is v W Wᵀ vᵀ: no product as wide as the model
    return torch.einsum("hke,hef,hkf->hk", v, gram, v).clamp(min=0).sqrt()
