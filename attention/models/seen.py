"""What every attention of a model computes, seen as it happens: queries, keys and values, and its own weights.

A model of `transformers` looks up by a name how it shall attend. Ours (`NAME`) does what the model's own plain code does, and
tells whoever `watches` in this thread. Models that look nothing up tell their weights at the end, if they are asked to
(`output_attentions`); of these there are no queries and keys.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import local
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attention.models.packages import ModelError, library

NAME = "attention_lab"
_here = local()


@dataclass(eq=False)
class Seen:
    """One call: `q (h q d)`, `k (g k d)`, `v (g k e)`, the model's own `weights (h q k)`, and what its mask adds, `(q k)`.

    `where`: the name of its module. `scale`, `softcap` (0: none); `plain`: nothing else is in the scores, so far as the call
    says. `output`: the matrix that its context goes through next, `(h e c)`, where that was seen.
    """

    where: str
    q: Float[Tensor, "h q d"]
    k: Float[Tensor, "g k d"]
    v: Float[Tensor, "g k e"]
    weights: Float[Tensor, "h q k"]
    added: Tensor | None
    scale: float
    softcap: float
    output: Float[Tensor, "h e c"] | None = None


class Watch:
    """The calls of one pass, in their order; `hear` is told of each and may raise to end the pass."""

    def __init__(self, model: nn.Module, hear: Callable[[Seen], object]) -> None:
        self.hear, self.last = hear, None
        self.names = {module: name for name, module in model.named_modules()}
        self.context: tuple[Seen, Tensor] | None = None

    def add(self, module: nn.Module, seen: Seen, context: Tensor) -> None:
        seen.where = self.names.get(module, type(module).__name__)
        self.hear(seen)
        self.context = seen, context

    def multiplied(self, module: nn.Module, given: tuple[Any, ...]) -> None:
        """Is this the map to which the context of the last call goes? Known by what it is given."""
        if self.context is None or not given or not isinstance(given[0], Tensor):
            return
        (seen, context), x = self.context, given[0]
        if x.numel() == context.numel() and torch.equal(x.reshape(-1), context.reshape(-1)):
            matrix = module.weight.T if isinstance(module, nn.Linear) else module.weight  # a Conv1D has it transposed
            seen.output = matrix.unflatten(0, (len(seen.q), -1)) if len(matrix) == x.shape[-1] else None  # type: ignore[arg-type]  a weight is a tensor
            self.context = None


def prepare(model: Any) -> bool:
    """Has a model tell what it computes; False where it is none of those that look up how to attend."""
    attend = library("transformers.modeling_utils").ALL_ATTENTION_FUNCTIONS
    masks = library("transformers.masking_utils").ALL_MASK_ATTENTION_FUNCTIONS
    if NAME not in attend:
        attend.register(NAME, attended)
        masks.register(NAME, masks["eager"])
    if model._can_set_attn_implementation():
        model.set_attn_implementation(NAME)
    return model.config._attn_implementation == NAME


@contextmanager
def watched(model: nn.Module, hear: Callable[[Seen], object]) -> Iterator[Watch]:
    """While this lasts, every attention that this thread computes is told to `hear`."""
    watch = Watch(model, hear)
    maps = [each for each in model.modules() if isinstance(each, nn.Linear) or type(each).__name__ == "Conv1D"]
    hooks = [each.register_forward_pre_hook(watch.multiplied) for each in maps]
    _here.watch = watch
    try:
        yield watch
    finally:
        _here.watch = None
        for hook in hooks:
            hook.remove()


def attended(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **given: Any
) -> tuple[Tensor, Tensor]:
    """As the model's own file computes it with all weights; told to whoever watches."""
    own = getattr(sys.modules[type(module).__module__], "eager_attention_forward", None)
    if own is None:
        raise ModelError(f"{type(module).__name__} has no plain way to attend, so its weights can't be seen.")
    context, weights = own(module, query, key, value, attention_mask, **given)
    watch: Watch | None = getattr(_here, "watch", None)
    if watch is not None:
        watch.add(module, _call(query, key, value, weights, attention_mask, given), context)
    return context, weights


def _call(q: Tensor, k: Tensor, v: Tensor, weights: Tensor, mask: Tensor | None, given: dict[str, Any]) -> Seen:
    if len(q) != 1:
        raise ModelError("Its attention runs in windows of their own, of which there is no single square to show.")
    added = [each for each in (mask, given.get("position_bias")) if each is not None]
    scale = given.get("scaling")
    return Seen(
        "",
        q[0],
        k[0],
        v[0],
        weights[0],
        sum(each[0].to(q.dtype) for each in added) if added else None,  # type: ignore[arg-type]  tensors
        q.shape[-1] ** -0.5 if scale is None else float(scale),
        float(given.get("softcap") or 0.0),
    )
