"""Projections: the tokens, the maps W_q, W_k and W_v, and queries, keys and values, split into heads.

A source that has no tokens and projections gives queries, keys and values as they came.
"""

from __future__ import annotations

from einops import rearrange

from attention.operations.operation import Operation, Source, Spec

ROLES = {  # of queries, keys and values: sequence, axes in heads, words
    "q": ("x", ("h", "q", "d"), "queries"),
    "k": ("y", ("g", "k", "d"), "keys"),
    "v": ("y", ("g", "k", "e"), "values"),
}
LESSONS = {
    "W_q": "W_q turns each token into a query: what the token searches for. Models learn it.",
    "W_k": "W_k turns each token into a key: what the token is found by.",
    "W_v": "W_v turns each token into a value: the vector it passes on.",
    "Q": "Row i is the query of token i: what it searches for.",
    "K": "Row i is the key of token i: what it is found by.",
    "V": "Row i is the value of token i: what it passes on.",
    "q": "The channels of Q are split between the heads, so each head has its own queries.",
    "k": "The channels of K are split in the same way.",
    "v": "The channels of V are split in the same way: each head passes on a part.",
}
GIVEN = {
    "q": "Row i is the query of token i in this head. It already contains the position.",
    "k": "Row i is the key of token i in this head.",
    "v": "Row i is the value of token i in this head.",
}


def made_here(spec: Spec) -> bool:
    """Queries, keys and values are computed from tokens."""
    return spec.made_here


def _sequence(name: str, spec: Spec) -> str:
    """Returns the sequence that queries, keys or values come from."""
    return ROLES[name][0] if spec.crosses else "x"


def _map(name: str) -> Operation:
    _, (heads, _, width), words = ROLES[name]
    return Operation(
        f"W_{name}",
        name,
        f"c ({heads} {width})",
        f"Projection to {words}",
        LESSONS[f"W_{name}"],
        f"W_{name}",
        applies=made_here,
        kind="parameters",
    )


def _product(name: str) -> Operation:
    _, (heads, axis, width), words = ROLES[name]
    big, axes = name.upper(), f"b {axis} ({heads} {width})"

    def formula(spec, symbols):
        x = _sequence(name, spec)
        return f"{big} = {x} W_{name},\\quad {big}_{{ij}} = \\sum_c {x}_{{ic}} (W_{name})_{{cj}}"

    return Operation(
        big,
        name,
        axes,
        f"{words.capitalize()} of all heads",
        LESSONS[big],
        formula,
        f"{{name}}[{{at}}] = {{s0}}[{{i}}] · W_{name}[:, {{j}}] = {{value}}",
        lambda spec: (Source(_sequence(name, spec), "left", "×"), Source(f"W_{name}", "right", "=")),
        lambda spec: spec.product(axes, "c"),
        lambda values, spec: values[_sequence(name, spec)] @ values[f"W_{name}"],
        made_here,
    )


def _heads(name: str) -> Operation:
    _, (heads, axis, width), _ = ROLES[name]

    def formula(spec, symbols):
        size = f"d_{name} = {spec.length(width)}"
        return f"{name}_{{{heads}ij}} = {name.upper()}_{{i,\\,{heads} d_{name} + j}},\\quad {size}"

    return Operation(
        name,
        name,
        f"b {heads} {axis} {width}",
        f"Split into heads: {name}",
        LESSONS[name],
        formula,
        f"{{name}}[{{at}}] = {name.upper()}[{{at0}}] = {{value}}",
        (Source(name.upper(), "split", "="),),
        code=f"{name.upper()} = (x @ W_{name}).view(n, {'heads' if heads == 'h' else 'kv_heads'}, d_head).transpose(0, 1)\n",
        compute=lambda values, spec: rearrange(values[name.upper()], "n (h d) -> h n d", h=spec.sizes[heads]),
        applies=made_here,
        kind="view",
    )


def _input(name: str) -> Operation:
    _, (heads, axis, width), words = ROLES[name]
    return Operation(
        name,
        name,
        f"b {heads} {axis} {width}",
        f"{words.capitalize()} of every head, as given",
        GIVEN[name],
        f"{name}_{{{heads}ij}}",
        applies=lambda spec: name in spec.given and not spec.made_here,
    )


OPERATIONS = tuple(make(name) for make in (_map, _product, _heads, _input) for name in "qkv")
