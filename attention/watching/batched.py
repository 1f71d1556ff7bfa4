"""A call of attention as it is made, with its batch, and one sequence of it."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attention.arguments import plain_mask
from attention.watching.call import Call, tidied


class Batched(NamedTuple):
    """q, k, v `(... h n d)`, with fewer heads in k and v where these are shared; a batch may have any number of axes.

    `mask` is that of torch's function: True where a query looks, or added. `causal` hides what comes after, counted from the
    last query and key; `window`: how many keys are seen at most, 0 for all. `added` is added to the scores as well. `module`:
    who calls, None where nobody says so.
    """

    q: Tensor
    k: Tensor
    v: Tensor
    mask: Tensor | None = None
    causal: bool = False
    scale: float | None = None
    softcap: float = 0.0
    sinks: Tensor | None = None
    added: Tensor | None = None
    window: int = 0
    module: nn.Module | None = None

    def one(self, batch: int) -> Call:
        """The sequence of this number, copied to the CPU; raises ValueError where there is none, or no numbers at all."""
        if any(_numberless(x) for x in (self.q, self.k, self.v)):
            raise ValueError("there are no numbers, only shapes (a meta or fake tensor, or a transform of torch.func)")
        sequences = max(len(_four(x)) for x in (self.q, self.k))
        if not -sequences <= batch < sequences:
            raise ValueError(f"batch={batch}: there are {sequences} sequences")
        q, k, v = (_kept(_item(_four(x), batch)) for x in (self.q, self.k, self.v))
        parts = [_kept(self._expanded(part, batch)) for part in (self.mask, self.added) if part is not None]
        ahead = self._ahead(q.shape[1], k.shape[1])
        mask = _together([*parts, *([] if ahead is None else [ahead])])
        sinks = None if self.sinks is None else _kept(self.sinks).flatten()
        scale = 1 / math.sqrt(q.shape[-1]) if self.scale is None else float(self.scale)
        return Call(q, k, v, scale, tidied(mask), float(self.softcap), sinks)

    def _expanded(self, mask: Any, batch: int) -> Tensor:
        """A mask of one sequence, `(1 or h, q, k)`."""
        queries, keys, mask = self.q.shape[-2], self.k.shape[-2], plain_mask(mask, self.q.device)
        usual = self.q.ndim == 4
        mask = mask[(None,) * (4 - mask.ndim)] if usual else _four(mask.expand(*self.q.shape[:-1], keys))
        return _item(mask, batch).expand(-1, queries, keys)

    def _ahead(self, queries: int, keys: int) -> Tensor | None:
        """Which keys are not after a query, nor too long before it; None where all may be seen."""
        if not self.causal and not self.window:
            return None
        apart = torch.arange(keys) - (torch.arange(queries)[:, None] + keys - queries)
        seen = torch.ones(1, queries, keys, dtype=torch.bool)
        if self.causal:
            seen &= apart <= 0
        return seen & (apart > -self.window) if self.window else seen


def _four(x: Tensor) -> Tensor:
    """Batch, heads, tokens, channels: all axes of a batch as one. As in torch's function, heads are the third from the end."""
    return x.flatten(0, -4) if x.ndim > 4 else x[(None,) * (4 - x.ndim)]


def _item(x: Tensor, batch: int) -> Tensor:
    """One of a batch; what is the same for all of it has an axis of one."""
    return x[batch if len(x) > 1 else 0]


def _kept(x: Tensor) -> Tensor:
    """A copy that nothing of the model's own is part of, and that can be used in any mode."""
    with torch.inference_mode(False), torch.no_grad():
        return x.detach().to("cpu", copy=True).contiguous()


def _together(masks: list[Tensor]) -> Tensor | None:
    """Several masks as one: truths joined by and, numbers added."""
    if not masks:
        return None
    truths = [mask for mask in masks if mask.dtype == torch.bool]
    numbers = [mask.float() for mask in masks if mask.dtype != torch.bool]
    seen = reduce(torch.logical_and, truths) if truths else None
    if not numbers:
        return seen
    added = reduce(torch.add, numbers)
    return added if seen is None else torch.where(seen, added, -torch.inf)


def _numberless(x: Tensor) -> bool:
    fake = type(x).__name__ == "FakeTensor" or x.is_meta
    return fake or torch._C._functorch.is_functorch_wrapped_tensor(x)  # pyright: ignore[reportAttributeAccessIssue]  a private one, made in C
