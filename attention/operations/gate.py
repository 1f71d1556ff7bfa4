"""Output gate: what a head found is multiplied by numbers between 0 and 1 that depend on the query's token (Qwen3-Next).

The weights are those before the gate. A gate per head scales all that a query takes from its keys; a gate per channel has no
weights that would give the same output (Qiu et al. 2025, Gated Attention for Large Language Models).
"""

from __future__ import annotations

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Generator, Tensor

from attention.operations.operation import Operation, Source, Spec, Symbols

OFF, HEADWISE, ELEMENTWISE = GATES = ("off", "headwise", "elementwise")
SEEDS = 30_001  # the map to the gate has a generator of its own, with a seed that no other random numbers have
SPREAD = 2.0  # standard deviation of its logits, for tokens of variance one: gates from about 0.02 to 0.98


def applies(spec: Spec) -> bool:
    """The pass has a gate, for which tokens are needed."""
    return spec.gate != OFF and spec.made_here


def draw_gate_map(channels: int, gates: int, seed: int) -> Float[Tensor, "c w"]:
    """Returns the map from a token to the logits of its gates; it is drawn, as nothing is learned here."""
    random = Generator().manual_seed(-SEEDS - seed)
    return torch.randn(channels, gates, generator=random, dtype=torch.float32) * (SPREAD / channels**0.5)


def _map_code(spec: Spec) -> str:
    width = "heads" if spec.gate == HEADWISE else "heads * d_head"
    random = f"torch.Generator().manual_seed(-{SEEDS} - seed)"
    return f"W_g = torch.randn(d_model, {width}, generator={random}) * ({SPREAD} / d_model**0.5)\n"


def _formula(spec: Spec, symbols: Symbols) -> str:
    if spec.gate == HEADWISE:
        return r"\gamma_{hi} = \sigma(G_{ih}) = \frac{1}{1 + e^{-G_{ih}}}"
    sigmoid = r"\sigma(z) = \frac{1}{1 + e^{-z}}"
    return rf"\gamma_{{hij}} = \sigma(G_{{i,\,h d_v + j}}),\quad {sigmoid},\quad d_v = {spec.length('e')}"


def _gated_formula(spec: Spec, symbols: Symbols) -> str:
    return rf"o'_{{hij}} = \gamma_{{{'hi' if spec.gate == HEADWISE else 'hij'}}}\, {symbols['context']}_{{hij}}"


TO_GATE = (
    Operation(
        "W_g",
        "values",
        "c (h u)",
        "The map to the gates",
        "A table that turns a token into how much each head hands on; a model learns it.",
        "W_g",
        applies=applies,
        code=_map_code,
        kind="parameters",
    ),
    Operation(
        "G",
        "values",
        "b q (h u)",
        "Logits of the gates",
        "A number for each gate: above zero it opens, below zero it closes.",
        r"G = x W_g,\quad G_{ij} = \sum_c x_{ic} (W_g)_{cj}",
        "{name}[{at}] = {s0}[{i}] · W_g[:, {j}] = {value}",
        (Source("x", "left", "×"), Source("W_g", "right", "=")),
        lambda spec: spec.product("b q (h u)", "c"),
        lambda values, spec: values["x"] @ values["W_g"],
        applies,
    ),
    Operation(
        "gate",
        "values",
        "b h q u",
        "The gate of every head",
        "Between 0, nothing is handed on, and 1, all of it is. It depends on the query's token alone.",
        _formula,
        "gate[{at}] = sigmoid(G[{at0}]) = {value}",
        (Source("G", "split", "sigmoid ="),),
        lambda spec: spec.cells("b h q u"),
        lambda values, spec: rearrange(values["G"].sigmoid(), "q (h u) -> h q u", h=spec.sizes["h"]),
        applies,
        code="gate = (x @ W_g).view(n, heads, -1).transpose(0, 1).sigmoid()\n",
    ),
)
GATED = Operation(
    "gated",
    "values",
    "b h q e",
    "What the gate lets through",
    "What a head found, times its gate. Its weights stay what they were.",
    _gated_formula,
    "{name}[{at}] = {v0} × {v1} = {value}",
    lambda spec: (Source("context", "same", "×"), Source("gate", "left" if spec.gate == HEADWISE else "same", "=")),
    lambda spec: spec.cells("b h q e"),
    lambda values, spec: values["context"] * values["gate"],
    applies,
    updates="context",
    symbol="o'",
    code="context = context * gate  # the weights are those before the gate\n",
)
