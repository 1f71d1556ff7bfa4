"""Records one pass of a model: every call of its attention, and the output projection after each of them."""

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
from attention.tracing.sdpa_call import SdpaBatch
from attention.tracing.selection import Choice
from attention.tracing.watched import Watched

FAR, NEAR = 1e-3, 1e-4  # relative and absolute tolerance between the computed context and the input of a map


class OneSequence(Recorder):
    """Records calls with one sequence, as the model got only one. Several are windows or pieces of it, not rows of its tokens."""

    def on_call(self, tell: Callable[[], SdpaBatch]) -> None:
        """Records a call."""
        super().on_call(lambda: _one(tell()))


def _one(call: SdpaBatch) -> SdpaBatch:
    """Returns the call; raises ValueError if it has several sequences."""
    many = max(math.prod(each.shape[:-3]) for each in (call.q, call.k))
    if many > 1:
        raise ValueError(f"it attends within {many} windows or pieces, not over all tokens")
    return call


class Following:
    """The recorded calls in `seen`, and `outputs (h e c)` by layer name: the output projection, from a context to the
    model's width.

    The projection is recognized by its input, which has to equal the context computed from queries, keys and values; so
    the match also proves that these are complete. `hear` is called with the number of calls so far; an exception that
    it raises ends the pass.
    """

    def __init__(self, model: nn.Module, hear: Callable[[int], object]) -> None:
        self.seen: Watched = Watched(model, OneSequence(model, 0, Choice()))
        self.hear, self.count = hear, 0
        self.outputs: dict[str, Float[Tensor, "h e c"]] = {}
        self.context: Tensor | None = None  # of the last call, (q, h e), until its map is found

    @property
    def calls(self) -> dict[str, Call]:
        """The recorded call of each layer."""
        return self.seen.calls

    def on_linear(self, module: nn.Module, given: tuple[Any, ...]) -> None:
        """Checks before a linear map is applied whether its input is the last context, and if so stores the map."""
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
            matrix = weight.T if isinstance(module, nn.Linear) else weight  # a Conv1D stores it transposed
            name, call = list(self.calls.items())[-1]
            self.outputs[name], self.context = matrix.unflatten(0, (len(call.q), -1)), None


@contextmanager
def follow_model(model: nn.Module, hear: Callable[[int], object]) -> Iterator[Following]:
    """Records what this thread computes with the model, within the context."""
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
    """Returns the context of all heads of a call, concatenated."""
    heads = call.weights() @ each_value(call)
    return heads.transpose(0, 1).flatten(1)


def each_value(call: Call) -> Float[Tensor, "h k e"]:
    """Returns the values of every head; shared ones are repeated."""
    return call.v.float().repeat_interleave(len(call.q) // len(call.v), 0)


def norms(call: Call, output: Float[Tensor, "h e c"]) -> Float[Tensor, "h k"]:
    """Returns the length of v W_O for each head and key, by which its weight counts (Kobayashi et al. 2020)."""
    v = each_value(call)
    gram = torch.einsum("hec,hfc->hef", output, output)  # |v W|² is v W Wᵀ vᵀ: no product as wide as the model
    return torch.einsum("hke,hef,hkf->hk", v, gram, v).clamp(min=0).sqrt()
