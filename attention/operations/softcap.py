"""Softcap: scaled scores are squeezed between two bounds."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from attention.operations.operation import Operation, Source, Spec, Written


def soft_cap(scores: Float[Tensor, "*b k"], softcap: float | None) -> Float[Tensor, "*b k"]:
    """Bounds scores to (-softcap, softcap) by tanh, in place; None or 0 leaves them unchanged (Gemma 2, section 2)."""
    if not softcap:
        return scores
    return scores.div_(max(softcap, torch.finfo(scores.dtype).tiny)).tanh_().mul_(softcap)  # 0 / 0 would be NaN


def _term(spec: Spec, score: str, written: Written) -> str:
    return rf"{written('c')} \tanh\!\left(\frac{{{score}}}{{{written('c')}}}\right)"


OPERATIONS = (
    Operation(
        "capped",
        "scale",
        "b h q k",
        lambda spec: f"Scores after softcap, between -{spec.softcap:g} and {spec.softcap:g}",
        "tanh limits the scores, so none becomes very large.",
        lambda spec, symbols: f"c\\,\\tanh(s / c),\\quad c = {spec.softcap:g}",
        lambda spec: f"{{name}}[{{at}}] = {spec.softcap:g} · tanh({{v0}} / {spec.softcap:g}) = {{value}}",
        (Source("scores", "same", "="),),
        lambda spec: 3 * spec.cells("b h q k"),  # divide, tanh, multiply
        lambda values, spec: soft_cap(values["scores"].clone(), spec.softcap),
        lambda spec: bool(spec.softcap),
        "scores",
        term=_term,
        code=lambda spec: f"scores = {spec.softcap!r} * torch.tanh(scores / {spec.softcap!r})\n",
    ),
)
