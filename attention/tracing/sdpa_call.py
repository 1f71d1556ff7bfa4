"""A call of attention as a model makes it, with its batch, and the same copied to the CPU."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from attention.arguments import plain_mask
from attention.attend import HALVES


@dataclass(frozen=True, eq=False)
class SdpaCall:
    """A call of one layer, copied to the CPU: of one sequence, or of all sequences of the batch (`b`).

    `mask (1 or b, 1 or h, q, k)` is boolean, True where a query attends to a key, or is added to the scaled scores;
    -inf masks. `score_dtype`: see `Call`.
    """

    q: Float[Tensor, "b h q d"]
    k: Float[Tensor, "b g k d"]
    v: Float[Tensor, "b g k e"]
    scale: float
    mask: Tensor | None = None
    softcap: float = 0.0
    sinks: Float[Tensor, "b h q"] | None = None
    score_dtype: torch.dtype | None = None


class SdpaBatch(NamedTuple):
    """q, k, v `(... h n d)`, with fewer heads in k and v if these are shared; a batch may have any number of axes.

    `mask` is that of torch's function: True where a query attends to a key, or added. `causal` masks the keys after a
    query, counted from the last query and key; `window`: the largest number of keys visible to a query, 0 for all.
    `added` is added to the scores as well. `sinks`: one score per head `(h)`, or per query `(1 or b, h, 1 or q, 1)`.
    `module`: the module that calls, None if unknown. `unknown`: names of arguments whose effect is unknown and which
    may change the weights. `eager`: scores and mask are added in the dtype of q, as products of matrices are written,
    and not in float32, as kernels do.
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
    unknown: tuple[str, ...] = ()
    eager: bool = False

    def copy_to_cpu(self, batch: int | None) -> SdpaCall:
        """Copies one sequence, or all; raises ValueError if it does not exist or tensors have no data."""
        if any(_has_no_numbers(x) for x in (self.q, self.k, self.v)):
            raise ValueError("there are no numbers, only shapes (a meta or fake tensor, or a transform of torch.func)")
        sequences = max(len(with_batch(x)) for x in (self.q, self.k))
        if batch is not None and not -sequences <= batch < sequences:
            raise ValueError(f"batch={batch}: there are {sequences} sequences")
        q, k, v = (_private_copy(_item(with_batch(x), batch)) for x in (self.q, self.k, self.v))
        if batch is None:
            q, k, v = (x.expand(sequences, -1, -1, -1) for x in (q, k, v))
        wide = torch.float64 if q.dtype == torch.float64 else torch.float32
        parts = [_private_copy(self._expand_mask(part, batch)) for part in (self.mask, self.added) if part is not None]
        ahead = self._ahead(q.shape[2], k.shape[2])
        mask = _together([*parts, *([] if ahead is None else [ahead])], wide)
        sinks = (
            None if self.sinks is None else _sinks_of_queries(_item(with_batch(_private_copy(self.sinks)), batch), q)
        )
        scale = 1 / math.sqrt(q.shape[-1] or 1) if self.scale is None else float(self.scale)
        rounded = self.q.dtype if self.eager and self.q.dtype in HALVES else None
        return SdpaCall(q, k, v, scale, mask, float(self.softcap), sinks, rounded)

    def _expand_mask(self, mask: Any, batch: int | None) -> Tensor:
        """A mask as `(1 or b, 1 or h, q, k)`."""
        queries, keys, mask = self.q.shape[-2], self.k.shape[-2], plain_mask(mask, self.q.device)
        usual = self.q.ndim == 4
        mask = mask[(None,) * (4 - mask.ndim)] if usual else with_batch(mask.expand(*self.q.shape[:-1], keys))
        return _item(mask, batch).expand(-1, -1, queries, keys)

    def _ahead(self, queries: int, keys: int) -> Tensor | None:
        """Which keys are visible under `causal` and `window`; None if all are."""
        if not self.causal and not self.window:
            return None
        apart = torch.arange(keys) - (torch.arange(queries)[:, None] + keys - queries)
        seen = torch.ones(1, 1, queries, keys, dtype=torch.bool)
        if self.causal:
            seen &= apart <= 0
        return seen & (apart > -self.window) if self.window else seen


def of_weights(weights: Tensor, module: nn.Module | None = None) -> SdpaBatch:
    """A call of which only weights `(... h q k)` are known: q and k have no channels, the mask is log weights."""
    heads = weights[(None,) * (4 - weights.ndim)] if weights.ndim < 4 else weights
    q, k = (heads.new_empty(*heads.shape[:-2], size, 0) for size in heads.shape[-2:])
    wide = heads if heads.dtype == torch.float64 else heads.float()
    return SdpaBatch(q, k, k, wide.log(), scale=1.0, module=module)


def with_batch(x: Tensor) -> Tensor:
    """Batch (all its axes as one), heads, tokens, channels; as in torch's function, heads are third from the end."""
    return x.flatten(0, -4) if x.ndim > 4 else x[(None,) * (4 - x.ndim)]


def _sinks_of_queries(sinks: Tensor, q: Tensor) -> Float[Tensor, "b h q"]:
    """The sink of every query; raises ValueError for sinks that are neither per head nor per query."""
    if sinks.shape[-1] == q.shape[1] and sinks.shape[:-1].numel() == 1:  # one per head
        sinks = sinks.view(1, -1, 1, 1)
    try:
        return sinks.expand(*q.shape[:3], 1)[..., 0]
    except RuntimeError:
        raise ValueError(f"its sinks have the shape {(*sinks.shape,)}, and its queries {(*q.shape,)}") from None


def _item(x: Tensor, batch: int | None) -> Tensor:
    """One sequence of a batch, or all of them; a tensor that is shared by the batch has an axis of one."""
    if batch is None or len(x) == 1:
        return x
    return x[batch][None]


def _private_copy(x: Tensor) -> Tensor:
    """A copy that shares no memory with the model, and that can be used in any mode."""
    with torch.inference_mode(False), torch.no_grad():
        return x.detach().to("cpu", copy=True).contiguous()


def _together(masks: list[Tensor], dtype: torch.dtype) -> Tensor | None:
    """Joins masks: boolean ones by and, numbers by addition; None if nothing is masked or added."""
    truths = [mask for mask in masks if mask.dtype == torch.bool]
    numbers = [mask.to(dtype) for mask in masks if mask.dtype != torch.bool]
    seen = reduce(torch.logical_and, truths) if truths else None
    if not numbers:
        return None if seen is None or seen.all() else seen
    added = reduce(torch.add, numbers)
    if ((added == 0) | (added == -torch.inf)).all():
        hides = added == 0 if seen is None else seen & (added == 0)
        return None if hides.all() else hides
    return added if seen is None else torch.where(seen, added, -torch.inf)


def _has_no_numbers(x: Tensor) -> bool:
    fake = type(x).__name__ == "FakeTensor" or x.is_meta
    return fake or torch._C._functorch.is_functorch_wrapped_tensor(x)  # pyright: ignore[reportAttributeAccessIssue]  private, and implemented in C
