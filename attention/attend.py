"""Scaled dot-product attention with the weights of every head.

The semantics are those of `torch.nn.functional.scaled_dot_product_attention`, which does not return its weights. On a
CPU, a large attention spends most of its time touching fresh memory and passing over it (docs/LOG.md). The work is
therefore done in place, in blocks of rows that fit into the cache; keys that are masked for a whole block are skipped,
and memory is requested in huge pages.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from attention.arguments import PLAIN, check_out, fit_together, plain_mask
from attention.blocks import APART, by_blocks, seeing, until
from attention.operations.mask import HIDDEN
from attention.operations.normalisers import Normalise, standard
from attention.operations.score_bias import ScoreBias
from attention.operations.softcap import soft_cap
from attention.runtime.memory import empty_hugepages
from attention.runtime.tensor_cache import tensor_lru_cache
from attention.summary import summarize

FEW = 2**14  # cells of all heads up to which a call into torch costs more than its computation
SMALL = 2**18  # cells of one head below which one batched product is faster than blocks
BIASED = 2**16  # the same if heads have a bias of their own, which blocks add while they are in the cache
WHOLE = APART  # cells of all heads below which that is as fast if nothing is skipped, and suffers less from busy cores
HALVES = torch.bfloat16, torch.float16  # their scores and weights are computed in float32


class Attention(NamedTuple):
    """The result of attention: `output (... q e)`, and `weights (... q k)`, whose rows sum to one (to zero if fully masked).

    >>> q = torch.ones(2, 5, 8)
    >>> attention.scaled_dot_product_attention(q, q, q)
    Attention(output=float32 (2, 5, 8), weights=float32 (2, 5, 5))
    """

    output: Float[Tensor, "*b q e"]
    weights: Float[Tensor, "*b q k"]

    def __repr__(self) -> str:
        return summarize(self, **self._asdict())


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
    """Returns softmax(q kᵀ scale + mask) v, and the softmax itself (Vaswani et al. 2017, section 3.2.1).

    query (... q d), key (... k d), value (... k e); a boolean mask (True takes part) or one of query's dtype (added)
    broadcasts to (... q k); `scale` is 1/sqrt(d) unless given; `is_causal` masks keys after the query's position. With
    `enable_gqa`, dimension -3 of key and value may be a divisor of query's. `softcap` bounds scaled scores by tanh
    before the mask. A fully masked row has zero weights and a zero output. Keys that a boolean mask or `is_causal`
    masks may hold any values as long as no gradient is required; otherwise they must be finite, and so must value, as
    zero times NaN is NaN. Weights are returned before dropout. `out (... q k)` is filled with the weights and returned
    as `weights`, which saves fresh memory. torch.func's transforms and forward-mode differentiation are not supported.

    Scores and weights of 16-bit inputs are computed in float32, as in torch's fused kernels, and the results are
    rounded to the inputs' dtype. Under autocast, query, key and value are cast to its dtype. A mask may be a
    `CausalBias` of torch.

    Raises the errors of torch's function for the same misuse, ValueError for a softcap that is not positive and for
    sparse or nested tensors, TypeError for a mask whose class replaces functions of torch, and RuntimeError for an
    `out` of another shape or dtype, or together with gradients.

    >>> q = torch.arange(12.0).view(1, 3, 4) / 10
    >>> output, weights = attention.scaled_dot_product_attention(q, q, q, is_causal=True)
    >>> weights
    tensor([[[1.0000, 0.0000, 0.0000],
             [0.3917, 0.6083, 0.0000],
             [0.1297, 0.2773, 0.5930]]])
    """
    if type(attn_mask) not in PLAIN:
        attn_mask = plain_mask(attn_mask, getattr(query, "device", None))
    if not fit_together(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa):
        keywords = {"scale": scale, "enable_gqa": enable_gqa}
        with sdpa_kernel(SDPBackend.MATH):  # the fused kernels overlook some misuse, and then read past the end
            F.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, **keywords)
    if softcap is not None and not softcap > 0:
        raise ValueError(f"softcap={softcap} is not a positive number; None leaves the scores uncapped.")
    if (dtype := _autocast_dtype(query)) is not None:
        query, key, value = (x if x.dtype == torch.float64 else x.to(dtype) for x in (query, key, value))
        with torch.autocast(query.device.type, enabled=False):
            return scaled_dot_product_attention(
                query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, softcap=softcap, out=out
            )
    if attn_mask is not None and attn_mask.dtype not in (torch.bool, query.dtype):
        attn_mask = attn_mask.to(torch.float32 if query.dtype in HALVES else query.dtype)
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
    bias: ScoreBias | None = None,
) -> Attention:
    """Computes attention of validated inputs; `normalise` turns a block of logits into weights, in place.

    `bias (b q k)` is added to scores after the softcap.
    """
    given, half = query, query.dtype in HALVES
    if half:
        query, key, value = query.float(), key.float(), value.float()
        mask = mask if mask is None or mask.dtype == torch.bool else mask.float()
    q, k, v = query.shape, key.shape, value.shape
    if not q == k == v and not q[:-2] == k[:-2] == v[:-2]:
        batch = torch.broadcast_shapes(q[:-2], k[:-2], v[:-2])
        query, key, value = (x.expand(*batch, *x.shape[-2:]) for x in (query, key, value))
        q = query.shape
    queries, d, keys = q[-2], q[-1], k[-2]
    scale = scale if scale is not None else 1 / math.sqrt(d or 1)
    if scale == 0:
        query, scale = query * 0, 1  # a bfloat16 product that is scaled by zero leaves its output memory unchanged
    learning = torch.is_grad_enabled() and _needs_grad(query, key, value, mask)
    if out is not None:
        check_out(out, (*q[:-1], keys), given, learning)
    products = query.numel() * keys  # d of them per cell
    plain = type(query) in PLAIN and type(key) in PLAIN and type(value) in PLAIN and type(mask) in PLAIN
    at_once = queries * keys <= (SMALL if bias is None else BIASED) or query.device.type != "cpu"
    apart = at_once and (bool(softcap) or query.device.type != "cpu")
    if bias is not None and (apart or half or learning or dropout_p > 0 or products == 0 or not plain):
        added = bias.square(query.dtype)
        mask, bias = (added if mask is None else added.masked_fill_(~mask, HIDDEN)), None
    if learning or dropout_p > 0 or products == 0 or (not plain and normalise is standard):
        found = _differentiable(query, key, value, mask, is_causal, scale, softcap, dropout_p, normalise)
        return _to_attention(found, given, out) if half or out is not None else found
    if not (at_once or bias is not None or half or is_causal) and mask is None and normalise is standard:
        at_once = products < WHOLE * d  # for 16 bits, float32 weights would be held in addition to the rounded ones
    into, like = (_at_once, query) if at_once else (by_blocks, given)  # float32 blocks are written to 16-bit weights
    weights = out if out is not None and out.is_contiguous() and out.dtype == like.dtype else None
    if weights is None and (into is by_blocks or products > FEW * d or bias is not None):
        weights = empty_hugepages((*q[:-1], keys), like)
    more = {} if bias is None else {"bias": bias}
    found = Attention(*into(weights, query, key, value, mask, is_causal, scale, softcap, normalise, **more))
    return _to_attention(found, given, out) if half or out is not None else found


def _to_attention(found: Attention, given: Tensor, out: Tensor | None) -> Attention:
    """Returns the result in the dtype of the query that was `given`; the weights are in `out` if there is one."""
    output, weights = (x.to(given.dtype) for x in found)
    return Attention(output, weights if out is None or out is weights else out.copy_(weights))


def _autocast_dtype(query: Tensor) -> torch.dtype | None:
    """Returns the dtype that autocast computes in on query's device, None if autocast is off."""
    kind = "cpu" if query.is_cpu else query.device.type
    if kind == "cpu" or torch.amp.is_autocast_available(kind):
        return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else None
    return None


def _needs_grad(*tensors: Tensor | None) -> bool:
    return any(x is not None and x.requires_grad for x in tensors)


def _differentiable(query, key, value, mask, is_causal, scale, softcap, dropout_p, normalise) -> Attention:
    """Computes attention as textbooks do, each step out of place, so that gradients flow; fully masked rows get zeros."""
    weigh = partial(torch.softmax, dim=-1) if normalise is standard else normalise
    scores = (query * scale) @ key.mT
    if softcap:
        scores = softcap * torch.tanh(scores / softcap)
    if is_causal:  # no row is fully masked: key 0 is visible to every query
        hidden = ~torch.ones(scores.shape[-2:], dtype=torch.bool, device=query.device).tril()
        weights = weigh(scores.masked_fill(hidden, HIDDEN))
    elif mask is not None:
        scores = scores.masked_fill(~mask, HIDDEN) if mask.dtype == torch.bool else scores + mask
        blind = ~seeing(mask)
        scores = scores.masked_fill(blind, 0)  # a softmax over no key has no gradient, even if it is replaced
        weights = weigh(scores).masked_fill(blind, 0)
    else:
        weights = weigh(scores)
    return Attention((F.dropout(weights, dropout_p) if dropout_p > 0 else weights) @ value, weights)


def _at_once(
    weights, query, key, value, mask, is_causal, scale, softcap, normalise, bias=None
) -> tuple[Tensor, Tensor]:
    """Computes all heads in one batched product, in place: fastest for small squares, and on accelerators.

    On a CPU the product starts from the additive mask if all heads share one, and from the bias. This saves a pass over
    all scores, but the weights must be checked for NaN afterwards. On an accelerator, `is_causal` needs no check, so
    nothing waits for the device.
    """
    few, seen, added = weights is None, mask, None
    if is_causal:
        square = query.shape[-2], key.shape[-2], query.device
        seen = until(*square)
    if seen is not None and query.is_cpu and not softcap:
        added = _falling(*square, query.dtype) if few and is_causal else _additive_mask(seen, query)  # pyright: ignore[reportCallIssue]  two values
    if bias is not None:
        begin = bias.write(slice(0, query.shape[-2]), slice(0, key.shape[-2]), weights)
        if added is None and seen is not None:
            added = begin.masked_fill_(~seen, HIDDEN)
        else:
            added = begin if added is None else begin.add_(added)
    weights = normalise(_logits(weights, query, key, seen, scale, softcap, added))
    if seen is not None and (mask is not None or added is not None) and _astray(weights, few):
        blind = ~seeing(seen)
        if _astray(weights.masked_fill_(blind, 0), few) and added is not None:  # a masked score may be NaN, too
            again = _logits(weights, query, key, seen, scale, softcap)
            normalise(again if bias is None else again.add_(bias.square(again.dtype))).masked_fill_(blind, 0)
    return torch.matmul(weights, value), weights


def _logits(weights, query, key, seen, scale, softcap, added=None) -> Float[Tensor, "*b q k"]:
    """Returns the logits, in `weights` or in fresh memory. With `added`, a masked score that is NaN stays NaN."""
    q, keys = query.shape, key.shape[-2]
    queries, d = q[-2], q[-1]
    many, across = query.reshape(-1, queries, d), key.reshape(-1, keys, d).mT
    begin, beta = (_edges(query.dtype, query.device)[0], 0) if added is None else (added, 1)  # beta=0 ignores `begin`
    begin = begin.view(-1, queries, keys) if added is weights and added is not None else begin
    if weights is None:
        weights = torch.baddbmm(begin, many, across, beta=beta, alpha=scale).view(*q[:-1], keys)
    else:
        torch.baddbmm(begin, many, across, beta=beta, alpha=scale, out=weights.view(-1, queries, keys))
    if added is not None:
        return weights
    soft_cap(weights, softcap)
    if seen is not None and seen.dtype == torch.bool:
        torch.where(seen, weights, _edges(query.dtype, query.device)[1], out=weights)  # a fill in place is slower
    elif seen is not None:
        weights.add_(seen)
    return weights


def _additive_mask(mask: Tensor, like: Tensor) -> Float[Tensor, "..."] | None:
    """Returns what a mask adds to the scores of every head, None if heads have masks of their own."""
    if mask.ndim > 2:
        if mask.shape[:-2].numel() > 1:
            return None
        mask = mask.view(mask.shape[-2:])
    return torch.where(mask, *_edges(like.dtype, like.device)) if mask.dtype == torch.bool else mask


@tensor_lru_cache(8)
def _falling(queries: int, keys: int, device: torch.device, dtype: torch.dtype) -> Float[Tensor, "q k"]:
    """Returns the additive causal mask."""
    return torch.where(until(queries, keys, device), *_edges(dtype, device))


def _astray(weights: Float[Tensor, "*b q k"], few: bool) -> bool:
    """Whether any row is NaN; if so, all of its weights are."""
    return math.isnan((weights if few else weights[..., 0]).min().item())


@tensor_lru_cache(8)
def _edges(dtype: torch.dtype, device: torch.device) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Returns what is added to a visible score, and to a masked one."""
    return torch.zeros((), dtype=dtype, device=device), torch.tensor(HIDDEN, dtype=dtype, device=device)
