"""Reads the arguments of attention calls: of torch's functions, and of those that transformers models choose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from attention.tracing.sdpa_call import SdpaBatch, of_weights

FLASH = "flash"  # in the name of an implementation whose masks are those of flash attention
HARMLESS = {  # arguments of transformers that change no weight, or repeat what the mask says
    "cache_position",
    "deterministic",
    "dropout",
    "num_items_in_batch",
    "output_attentions",
    "output_hidden_states",
    "output_router_logits",
    "position_ids",
    "return_dict",
    "use_cache",
}


def of_torch(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> SdpaBatch:
    """Reads the arguments of torch's function, whose causal mask counts from the first query and key."""
    queries, keys = query.shape[-2], key.shape[-2]
    if is_causal and queries != keys:
        attn_mask = _first_keys(query, key)
    return SdpaBatch(query, key, value, attn_mask, is_causal and queries == keys, scale)


def of_transformers(
    implementation: Any,
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Any = None,
    *,
    scaling: float | None = None,
    is_causal: bool | None = None,
    softcap: float | None = None,
    sliding_window: int | None = None,
    position_bias: Tensor | None = None,
    s_aux: Tensor | None = None,
    sinks: Tensor | None = None,
    cache: Any = None,
    **more: Any,
) -> SdpaBatch:
    """Reads the arguments of a function of transformers; raises ValueError if they do not determine the weights.

    Sinks are called `s_aux`, and `sinks` by Inkling 2. Of other arguments only the HARMLESS ones are known.
    """
    if cache is not None:
        raise ValueError("its keys are in a paged cache")
    flash, queries, keys = FLASH in f"{implementation}", query.shape[-2], key.shape[-2]
    mask = _dense(attention_mask, queries, keys)
    if flash and mask is not None and mask.ndim == 2:
        mask = mask[:, None, None].bool()
    hides = getattr(module, "is_causal", True) if is_causal is None else is_causal
    causal = bool(hides) and queries > 1 and implementation != "eager" and (mask is None or flash)
    if causal and not flash and queries != keys:  # torch's function counts from the first query and key
        mask, causal = _first_keys(query, key), False
    mask = None if mask is None else mask[..., -keys:] if flash else mask[..., :keys]
    window = (sliding_window or 0) if flash else 0
    sinks = s_aux if sinks is None else sinks
    if implementation == "sdpa" and position_bias is not None and mask is not None and mask.dtype == torch.bool:
        position_bias, mask = torch.where(mask, position_bias, torch.finfo(key.dtype).min), None
    unknown = tuple(name for name, given in more.items() if given is not None and name not in HARMLESS)
    return SdpaBatch(
        query,
        key,
        value,
        mask,
        causal,
        scaling,
        softcap or 0.0,
        sinks,
        position_bias,
        window,
        module,
        unknown,
        eager=implementation == "eager",
    )


def of_flex(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Callable[..., Tensor] | None = None,
    block_mask: Any = None,
    scale: float | None = None,
    *more: Any,
    **named: Any,
) -> SdpaBatch:
    """Reads the arguments of flex attention; if it changes scores, computes its weights."""
    mask = _dense(block_mask, query.shape[-2], key.shape[-2])
    if score_mod is None:
        return SdpaBatch(query, key, value, mask, scale=scale)
    query, keys = (x if x.dtype == torch.float64 else x.float() for x in (query, key))  # as its kernels do
    keys = keys.repeat_interleave(query.shape[1] // key.shape[1], 1)
    scores = query @ keys.mT * (query.shape[-1] ** -0.5 if scale is None else scale)
    places = [torch.arange(size, device=query.device) for size in scores.shape]
    for axis in reversed(range(4)):
        score_mod = torch.vmap(score_mod, in_dims=(0, *(0 if axis == at else None for at in range(4))))
    scores = score_mod(scores, *places)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    empty = (scores == -torch.inf).all(-1, keepdim=True)
    return of_weights(scores.softmax(-1).masked_fill(empty, 0))


def _first_keys(query: Tensor, key: Tensor) -> Tensor:
    """A causal mask that counts from the first query and the first key."""
    return torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool, device=query.device).tril()


def _dense(mask: Any, queries: int, keys: int) -> Tensor | None:
    """A mask with an entry for every pair; the mask of flex attention is a rule."""
    if mask is None or isinstance(mask, Tensor):
        return mask
    rule = getattr(mask, "mask_mod", None)
    if rule is None:
        raise ValueError(f"its mask is a {type(mask).__name__}")
    from torch.nn.attention.flex_attention import create_mask  # importing it takes a second

    return create_mask(rule, mask.shape[0], mask.shape[1], queries, keys, mask.kv_indices.device)
