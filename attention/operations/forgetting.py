"""Forgetting: every token closes on what came before it, so a logit loses what the tokens after its key have forgotten.

Each token has a forget gate per head, a number between 0 and 1 that follows from the token. The logarithms of the gates of all
tokens after a key, up to the query, are added to the logit of the pair (Lin et al. 2025, Forgetting Transformer, section 3.1).
It is ALiBi with slopes that depend on the text. Keys after the query lose the gates of the tokens after the query, up to the key.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Generator, Tensor
from torch.nn.functional import logsigmoid

from attention.operations.operation import Operation, Source, Spec

OFF, ON = FORGETS = ("off", "on")
SEEDS = 40_001  # the map to the gates has a generator of its own, with a seed that no other random numbers have
SPREAD = 2.0  # standard deviation of the logits of the gates around their bias, for tokens of variance one


def applies(spec: Spec) -> bool:
    """The pass forgets; a config that does has tokens between a query and a key, as it has no other sequence."""
    return spec.forgetting == ON and spec.made_here


def draw_forget_map(channels: int, heads: int, seed: int) -> Float[Tensor, "c h"]:
    """Returns the map from a token to the logits of its forget gates; it is drawn, as nothing is learned here."""
    random = Generator().manual_seed(-SEEDS - seed)
    return torch.randn(channels, heads, generator=random, dtype=torch.float32) * (SPREAD / channels**0.5)


def retention(logits: Float[Tensor, "n h"]) -> Float[Tensor, "h n"]:
    """Returns the sums of the logarithms of the gates up to each token, in float64: their differences are what is added."""
    return logsigmoid(logits.double()).cumsum(0).T.contiguous()


def near_sums(kept: Float[Tensor, "*n"], ref: Float[Tensor, "*one"], dtype: torch.dtype) -> Float[Tensor, "*n"]:
    """Returns sums of logarithms from one token on: small where a row near it has weight, so float32 is accurate there."""
    return (kept - ref).to(dtype)


def _map_code(spec: Spec) -> str:
    random = f"torch.Generator().manual_seed(-{SEEDS} - seed)"
    return f"W_f = torch.randn(d_model, heads, generator={random}) * ({SPREAD} / d_model**0.5)\n"


OPERATIONS = (
    Operation(
        "W_f",
        "scale",
        "c h",
        "The map to the forget gates",
        "A table that turns a token into how much each head keeps of what came before; a model learns it.",
        "W_f",
        compute=lambda values, spec: draw_forget_map(spec.sizes["c"], spec.sizes["h"], spec.seed),
        applies=applies,
        code=_map_code,
        kind="parameters",
    ),
    Operation(
        "F",
        "scale",
        "b q h",
        "Logits of the forget gates",
        "A number per token and head. Far above zero, the head keeps what came before; below zero, it forgets.",
        lambda spec, symbols: rf"F = x W_f + b,\quad b = {spec.forget_bias:g},\quad f_{{ih}} = \sigma(F_{{ih}})",
        lambda spec: f"F[{{at}}] = x[{{i}}] · W_f[:, {{j}}] + {spec.forget_bias:g} = {{value}}",
        (Source("x", "left", "×"), Source("W_f", "right", "+ b =")),
        lambda spec: spec.product("b q h", "c") + spec.cells("b q h"),
        lambda values, spec: values["x"] @ values["W_f"] + spec.forget_bias,
        applies,
        code=lambda spec: f"F = x @ W_f + {spec.forget_bias!r}\n",
    ),
)
FORMULA = r"\sum_{t=j+1}^{i} \ln \sigma(F_{th})"
CODE = """\
kept = torch.nn.functional.logsigmoid(F.double()).cumsum(0).T  # (heads, n)
forgotten = -(kept[:, :, None] - kept[:, None]).abs().float()
"""
