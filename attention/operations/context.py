"""Context: the values of every key, each by its weight, summed; then heads side by side again."""

from __future__ import annotations

from einops import einsum, rearrange

from attention.operations.operation import Operation, Source, Spec, Symbols
from attention.operations.scores import repeated, shared_head


def _applies(spec: Spec) -> bool:
    return "v" in spec.given


def _formula(spec: Spec, symbols: Symbols) -> str:
    head, ratio = shared_head(spec)
    return f"o = w v,\\quad o_{{hij}} = \\sum_k w_{{hik}}\\, v_{{{head},kj}}{ratio}"


CONTEXT = Operation(
    "context",
    "values",
    "b h q e",
    "Context: weighted sum of values",
    "Each token gets the sum of the values, each multiplied by its weight.",
    _formula,
    "context[{at}] = weights[{h}, {i}] · v[{g}, :, {j}] = {value}",
    (Source("weights", "seen row", "×"), Source("v", "seen values", "=")),
    lambda spec: spec.product("b h q e", "k"),
    lambda values, spec: einsum(values["weights"], values["v"], "h q k, h k e -> h q e"),
    _applies,
    symbol="o",
    plain=r"\mathrm{context} = \mathrm{weights} \cdot v",
    code=lambda spec: f"{repeated('V', spec)}context = weights @ V\n",
)
JOINED = Operation(
    "joined",
    "join",
    "b q (h e)",
    "Heads concatenated",
    "The outputs of all heads, concatenated for each token.",
    lambda spec, at: f"O_{{i,\\,h d_v + j}} = {at['context']}_{{hij}},\\quad d_v = {spec.length('e')}",
    "{name}[{at}] = {value}, copied from {s0}[{at0}]",
    (Source("context", "joined", "="),),
    plain=r"\mathrm{joined} = {s0}\ \text{of all heads, side by side}",
    code="joined = context.transpose(0, 1).flatten(1)\n",
    compute=lambda values, spec: rearrange(values["context"], "h q e -> q (h e)"),
    applies=_applies,
)
