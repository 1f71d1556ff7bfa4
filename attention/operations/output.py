"""Output: the heads side by side, mapped back to the width of a token."""

from __future__ import annotations

from attention.operations.operation import Operation, Source, Spec
from attention.operations.project import made_here

NOT_MIXED = "W_o mixes the outputs of the heads. Here it is the identity, so they stay as they are."


def _lesson(spec: Spec) -> str:
    return "W_o mixes the outputs of the heads." if spec.mixes else NOT_MIXED


OPERATIONS = (
    Operation("W_o", "output", "(h e) c", "Output projection", _lesson, "W_o", applies=made_here, kind="parameters"),
    Operation(
        "output",
        "output",
        "b q c",
        "Output",
        "One vector per token again. It now contains information from other tokens.",
        r"\mathrm{output} = O\, W_o,\quad \mathrm{output}_{ij} = \sum_m O_{im} (W_o)_{mj}",
        "output[{at}] = joined[{i}] · W_o[:, {j}] = {value}",
        (Source("joined", "left", "×"), Source("W_o", "right", "=")),
        lambda spec: spec.product("b q c", "(h e)"),
        lambda values, spec: values["joined"] @ values["W_o"],
        made_here,
        plain=r"\mathrm{output} = \mathrm{joined}\, W_o",
        code="output = joined @ W_o\n",
    ),
)
