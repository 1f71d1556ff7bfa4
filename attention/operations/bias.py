"""Bias: what is added to the scores, by positions, and by forgetting, which depends on the tokens."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.operations import forgetting
from attention.operations.operation import Operation, Source, Spec, Symbols, Values, text
from attention.operations.positions import POSITIONS, rule
from attention.operations.score_bias import ScoreBias


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


def _by_position(spec: Spec) -> bool:
    return rule(spec).to_scores is not None and not forgetting.applies(spec)


def _applies(spec: Spec) -> bool:
    return rule(spec).to_scores is not None or forgetting.applies(spec)


def _forgotten(values: Values, spec: Spec) -> Tensor:
    """Returns what forgetting adds, and positions if they add something."""
    scores, kept = values["scores"], forgetting.retention(values["F"])[values["heads"]]
    found = ScoreBias(scores.shape[-2], scores.shape[-1], kept).square(scores.dtype)
    return found + _pair_bias(values, spec) if rule(spec).to_scores else found


def _forgotten_formula(spec: Spec, symbols: Symbols) -> str:
    if not rule(spec).to_scores:
        return f"b_{{hij}} = {forgetting.FORMULA}"
    return (
        f"b_{{hij}} = p_{{hij}} + {forgetting.FORMULA},\\quad {_formula(spec, symbols).replace('b_{hij}', 'p_{hij}')}"
    )


def _forgotten_code(spec: Spec) -> str:
    if not rule(spec).to_scores:
        return forgetting.CODE + "bias = forgotten\n"
    return f"{text(rule(spec).code, spec)}{forgetting.CODE}bias = bias + forgotten\n"


BIASED = Operation(
    "biased",
    "scale",
    "b h q k",
    "Scores with the bias",
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
)
OPERATIONS = (
    Operation(
        "bias",
        "scale",
        "h q k",
        lambda spec: f"Bias by position: {rule(spec).adds}",
        "A penalty for distance. It does not depend on the tokens.",
        _formula,
        compute=_pair_bias,
        applies=_by_position,
        code=lambda spec: text(rule(spec).code, spec),
    ),
    Operation(
        "bias",
        "scale",
        "b h q k",
        lambda spec: "Bias by forgetting" + (f" and by position: {rule(spec).adds}" if rule(spec).to_scores else ""),
        "What the tokens between key and query leave of the key. It depends on these tokens.",
        _forgotten_formula,
        sources=(Source("F", "between", "Σ ln σ ="),),
        flops=lambda spec: 3 * spec.cells("b q h") + 2 * spec.cells("b h q k"),
        compute=_forgotten,
        applies=forgetting.applies,
        code=_forgotten_code,
    ),
    BIASED,
)
