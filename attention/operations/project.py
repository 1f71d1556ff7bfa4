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
    "W_q": "A table that turns a token into what it looks for; a model learns it.",
    "W_k": "A second table: it turns a token into what it can be found by.",
    "W_v": "A third table: it turns a token into what it hands over.",
    "Q": "A row of Q is what its token looks for.",
    "K": "A row of K is what its token can be found by.",
    "V": "A row of V is what its token hands over to those that find it.",
    "q": "The channels of Q are dealt out to the heads: each looks for something of its own.",
    "k": "The channels of K are dealt out likewise.",
    "v": "The channels of V, too: each head hands over a part.",
}
GIVEN = {
    "q": "A row of q is what its token looks for in this head; where it stands is in it already.",
    "k": "A row of k is what its token can be found by in this head.",
    "v": "A row of v is what its token hands over to those that find it.",
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
        f"The map to {words}",
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
        f"{words.capitalize()} of all heads, side by side",
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
        f"{words.capitalize()} of every head, as they came",
        GIVEN[name],
        f"{name}_{{{heads}ij}}",
        applies=lambda spec: name in spec.given and not spec.made_here,
    )


OPERATIONS = tuple(make(name) for make in (_map, _product, _heads, _input) for name in "qkv")
