"""Checks whether the output of a call follows from the recorded queries, keys, values, mask.

Models may pass any argument to their attention function, or change the weights within it. What `model_calls` does not
know is detected in the output, which is the weights times the values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attention.tracing.call import Call
from attention.tracing.sdpa_call import SdpaCall

ROWS = 8  # number of queries that are compared; all of them if there are unknown arguments
CPU, OTHER = 2**-16, 2**-9  # smallest tolerated relative errors of products: kernels of GPUs may use TF32
DIFFERS = "its output does not follow from its queries, keys, values and mask: it differs by up to {:.2g}"
NOT_COMPARED = "it has arguments that may change its weights, and its output can't be compared"
GIVEN = " (arguments that are not known: {})"


def mismatch(sdpa: SdpaCall, output: Any, batch: int, unknown: Sequence[str]) -> str:
    """Why the weights of a call can't be those of its output `(b q h d)`; "" if they can.

    `output` is None if it can't be compared. `batch`: the index in the output of the first sequence of the call;
    `unknown`: the arguments whose effect is unknown.
    """
    heads, queries = sdpa.q.shape[1:3]
    shape = (queries, heads, sdpa.v.shape[-1])
    if not isinstance(output, Tensor) or output.shape[1:] != shape or not len(output):
        why = NOT_COMPARED if unknown else ""
    else:
        rows = torch.arange(queries) if unknown else torch.linspace(0, queries - 1, min(ROWS, queries)).long()
        sequence = output[batch if len(output) > 1 else 0].detach()
        given = sequence[rows.to(output.device)].to("cpu", torch.float32).transpose(0, 1)
        least = max(CPU if output.device.type == "cpu" else OTHER, torch.finfo(output.dtype).eps)  # under autocast
        largest = _largest_difference(_call(sdpa, rows), given, least)
        why = DIFFERS.format(largest) if largest else ""
    return why + GIVEN.format(", ".join(unknown)) if why and unknown else why


def _call(sdpa: SdpaCall, rows: Tensor) -> Call:
    """Some queries of the first sequence of a call."""
    mask = None if sdpa.mask is None else sdpa.mask[0][:, rows]
    sinks = None if sdpa.sinks is None else sdpa.sinks[0][:, rows]
    q = sdpa.q[0][:, rows]
    return Call(q, sdpa.k[0], sdpa.v[0], sdpa.scale, mask, sdpa.softcap, sinks, score_dtype=sdpa.score_dtype)


def _largest_difference(call: Call, given: Tensor, least: float) -> float:
    """The largest difference between an output `(h q d)` and that of a call, 0 if rounding explains it.

    `least`: the smallest relative error of products. Rows of the output that are zero or not finite, as kernels return
    for fully masked rows, are ignored.
    """
    k, v = (x.float().repeat_interleave(len(call.q) // len(x), 0) for x in (call.k, call.v))
    scores = call.q.float() * call.scale @ k.mT
    error = max(least, torch.finfo(call.v.dtype).eps) * (2 + float(scores.abs().max())) + _error_of_mask(call)
    counts = given.isfinite().all(-1) & given.any(-1)
    apart = (call.weights() @ v - given).abs().amax(-1)
    apart = apart[counts & (apart > error * float(v.abs().max()))]
    return float(apart.max()) if len(apart) else 0.0


def _error_of_mask(call: Call) -> Float[Tensor, "h q"]:
    """The relative error of sums of scores and a mask that is large for all keys of a row."""
    if call.mask is None or call.mask.dtype == torch.bool:
        return torch.zeros(1, 1)
    top = call.mask.float().amax(-1).abs()
    return 4 * torch.finfo(torch.float32).eps * top.masked_fill(top.isinf(), 0)
