"""Validation of the core's arguments: shapes and dtypes, classes of masks, and the tensor `out`."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch import Tensor

FLOATS = torch.float32, torch.float64, torch.bfloat16, torch.float16
NUMBER = float, int
DENSE = torch.strided
PLAIN = {Tensor, torch.nn.Parameter, type(None)}  # classes whose memory holds their entries
OWN_FUNCTIONS = Tensor.__torch_function__.__func__, torch._C._disabled_torch_function_impl  # pyright: ignore[reportAttributeAccessIssue]
OWN_DISPATCH = torch._C._disabled_torch_dispatch_impl  # pyright: ignore[reportAttributeAccessIssue]


def with_entries(mask: Any, device: torch.device | None) -> Any:
    """Returns the mask, materialized if it is a `torch.nn.attention.bias.CausalBias`, which has no entries in memory."""
    bias = sys.modules.get("torch.nn.attention.bias")  # imported if there is an instance; importing takes seconds
    if bias is None or not isinstance(mask, bias.CausalBias):
        return mask
    shift = mask.seq_len_kv - mask.seq_len_q if mask.variant == bias.CausalVariant.LOWER_RIGHT else 0
    return torch.ones(mask.seq_len_q, mask.seq_len_kv, dtype=torch.bool, device=device).tril(shift)


def plain_mask(mask: Any, device: torch.device | None) -> Any:
    """Returns the mask as a tensor whose memory holds its entries.

    A `CausalBias` is materialized. Other subclasses of Tensor are returned unchanged if all operations on them are
    either their own (`__torch_dispatch__`) or torch's. Raises TypeError for a subclass that replaces some of torch's
    functions, as its memory may hold anything.
    """
    mask = with_entries(mask, device)
    kind = type(mask)
    if kind in PLAIN or not isinstance(mask, Tensor):
        return mask
    functions = getattr(kind.__torch_function__, "__func__", kind.__torch_function__)
    if functions not in OWN_FUNCTIONS and getattr(kind, "__torch_dispatch__", None) is OWN_DISPATCH:
        raise TypeError(
            f"attn_mask is a {kind.__qualname__}, which replaces functions of torch: what its memory holds may not be the mask. "
            "Give a plain tensor; where its memory is the mask, that is mask.as_subclass(torch.Tensor)."
        )
    return mask


def fit_together(query, key, value, mask, dropout_p, is_causal, scale, enable_gqa) -> bool:
    """Whether the arguments fit together, as far as quick checks can tell.

    If not, torch's own function decides, and raises the error. Raises ValueError for sparse and nested tensors.
    """
    if not (isinstance(query, Tensor) and isinstance(key, Tensor) and isinstance(value, Tensor)):
        return False
    if not (query.layout is key.layout is value.layout is DENSE) or query.is_nested or key.is_nested or value.is_nested:
        _check_dense(query=query, key=key, value=value)
    dtype, device = query.dtype, query.device
    if not dtype == key.dtype == value.dtype or not device == key.device == value.device or dtype not in FLOATS:
        return False
    if not (is_causal is False or (is_causal is True and mask is None)) or not isinstance(enable_gqa, bool):
        return False
    if not (isinstance(dropout_p, NUMBER) and 0 <= dropout_p <= 1 and (scale is None or isinstance(scale, NUMBER))):
        return False
    q, k, v = query.shape, key.shape, value.shape
    alike = q == k == v and len(q) >= 2 + enable_gqa
    if mask is None:
        return alike or _square(q, k, v, enable_gqa) is not None
    if isinstance(mask, Tensor):
        _check_dense(attn_mask=mask)
    if not isinstance(mask, Tensor) or mask.dtype not in (torch.bool, dtype) or mask.device != device:
        return False
    if alike and mask.shape == (q[-2], q[-2]):
        return True
    square = (*q[:-1], q[-2]) if alike else _square(q, k, v, enable_gqa)
    return square is not None and (mask.shape == square[-mask.ndim :] or _broadcasts(mask.shape, square))


def _check_dense(**tensors: Tensor) -> None:
    """Raises ValueError for a sparse or nested tensor: its memory is not the block that its shape describes."""
    for name, tensor in tensors.items():
        if tensor.is_nested:
            way = f"{name}.to_padded_tensor(0.0), and a mask that hides the padding"
            raise ValueError(f"{name} is a nested tensor. Weights are computed of dense tensors: give {way}.")
        if tensor.layout is not DENSE:
            raise ValueError(
                f"{name} has the layout {tensor.layout}. Give {name}.to_dense(), or what it holds as a dense tensor."
            )


def _square(q: torch.Size, k: torch.Size, v: torch.Size, enable_gqa: bool) -> tuple[int, ...] | None:
    """Returns the shape of the scores, None if the shapes of the inputs do not pass the quick checks."""
    if min(len(q), len(k), len(v)) < 2 + enable_gqa or q[-1] != k[-1] or k[-2] != v[-2]:
        return None
    if enable_gqa:
        if not k[-3] or not v[-3] or q[-3] % k[-3] or q[-3] % v[-3]:
            return None
        k, v = (torch.Size((*x[:-3], q[-3], *x[-2:])) for x in (k, v))
    if q[:-2] == k[:-2] == v[:-2]:
        return (*q[:-1], k[-2])
    try:
        batch = torch.broadcast_shapes(q[:-2], k[:-2])
        torch.broadcast_shapes(batch, v[:-2])
    except RuntimeError:
        return None
    return (*batch, q[-2], k[-2])


def _broadcasts(shape: torch.Size, to: tuple[int, ...]) -> bool:
    return len(shape) <= len(to) and all(a in (1, b) for a, b in zip(reversed(shape), reversed(to), strict=False))


def check_out(out: Tensor, shape: tuple[int, ...], query: Tensor, learning: bool) -> None:
    """Raises RuntimeError unless the weights can be written into `out`."""
    if learning:
        raise RuntimeError("out=... does not support automatic differentiation, but an argument requires grad.")
    if (*out.shape,) != shape or out.dtype != query.dtype or out.device != query.device:
        want = f"{shape} of {query.dtype} on {query.device}"
        raise RuntimeError(f"out is {(*out.shape,)} of {out.dtype} on {out.device}; the weights are {want}.")
