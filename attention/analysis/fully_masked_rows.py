"""Compares what fully masked rows become: in every path of PyTorch that runs on this machine, and in this package.

The softmax over no keys is 0 / 0. Some paths give zeros, some NaN, and a mask of large negative numbers instead of
minus infinity gives the mean of all values, masked ones included. A NaN in a row that is not used still makes the
gradients of all projections NaN, because zero times NaN is NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from threading import Lock

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from attention.attend import scaled_dot_product_attention
from attention.layer import MultiHeadAttention
from attention.operations.mask import HIDDEN
from attention.trace import Trace

WIDTH = 64  # maximum number of channels: what a fully masked row becomes does not depend on it
BACKENDS = ("MATH", "FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION")
ALONE = Lock()  # the choice of a backend applies to the whole process

Masked = Callable[[Tensor], Float[Tensor, "q d"]]


@dataclass(frozen=True)
class Finding:
    """The result of one path with one kind of mask: what fully masked rows became, and whether gradients are finite.

    `blind`: "zeros", "NaN", "mean of all values", "other", or "" if no row is fully masked. `apart`: largest difference
    of the other rows from float64, NaN if one of them is NaN. `gradient`: "finite" or "NaN" after a loss over the other
    rows, "" if none is computed. `runs`: False if the path does not run on this machine.
    """

    path: str
    mode: str
    mask: str
    blind: str = ""
    apart: float = 0.0
    gradient: str = ""
    runs: bool = True


def masks(square: Bool[Tensor, "q k"]) -> dict[str, Tensor]:
    """Returns the mask in three kinds: boolean, and added with minus infinity or the most negative finite number."""
    zeros = torch.zeros(square.shape)
    lowest = torch.finfo(torch.float32).min
    return {
        "boolean": square,
        "float, -inf": zeros.masked_fill(~square, HIDDEN),
        "float, lowest finite": zeros.masked_fill(~square, lowest),
    }


def audit(trace: Trace) -> list[Finding]:
    """Runs every path on queries, keys and values of the selected head (its first 64 channels) with the trace's mask.

    The modules have one head and identity projections. In self-attention they take the keys as tokens; in
    cross-attention, the queries as tokens, and the keys as those of the other sequence.
    """
    head = trace.config.head
    q, k, v = (x[head, :, :WIDTH].detach().clone() for x in (trace.q, trace.k, trace.v))
    with ALONE, torch.inference_mode(False), torch.enable_grad():
        tokens = q if trace.config.is_cross or trace.config.keys else k
        return [*_functions(q, k, v, trace.mask), *_modules(tokens, k, trace.mask)]


def _functions(q: Tensor, k: Tensor, v: Tensor, square: Bool[Tensor, "q k"]) -> Iterator[Finding]:
    """Yields the findings of this package's function and of torch's, the latter once per backend."""
    inputs = tuple(x.clone().requires_grad_() for x in (q, k, v))
    expected = _reference_output(q, k, v, square)
    for kind, mask in masks(square).items():
        ours = scaled_dot_product_attention(*inputs, mask).output  # pyright: ignore[reportCallIssue]  q, k and v
        yield _finding_of("attention.scaled_dot_product_attention", "", kind, ours, v, square, expected, inputs)
    for backend in BACKENDS:
        for kind, mask in masks(square).items():
            output = _by_backend(backend, *inputs, mask)  # pyright: ignore[reportCallIssue]  q, k and v
            path, mode = "F.scaled_dot_product_attention", backend
            if output is None:
                yield Finding(path, mode, kind, runs=False)
            else:
                yield _finding_of(path, mode, kind, output, v, square, expected, inputs)


def _by_backend(backend: str, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Float[Tensor, "q d"] | None:
    """Returns the output of one backend, or None if it does not run here.

    MATH stays allowed, because the setting also applies to other threads that compute at the same time.
    """
    wanted = SDPBackend.__members__[backend]
    batch = tuple(x[None, None] for x in (q, k, v))
    with sdpa_kernel([wanted, SDPBackend.MATH] if wanted != SDPBackend.MATH else [wanted]):
        if torch._fused_sdp_choice(*batch, mask) != wanted.value:  # pyright: ignore[reportCallIssue, reportPrivateImportUsage]  q, k, v; no public name asks it
            return None
        return F.scaled_dot_product_attention(*batch, mask)[0, 0]  # pyright: ignore[reportCallIssue]  q, k and v


def _modules(x: Float[Tensor, "q d"], y: Float[Tensor, "k d"], square: Bool[Tensor, "q k"]) -> Iterator[Finding]:
    """Yields the findings of this package's module and of torch's, in whose boolean masks True means masked.

    The tokens x attend to y, which is x itself in self-attention: then torch may take its fast path.
    """
    layer = _plain_layer(x.shape[-1])
    expected = _reference_output(x, y, y, square)
    ours = MultiHeadAttention.from_torch(layer)
    for kind, mask in masks(square).items():
        output = ours(x, y, y, mask=mask).output
        yield _finding_of(
            "attention.MultiHeadAttention", "", kind, output, y, square, expected, tuple(ours.parameters())
        )
    query, key = x[None], y[None]
    key = query if x is y else key
    for weights in (True, False):
        for training, mode in ((True, "train"), (False, "eval"), (False, "eval, no gradients")):
            for kind, mask in masks(square).items():
                layer.train(training)
                hides = ~mask if mask.dtype == torch.bool else mask
                learning = "no gradients" not in mode
                with _mode(learning):
                    output = layer(query, key, key, attn_mask=hides, need_weights=weights)[0][0]
                label = f"{mode}, need_weights={weights}"
                parameters = tuple(layer.parameters()) if learning else ()
                yield _finding_of("nn.MultiheadAttention", label, kind, output, y, square, expected, parameters)


def _mode(learning: bool) -> AbstractContextManager:
    return nullcontext() if learning else torch.no_grad()


def _plain_layer(width: int) -> nn.MultiheadAttention:
    """Returns a module with one head and identity projections."""
    layer = nn.MultiheadAttention(width, 1, batch_first=True)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.eye(width).repeat(3, 1))
        layer.out_proj.weight.copy_(torch.eye(width))
    return layer


def _reference_output(q: Tensor, k: Tensor, v: Tensor, square: Bool[Tensor, "q k"]) -> Float[Tensor, "q d"]:
    """Returns attention in float64. Fully masked rows are NaN."""
    scores = (q.double() @ k.double().mT / q.shape[-1] ** 0.5).masked_fill(~square, HIDDEN)
    return torch.softmax(scores, -1) @ v.double()


def _finding_of(path, mode, kind, output, values, square, expected, parameters) -> Finding:
    """Returns the finding for a path's output. Gradients are those of a loss over the rows with a visible key."""
    seeing = square.any(-1)
    apart = (output.detach().double() - expected)[seeing].abs()
    blind = _became(output.detach()[~seeing], values)
    greatest = float(apart.max()) if apart.numel() else 0.0
    return Finding(path, mode, kind, blind, greatest, _gradient(output[seeing].sum(), parameters))


def _became(rows: Float[Tensor, "r d"], values: Float[Tensor, "k d"]) -> str:
    """Returns what the fully masked rows became, in words."""
    if not len(rows):
        return ""
    if rows.isnan().any():
        return "NaN"
    if not rows.any():
        return "zeros"
    return "mean of all values" if torch.allclose(rows, values.mean(0).expand_as(rows), atol=1e-5) else "other"


def _gradient(loss: Tensor, parameters: tuple[Tensor, ...]) -> str:
    """Returns "finite" if the gradients of all parameters are finite, otherwise "NaN"; "" without parameters."""
    if not parameters:
        return ""
    found = torch.autograd.grad(loss, parameters, allow_unused=True)
    return "NaN" if any(each is not None and not each.isfinite().all() for each in found) else "finite"
