"""Derives what the attention layers of `torch.nn` compute from the arguments of their forward.

Their fast paths are one kernel each, and if weights are requested they multiply matrices themselves: no call of
torch's attention function can be seen then. Their boolean masks are True where a key is masked.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from einops import rearrange
from torch import Tensor, nn

from attention.tracing.sdpa_call import SdpaBatch


def of_layer(
    layer: nn.MultiheadAttention,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> SdpaBatch:
    """Reads the arguments of the layer's forward; raises ValueError for a layer that adds keys of its own."""
    if layer.bias_k is not None or layer.add_zero_attn:
        raise ValueError("it adds keys of its own (add_bias_kv, add_zero_attn)")
    padding = _missing(key) if key.is_nested else key_padding_mask
    inputs = [_to_batch_first(layer, x) for x in (query, key, value)]
    weights = (layer.q_proj_weight, layer.k_proj_weight, layer.v_proj_weight)
    if layer.in_proj_weight is not None:
        weights = layer.in_proj_weight.chunk(3)
    biases = (None, None, None) if layer.in_proj_bias is None else layer.in_proj_bias.chunk(3)
    mapped = [F.linear(*each) for each in zip(inputs, weights, biases, strict=True)]
    q, k, v = (rearrange(x, "b n (h d) -> b h n d", h=layer.num_heads) for x in mapped)
    mask = _joint(attn_mask, padding, len(q), layer.num_heads, q.shape[2])
    return SdpaBatch(q, k, v, mask, is_causal and mask is None, module=layer, eager=need_weights)


def of_encoder(
    layer: nn.TransformerEncoderLayer,
    src: Tensor,
    src_mask: Tensor | None = None,
    src_key_padding_mask: Tensor | None = None,
    is_causal: bool = False,
) -> SdpaBatch:
    """Reads the arguments of an encoder layer's forward, whose attention is self-attention."""
    x = layer.norm1(src) if layer.norm_first else src
    return of_layer(layer.self_attn, x, x, x, src_key_padding_mask, False, src_mask, is_causal=is_causal)


def _missing(nested: Tensor) -> Tensor:
    """The padding of sequences of different lengths, `(b n)`."""
    lengths = torch.tensor([len(each) for each in nested.unbind()])
    return torch.arange(int(lengths.max())) >= lengths[:, None]


def _to_batch_first(layer: nn.MultiheadAttention, x: Tensor) -> Tensor:
    """A tensor with the batch axis first, added if missing; shorter sequences are padded."""
    if x.is_nested:
        return x.to_padded_tensor(0.0)
    if x.ndim == 2:
        return x[None]
    return x if layer.batch_first else x.transpose(0, 1)


def _joint(mask: Tensor | None, padding: Tensor | None, batch: int, heads: int, queries: int) -> Tensor | None:
    """Joins both masks of the layer as torch's function takes them: True where a query attends to a key, or added."""
    parts = []
    if mask is not None:
        parts.append(mask.view(batch, heads, queries, -1) if mask.ndim == 3 else mask)
    if padding is not None:
        parts.append(padding[None, None, None] if padding.ndim == 1 else padding[:, None, None])
    if not parts:
        return None
    if all(part.dtype == torch.bool for part in parts):
        return ~torch.stack(torch.broadcast_tensors(*parts)).any(0)
    return torch.stack(torch.broadcast_tensors(*map(_additive_mask, parts))).sum(0)


def _additive_mask(mask: Tensor) -> Tensor:
    """Converts a mask of any kind to numbers that are added."""
    hides = mask.dtype == torch.bool
    return torch.zeros_like(mask, dtype=torch.float).masked_fill_(mask, -torch.inf) if hides else mask
