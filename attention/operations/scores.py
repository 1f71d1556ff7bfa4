"""Scores: every query times every key."""

from __future__ import annotations

from einops import einsum

from attention.operations.operation import Operation, Source, Spec, Symbols


def shared_head(spec: Spec) -> tuple[str, str]:
    """Returns the kv head of head h as a formula, and the definition of its r."""
    return (r"\lfloor h / r \rfloor", f",\\quad r = {spec.repeats}") if spec.repeats > 1 else ("h", "")


def repeated(name: str, spec: Spec) -> str:
    """Returns the line of PyTorch that repeats keys or values for the heads that share them; "" if none do."""
    axis = -3 if spec.halves > 1 and name == "K" else 0
    return f"{name} = {name}.repeat_interleave(heads // kv_heads, {axis})\n" if spec.repeats > 1 else ""


def _formula(spec: Spec, symbols: Symbols) -> str:
    (q, k), (head, ratio) = (symbols["q"], symbols["k"]), shared_head(spec)
    return f"s = {q} {k}^\\top,\\quad s_{{hij}} = \\sum_d {q}_{{hid}}\\, {k}_{{{head},jd}}{ratio}"


OPERATIONS = (
    Operation(
        "scores",
        "scores",
        "b h q k",
        "Dot products of queries and keys",
        "One number per pair of tokens: how well the query of one matches the key of the other.",
        _formula,
        "score[{at}] = {s0}[{h}, {i}] · {s1}[{g}, {j}] = {value}",
        (Source("q", "left", "× transposed"), Source("k", "keys", "=")),
        lambda spec: spec.product("b h q k", "d"),
        lambda values, spec: einsum(values["q"], values["k"], "h q d, h k d -> h q k"),
        plain=r"\mathrm{scores} = {s0}\, {s1}^\top",
        code=lambda spec: f"{repeated('K', spec)}scores = Q @ K.transpose(-2, -1)\n",
    ),
)
