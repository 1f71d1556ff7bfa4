"""Bias: what positions add to the scores."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.operations.operation import Operation, Source, Spec, Symbols, Values, text
from attention.operations.positions import POSITIONS, rule


def position_bias(
    positions: str, queries: int, keys: int, heads: Int[Tensor, " h"], count: int
) -> Float[Tensor, "h q k"] | None:
    """Returns what positions add to the scores of these of `count` heads, None if nothing."""
    to_scores = POSITIONS[positions].to_scores
    if to_scores is None:
        return None
    return to_scores(torch.arange(queries)[:, None], torch.arange(keys)[None], heads[:, None, None], count)


def _pair_bias(values: Values, spec: Spec) -> Tensor:
    scores = values["scores"]
    queries, keys = scores.shape[-2:]
    found = position_bias(spec.positions, queries, keys, values["heads"], spec.sizes["h"])
    assert found is not None, spec.positions
    return found.to(scores.dtype)


def _formula(spec: Spec, symbols: Symbols) -> str:
    return f"{text(rule(spec).formula, spec)},\\quad H = {spec.sizes['h']}"


def _applies(spec: Spec) -> bool:
    return rule(spec).to_scores is not None


OPERATIONS = (
    Operation(
        "bias",
        "scale",
        "h q k",
        lambda spec: f"Bias by position: {rule(spec).adds}",
        "A penalty for distance. It does not depend on the tokens.",
        _formula,
        compute=_pair_bias,
        applies=_applies,
        code=lambda spec: text(rule(spec).code, spec),
    ),
    Operation(
        "biased",
        "scale",
        "b h q k",
        "Scores with the position bias",
        "The penalty lowers the scores of distant keys.",
        "s + b",
        "{name}[{at}] = {v0} + {v1} = {value}",
        (Source("scores", "same", "+"), Source("bias", "same", "=")),
        lambda spec: spec.cells("b h q k"),
        lambda values, spec: values["scores"] + values["bias"],
        _applies,
        "scores",
        term=lambda spec, score, written: f"{score} + {written('b_j')}",
        code="scores = scores + bias\n",
    ),
)
