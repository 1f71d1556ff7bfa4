"""Joins the weights that `generate` returns, one step per token, into one map of the whole sequence.

A step has the queries of its new tokens: all of the prompt first, then one at a time. Without a cache every step has
all queries again. The keys of a step are those of the cache: all tokens so far, only the last ones with a sliding
window, or all slots of a static cache, of which the unused ones come last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

Step = Sequence[Tensor]  # the weights of one sequence, (1 h q k) per layer


class Joined(NamedTuple):
    """The rows of all steps. `seen` is False for pairs that no layer had, None if all are there; `what` ends a sentence."""

    weights: Float[Tensor, "l h q k"]
    seen: Bool[Tensor, "q k"] | None
    what: str


def join_steps(steps: Sequence[Step], read: int = 0, crossing: bool | None = None) -> Joined:
    """Joins the steps of one sequence into one map; raises ValueError if the position of a row or a key is unknown.

    `read`: number of tokens read by the end of the first step, more than its queries if a filled cache was given; 0 if
    unknown. `crossing`: whether the steps attend to another sequence, as a decoder to its encoder; None if unknown.
    """
    rows, layers = _rows(steps), [list(each) for each in zip(*steps, strict=True)]
    heads = {step.shape[1] for each in layers for step in each}
    if len(heads) > 1:
        raise ValueError(
            f"weights: layers have {' and '.join(map(str, sorted(heads)))} heads. Show them one after another."
        )
    prompt, keys = len(rows[0]), {step.shape[3] for each in layers for step in each}
    added = f", the last {prompt - read} added by the model in each step" if 0 < read < prompt else ""  # as XLM does
    if read < prompt:
        read = max(prompt, *(_reach(each[0]) for each in layers))
    if crossing is None:  # keys of another sequence: as many in all steps, and all read in the first one
        crossing = len(keys) == 1 and read > prompt
    if crossing:
        return _cross(layers, rows, keys)
    weights = layers[0][0].new_zeros(len(layers), *heads, rows[-1].stop, read - prompt + rows[-1].stop)
    seen = torch.zeros(weights.shape[2:], dtype=torch.bool)
    for at, each in enumerate(layers):
        _place(each, rows, weights[at], seen, at)
    return Joined(weights, None if seen.all() else seen, f", written on token by token{added}")


def _place(
    steps: Sequence[Tensor],
    rows: Sequence[range],
    weights: Float[Tensor, "h q k"],
    seen: Bool[Tensor, "q k"],
    at: int,
) -> None:
    """Writes the steps of a layer to their positions. Keys after a query or outside the window are seen only if they
    have weight.

    Raises ValueError if a key that was not read yet has weight, or if the cache dropped keys other than the oldest ones.
    """
    before = weights.shape[2] - weights.shape[1]  # keys of the cache that was given
    ends = [before + queries.stop for queries in rows]
    cut = {each.shape[3] for each, end in list(zip(steps, ends, strict=True))[1:] if each.shape[3] < end}
    window = min(cut, default=ends[-1])
    for step, (each, queries, end) in enumerate(zip(steps, rows, ends, strict=True)):
        first = max(0, end - each.shape[3])
        if each[..., end - first :].any():
            raise ValueError(f"weights of step {step}, layer {at}: keys that were not read yet have weight.")
        known = each[0, ..., : end - first]
        place = slice(queries.start, queries.stop), slice(first, end)
        weights[:, *place] = known
        back = before + torch.arange(queries.start, queries.stop)[:, None] - torch.arange(first, end)
        seen[place] |= ((back >= 0) & (back < window)) | (known != 0).any(0)
    if len(cut) > 1:
        raise ValueError(
            f"weights of layer {at}: its cache dropped keys, and not only the oldest ones of a sliding window, so that their "
            "positions are unknown. Show one pass over the sequence: model(sequences, output_attentions=True)."
        )


def _cross(layers: Sequence[Sequence[Tensor]], rows: Sequence[range], keys: set[int]) -> Joined:
    if len(keys) > 1:
        raise ValueError(
            f"weights: the other sequence has {' and '.join(map(str, sorted(keys)))} keys; it stays the same."
        )
    weights = layers[0][0].new_zeros(len(layers), layers[0][0].shape[1], rows[-1].stop, *keys)
    for at, each in enumerate(layers):
        for step, queries in zip(each, rows, strict=True):
            weights[at, :, queries.start : queries.stop] = step[0]
    return Joined(weights, None, f", written on token by token with the same {weights.shape[3]} keys in every step")


def _rows(steps: Sequence[Step]) -> list[range]:
    """Returns the queries of each step, counted from the first; raises ValueError if the steps are not consecutive."""
    prompt, found = steps[0][0].shape[2], []
    for step, layers in enumerate(steps):
        counts = {layer.shape[2] for layer in layers}
        if len(layers) != len(steps[0]) or len(counts) > 1 or not counts <= {1, prompt + step}:
            said = f"{len(layers)} layers of {' and '.join(map(str, sorted(counts)))} queries"
            raise ValueError(
                f"weights of step {step}: {said}. After {prompt} queries in {len(steps[0])} layers, a step has one query, or "
                f"{prompt + step} without a cache. Two streams a layer (XLNet) are shown from the model's whole output."
            )
        found.append(range(prompt + step - counts.pop(), prompt + step))
    return found


def _reach(weights: Float[Tensor, "1 h q k"]) -> int:
    """Returns the number of keys up to the last one on which the last query has weight."""
    there = weights[0, :, -1].any(0).nonzero()
    return int(there.max()) + 1 if len(there) else 0
