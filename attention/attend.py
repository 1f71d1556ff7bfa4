"""Scaled dot-product attention with the weights of every head.

The semantics are those of `torch.nn.functional.scaled_dot_product_attention`, which does not return its weights. On a
CPU most of the time of a large attention goes into touching fresh memory and into passes over it (docs/LOG.md), so the
work is done in place, in blocks of rows that stay in the cache, skips keys that a whole block may not see, and asks for
huge pages.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from attention.blocks import APART, by_blocks, seeing, until
from attention.machine.made_once import made_once
from attention.machine.memory import room
from attention.scores import HIDDEN, Normalise, capped, standard

FEW = 2**14  # cells of all heads up to which a call into torch costs more than what it does
SMALL = 2**18  # cells of one head's square below which one batched product is faster than blocks
WHOLE = APART  # cells of all heads below which it is as fast where nothing is skipped, and busy cores are waited for less often
FLOATS = torch.float32, torch.float64, torch.bfloat16, torch.float16
NUMBER = float, int
PLAIN = {Tensor, torch.nn.Parameter}  # what goes with tensors that were made before


class Attention(NamedTuple):
    """What attention gives: `output (... q e)`, and `weights (... q k)`, which sum to one over the keys."""

    output: Float[Tensor, "*b q e"]
    weights: Float[Tensor, "*b q k"]


def scaled_dot_product_attention(
    query: Float[Tensor, "... q d"],
    key: Float[Tensor, "... k d"],
    value: Float[Tensor, "... k e"],
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    softcap: float | None = None,
    out: Tensor | None = None,
) -> Attention:
    """softmax(q kᵀ scale + mask) v, and the softmax itself (Vaswani et al. 2017, section 3.2.1).

    query (... q d), key (... k d), value (... k e); a boolean mask (True takes part) or one of query's dtype (added)
    broadcasts to (... q k); `scale` is 1/sqrt(d) unless given; `is_causal` hides keys after the query's position. With
    `enable_gqa`, dimension -3 of key and value may be a divisor of query's. `softcap` squeezes scaled scores by tanh
    before the mask. A query that may see no key gets zero weights and a zero output. What a boolean mask or `is_causal`
    hides may be anything in key, as long as no gradient is asked for; otherwise, and in value, it has to be finite, as zero
    times NaN is NaN. Weights are returned before dropout. `out (... q k)` is filled with the weights and returned as such,
    which saves fresh memory. Not under torch.func's transforms or forward-mode differentiation.

    Raises what torch's function raises for the same misuse, ValueError for a softcap that is not positive, and
    RuntimeError for an `out` of another shape or dtype, or together with gradients.
    """
    if not _sound(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa):
        keywords = {"scale": scale, "enable_gqa": enable_gqa}
        with sdpa_kernel(SDPBackend.MATH):  # the fused kernels overlook some misuse, and then read past the end
            F.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, **keywords)
    if softcap is not None and not softcap > 0:
        raise ValueError(f"softcap={softcap} is not a positive number; None leaves the scores uncapped.")
    if attn_mask is not None and attn_mask.dtype != torch.bool:
        attn_mask = attn_mask.to(query.dtype)
        if query.dtype == torch.float16:  # masks add the least there is, and with a score that is too much
            wide = (x.float() for x in (query, key, value, attn_mask))
            found = scaled_dot_product_attention(*wide, dropout_p, is_causal, scale, enable_gqa, softcap=softcap)  # pyright: ignore[reportCallIssue]  query, key, value and mask
            return _narrow(found, query, out)
    if enable_gqa:
        key, value = (x.repeat_interleave(query.shape[-3] // x.shape[-3], -3) for x in (key, value))
    return attend(query, key, value, attn_mask, is_causal, scale, softcap, dropout_p=dropout_p, out=out)


def attend(
    query: Float[Tensor, "*#b q d"],
    key: Float[Tensor, "*#b k d"],
    value: Float[Tensor, "*#b k e"],
    mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    softcap: float | None = None,
    *,
    normalise: Normalise = standard,
    dropout_p: float = 0.0,
    out: Tensor | None = None,
) -> Attention:
    """The pass for inputs that are known to be sound; `normalise` turns a block of logits into weights, in place."""
    q, k, v = query.shape, key.shape, value.shape
    if not q == k == v and not q[:-2] == k[:-2] == v[:-2]:
        batch = torch.broadcast_shapes(q[:-2], k[:-2], v[:-2])
        query, key, value = (x.expand(*batch, *x.shape[-2:]) for x in (query, key, value))
        q = query.shape
    queries, d, keys = q[-2], q[-1], k[-2]
    scale = scale if scale is not None else 1 / math.sqrt(d or 1)
    if scale == 0:
        query, scale = query * 0, 1  # a product of bfloat16 times nothing leaves its memory as it was
    learning = torch.is_grad_enabled() and _needs_grad(query, key, value, mask)
    if out is not None:
        _check_out(out, (*q[:-1], keys), query, learning)
    products = query.numel() * keys  # d of them a cell
    if learning or dropout_p > 0 or products == 0 or (type(query) not in PLAIN and normalise is standard):
        found = _differentiable(query, key, value, mask, is_causal, scale, softcap, dropout_p)
        return found if out is None else Attention(found.output, out.copy_(found.weights))
    weights = out if out is not None and out.is_contiguous() else None
    at_once = queries * keys <= SMALL or query.device.type != "cpu"
    if not at_once and mask is None and not is_causal and normalise is standard:
        at_once = products < WHOLE * d
    into = _at_once if at_once else by_blocks
    if weights is None and (into is by_blocks or products > FEW * d):
        weights = room((*q[:-1], keys), query)
    found = Attention(*into(weights, query, key, value, mask, is_causal, scale, softcap, normalise))
    return found if out is None or out is weights else Attention(found.output, out.copy_(found.weights))


def _narrow(found: Attention, query: Tensor, out: Tensor | None) -> Attention:
    """The same in query's dtype, the weights in `out` if there is one."""
    output, weights = (x.to(query.dtype) for x in found)
    if out is not None:
        _check_out(out, (*weights.shape,), query, weights.requires_grad)
        weights = out.copy_(weights)
    return Attention(output, weights)


def _needs_grad(*tensors: Tensor | None) -> bool:
    return any(x is not None and x.requires_grad for x in tensors)


def _sound(query, key, value, mask, dropout_p, is_causal, scale, enable_gqa) -> bool:
    """Is the call sound at first sight? If not, torch's own function has the last word, and the error."""
    if not (isinstance(query, Tensor) and isinstance(key, Tensor) and isinstance(value, Tensor)):
        return False
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
    if not isinstance(mask, Tensor) or mask.dtype not in (torch.bool, dtype) or mask.device != device:
        return False
    if alike and mask.shape == (q[-2], q[-2]):
        return True
    square = (*q[:-1], q[-2]) if alike else _square(q, k, v, enable_gqa)
    return square is not None and (mask.shape == square[-mask.ndim :] or _broadcasts(mask.shape, square))


def _square(q: torch.Size, k: torch.Size, v: torch.Size, enable_gqa: bool) -> tuple[int, ...] | None:
    """The shape of the scores of inputs of these shapes, None where they don't fit together at first sight."""
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


def _check_out(out: Tensor, shape: tuple[int, ...], query: Tensor, learning: bool) -> None:
    """Raises RuntimeError unless the weights can be written into `out`."""
    if learning:
        raise RuntimeError("out=... does not support automatic differentiation, but an argument requires grad.")
    if (*out.shape,) != shape or out.dtype != query.dtype or out.device != query.device:
        want = f"{shape} of {query.dtype} on {query.device}"
        raise RuntimeError(f"out is {(*out.shape,)} of {out.dtype} on {out.device}; the weights are {want}.")


def _differentiable(query, key, value, mask, is_causal, scale, softcap, dropout_p) -> Attention:
    """The textbook form, each step out of place, so that gradients flow and rows that see nothing get zeros."""
    scores = (query * scale) @ key.mT  # of float16, products may be too large before they are scaled
    if softcap:
        scores = softcap * torch.tanh(scores / softcap)
    if is_causal:  # every query sees itself
        hidden = ~torch.ones(scores.shape[-2:], dtype=torch.bool, device=query.device).tril()
        weights = torch.softmax(scores.masked_fill(hidden, HIDDEN), -1)
    elif mask is not None:
        scores = scores.masked_fill(~mask, HIDDEN) if mask.dtype == torch.bool else scores + mask
        blind = ~seeing(mask)
        scores = scores.masked_fill(blind, 0)  # a softmax over nothing has no gradient, not even where it is replaced
        weights = torch.softmax(scores, -1).masked_fill(blind, 0)
    else:
        weights = torch.softmax(scores, -1)
    return Attention((F.dropout(weights, dropout_p) if dropout_p > 0 else weights) @ value, weights)


def _at_once(weights, query, key, value, mask, is_causal, scale, softcap, normalise) -> tuple[Tensor, Tensor]:
    """All heads in one batched product, in place: the fastest for small squares, and on accelerators.

    The product begins with what the mask adds, where all heads have one mask: that saves a pass over all scores, but has
    to be looked at afterwards, for which a processor need not wait for its accelerator.
    """
    few, seen, added = weights is None, mask, None
    if is_causal:
        square = query.shape[-2], key.shape[-2], query.device
        seen = until(*square)
    if seen is not None and query.is_cpu and not softcap:
        added = _falling(*square, query.dtype) if few and is_causal else _added(seen, query)  # pyright: ignore[reportCallIssue]  two of them
    weights = normalise(_logits(weights, query, key, seen, scale, softcap, added))
    if (mask is not None or added is not None) and _astray(weights, few):
        blind = ~seeing(seen)  # pyright: ignore[reportArgumentType]  a row without a number has a mask
        if _astray(weights.masked_fill_(blind, 0), few) and added is not None:  # and what is hidden may be none
            normalise(_logits(weights, query, key, seen, scale, softcap)).masked_fill_(blind, 0)
    return torch.matmul(weights, value), weights


def _logits(weights, query, key, seen, scale, softcap, added=None) -> Float[Tensor, "*b q k"]:
    """What the softmax sees, in `weights` or in fresh memory. What is `added` lets a NaN through where it hides."""
    q, keys = query.shape, key.shape[-2]
    queries, d = q[-2], q[-1]
    many, across = query.reshape(-1, queries, d), key.reshape(-1, keys, d).mT
    begin, beta = (_edges(query.dtype, query.device)[0], 0) if added is None else (added, 1)  # beta 0 leaves it out
    if weights is None:
        weights = torch.baddbmm(begin, many, across, beta=beta, alpha=scale).view(*q[:-1], keys)
    else:
        torch.baddbmm(begin, many, across, beta=beta, alpha=scale, out=weights.view(-1, queries, keys))
    if added is not None:
        return weights
    capped(weights, softcap)
    if seen is not None and seen.dtype == torch.bool:
        torch.where(seen, weights, _edges(query.dtype, query.device)[1], out=weights)  # a fill in place takes longer
    elif seen is not None:
        weights.add_(seen)
    return weights


def _added(mask: Tensor, like: Tensor) -> Float[Tensor, "..."] | None:
    """What a mask adds to the scores of every head, None where heads have masks of their own."""
    if mask.ndim > 2:
        if mask.shape[:-2].numel() > 1:
            return None
        mask = mask.view(mask.shape[-2:])
    return torch.where(mask, *_edges(like.dtype, like.device)) if mask.dtype == torch.bool else mask


@made_once(8)
def _falling(queries: int, keys: int, device: torch.device, dtype: torch.dtype) -> Float[Tensor, "q k"]:
    """The same of the causal mask."""
    return torch.where(until(queries, keys, device), *_edges(dtype, device))


def _astray(weights: Float[Tensor, "*b q k"], few: bool) -> bool:
    """Has any row no number? Then none of its weights has one."""
    return math.isnan((weights if few else weights[..., 0]).min().item())


@made_once(8)
def _edges(dtype: torch.dtype, device: torch.device) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """What is added to a score that takes part, and to one that is hidden."""
    return torch.zeros((), dtype=dtype, device=device), torch.tensor(HIDDEN, dtype=dtype, device=device)
