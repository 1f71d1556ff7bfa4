"""Scores: every query times every key."""

from __future__ import annotations

from einops import einsum

from attention.operations.operation import Operation, Source, Spec, Symbols


def shared_head(spec: Spec) -> tuple[str, str]:
    """Returns the kv head of head h as a formula, and the definition of its r."""
    return (r"\lfloor h / r \rfloor", f",\\quad r = {spec.repeats}") if spec.repeats > 1 else ("h", "")


def _formula(spec: Spec, symbols: Symbols) -> str:
    (q, k), (head, ratio) = (symbols["q"], symbols["k"]), shared_head(spec)
    return f"s = {q} {k}^\\top,\\quad s_{{hij}} = \\sum_d {q}_{{hid}}\\, {k}_{{{head},jd}}{ratio}"


OPERATIONS = (
    Operation(
        "scores",
        "scores",
        "b h q k",
        "Every query against every key",
        "How well does what one token looks for fit what another can be found by? A number for each pair.",
        _formula,
        "score[{at}] = {s0}[{h}, {i}] · {s1}[{g}, {j}] = {value}",
        (Source("q", "left", "× transposed"), Source("k", "keys", "=")),
        lambda spec: spec.product("b h q k", "d"),
        lambda values, spec: einsum(values["q"], values["k"], "h q d, h k d -> h q k"),
        code="scores = Q @ K.transpose(-2, -1)\n",
    ),
)
