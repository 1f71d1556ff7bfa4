"""Query scale: scores are multiplied by the logarithm of the number of keys that the query sees.

A softmax over more keys is flatter; this undoes it (Nakanishi 2025, Scalable-Softmax; its factor s is one over the temperature).
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention.operations.operation import Operation, Source, Spec, Values, Written
from attention.operations.scale import TIMES

OFF, LOG = QUERY_SCALES = ("none", "log n")
SYMBOL = r"\lambda"  # of the logarithm, in formulas


def log_keys(visible: Int[Tensor, "*q"]) -> Float[Tensor, "*q"]:
    """Returns the factor of each query in float64 from its number of visible keys; 0 for one key and for none."""
    return visible.clamp(min=1).double().log()


def _spread_scores(values: Values, spec: Spec) -> Tensor:
    scores = values["scores"]
    visible = values["mask"].sum(-1, keepdim=True) if spec.masks else torch.tensor([scores.shape[-1]])
    return scores * log_keys(visible).to(scores)


def _term(spec: Spec, score: str, written: Written) -> str:
    return f"{written(SYMBOL)}{written(TIMES)}{score}"


def _code(spec: Spec) -> str:
    return f"scores = scores * ({spec.mask_code}).expand({spec.queries}, n).sum(-1, keepdim=True).clamp(min=1).log()\n"


OPERATIONS = (
    Operation(
        "lengthened",
        "scale",
        "b h q k",
        "Times the logarithm of the visible keys",
        "The more keys a query sees, the further its scores are drawn apart.",
        r"\lambda_i\, s_{hij},\quad \lambda_i = \ln \sum_j m_{ij}",
        sources=(Source("scores", "same", "× ln(visible keys) ="),),
        flops=lambda spec: spec.cells("b h q k") + spec.cells("q"),
        compute=_spread_scores,
        applies=lambda spec: spec.query_scale == LOG,
        updates="scores",
        term=_term,
        code=_code,
    ),
)
